import ChatCore
import ChatStore

extension LocalBackend {
    /// The delay before the guide starts typing.
    static let guideReactionDelay = Duration.milliseconds(600)

    /// How long the guide types, depending on the length of the text: 0.7 to 2.5 s.
    static func guideTyping(_ text: String) -> Duration {
        .milliseconds(min(700 + 10 * text.count, 2500))
    }

    /// Lets the guide respond to an event, if it is in the room. A single message answers everything that happens
    /// before it is sent, so the guide never replies twice, nor to itself.
    func notifyGuide(in room: RoomID, _ event: GuideConversation.Event) {
        guard var conversation = conversations[room], !isClosed else { return }
        conversation.note(event)
        conversations[room] = conversation
        if conversation.task == nil {
            conversations[room]?.task = Task { await converse(in: room) }
        }
    }

    /// Records in all rooms that the user has tried a topic, which then needs no suggestion.
    func guideSaw(trying topic: GuideTopic.ID) {
        for room in conversations.keys { conversations[room]?.occasion.tried.insert(topic) }
    }

    /// Stops the guide in a room.
    func dismissGuide(from room: RoomID) {
        guard let conversation = conversations.removeValue(forKey: room) else { return }
        conversation.task?.cancel()
        if conversation.isTyping { publish(.typing([]), in: room) }
    }

    /// At startup, announces new topics or answers unanswered messages.
    func welcomeBack(to room: RoomID) async throws {
        conversations[room] = GuideConversation()
        var memory = GuideMemory(encoded: try await store.setting(GuideMemory.setting, of: room))
        let isUnanswered = try await !unanswered(in: room).isEmpty
        // News would look like a reply, so postpone them until a start without a pending one.
        if !isUnanswered, let news = guide.news(&memory) {
            try await sendGuideMessage(news, remembering: memory, in: room)
        }
        if isUnanswered { notifyGuide(in: room, .sent) }
    }

    private func converse(in room: RoomID) async {
        while conversations[room]?.hasNews == true {
            guard await pause(Self.guideReactionDelay) else { return }
            conversations[room]?.hasNews = false
            guard let (text, _) = try? await composeReply(in: room) else { continue }
            setGuideTyping(true, in: room)
            guard await pause(Self.guideTyping(text)) else { return }
            await serialized { await sendReply(in: room) }
        }
        guard !Task.isCancelled else { return }
        conversations[room]?.task = nil
    }

    /// Serialized, so that no message is sent between reading the room and replying.
    private func sendReply(in room: RoomID) async {
        // The guide was removed, or the backend is closing.
        guard !Task.isCancelled else { return }
        conversations[room]?.hasNews = false
        let reply = try? await composeReply(in: room)
        conversations[room]?.occasion = GuideOccasion()
        setGuideTyping(false, in: room)
        guard let (text, memory) = reply else { return }
        // If this fails, for example because the disk is full, the next message or start triggers a reply.
        try? await sendGuideMessage(text, remembering: memory, in: room)
    }

    private func composeReply(in room: RoomID) async throws -> (String, GuideMemory)? {
        var memory = GuideMemory(encoded: try await store.setting(GuideMemory.setting, of: room))
        let texts = try await unanswered(in: room)
        guard var occasion = conversations[room]?.occasion else { return nil }
        occasion.texts = texts
        return guide.reply(to: occasion, &memory).map { ($0, memory) }
    }

    /// The user's messages since the guide's last one, without deleted ones. Derived from the stored messages, so that
    /// a crash does not leave any unanswered.
    private func unanswered(in room: RoomID) async throws -> [String] {
        let recent = try await store.snapshot(of: room, limit: 50)?.page.messages ?? []
        return recent.reversed().prefix { $0.sender != Self.guideID }
            .filter { $0.sender == Self.ownUserID && !$0.isDeleted }
            .reversed().map(\.text)
    }

    private func sendGuideMessage(_ text: String, remembering memory: GuideMemory, in room: RoomID) async throws {
        let new = NewMessage(id: MessageID(makeID()), sender: Self.guideID, text: text, sentAt: now())
        let appended = try await store.append(new, to: room)
        publish(.changed([appended.message]), in: room)
        roomsChanged()
        try await store.set(memory.encoded, for: GuideMemory.setting, of: room)
    }

    private func setGuideTyping(_ isTyping: Bool, in room: RoomID) {
        guard let conversation = conversations[room], conversation.isTyping != isTyping else { return }
        conversations[room]?.isTyping = isTyping
        publish(.typing(isTyping ? [Self.guideID] : []), in: room)
    }

    /// - Returns: `false` if the task was canceled.
    private func pause(_ duration: Duration) async -> Bool {
        do {
            try await clock.sleep(for: duration)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}
