import ChatCore
import ChatStore

extension LocalBackend {
    /// Until it begins to type.
    static let guideReactionDelay = Duration.milliseconds(600)

    /// How long it types: by the length of what it says, 0.7 to 2.5 s.
    static func guideTyping(_ text: String) -> Duration {
        .milliseconds(min(700 + 10 * text.count, 2500))
    }

    /// Has the guide of a room, if it is in it, see to what happened. It answers all that happened until it is done
    /// in one message, so that it never answers twice, nor itself.
    func notifyGuide(in room: RoomID, _ event: GuideConversation.Event) {
        guard var conversation = conversations[room], !isClosed else { return }
        conversation.note(event)
        conversations[room] = conversation
        if conversation.task == nil {
            conversations[room]?.task = Task { await converse(in: room) }
        }
    }

    /// Something that needs no invitation any more, in whichever room the guide would give it.
    func guideSaw(trying topic: GuideTopic.ID) {
        for room in conversations.keys { conversations[room]?.occasion.tried.insert(topic) }
    }

    /// The guide stops what it is at and says nothing more in the room.
    func dismissGuide(from room: RoomID) {
        guard let conversation = conversations.removeValue(forKey: room) else { return }
        conversation.task?.cancel()
        if conversation.isTyping { publish(.typing([]), in: room) }
    }

    /// At the start: tells what is new, and answers what was left unanswered.
    func welcomeBack(to room: RoomID) async throws {
        conversations[room] = GuideConversation()
        var memory = GuideMemory(encoded: try await store.setting(GuideMemory.setting, of: room))
        let isUnanswered = try await !unanswered(in: room).isEmpty
        // News would look like the answer: they wait for a start with none due.
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

    /// In turn: nothing is said between the look at the room and the answer.
    private func sendReply(in room: RoomID) async {
        // Cancelled when it was removed or the backend closed.
        guard !Task.isCancelled else { return }
        conversations[room]?.hasNews = false
        let reply = try? await composeReply(in: room)
        conversations[room]?.occasion = GuideOccasion()
        setGuideTyping(false, in: room)
        guard let (text, memory) = reply else { return }
        // A full disk, say: what stays unanswered is answered after the next message or start.
        try? await sendGuideMessage(text, remembering: memory, in: room)
    }

    private func composeReply(in room: RoomID) async throws -> (String, GuideMemory)? {
        var memory = GuideMemory(encoded: try await store.setting(GuideMemory.setting, of: room))
        let texts = try await unanswered(in: room)
        guard var occasion = conversations[room]?.occasion else { return nil }
        occasion.texts = texts
        return guide.reply(to: occasion, &memory).map { ($0, memory) }
    }

    /// What the user said after the guide's last message, and did not delete. The messages themselves tell, so that
    /// nothing is left unanswered by a crash.
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

    /// - Returns: false if the task was cancelled.
    private func pause(_ duration: Duration) async -> Bool {
        do {
            try await clock.sleep(for: duration)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}
