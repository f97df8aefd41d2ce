import ChatCore
import ChatStore

/// Lets the guide answer in each room that it is in.
///
/// A single message answers everything that happens before it is sent, so the guide never replies twice, nor to itself.
actor GuideResponder {
    /// The delay before the guide starts typing.
    static let reactionDelay = Duration.milliseconds(600)

    /// How long the guide types, depending on the length of the text: 0.7 to 2.5 s.
    static func typingTime(of text: String) -> Duration {
        .milliseconds(min(700 + 10 * text.count, 2500))
    }

    private let guide: Guide
    private let gate: SerialGate
    private let writer: TimelineWriter
    private let clock: any Clock<Duration>
    /// The guide's state in each room it is in.
    private(set) var conversations: [RoomID: GuideConversation] = [:]
    private var isClosed = false

    init(_ guide: Guide, gate: SerialGate, writer: TimelineWriter, clock: any Clock<Duration>) {
        self.guide = guide
        self.gate = gate
        self.writer = writer
        self.clock = clock
    }

    private var store: ChatStore { writer.store }

    /// Begins in a room, by announcing new topics or by answering unanswered messages.
    func enter(_ room: RoomID) async throws {
        conversations[room] = GuideConversation()
        var memory = GuideMemory(encoded: try await store.setting(GuideMemory.setting, of: room))
        let isUnanswered = try await !unanswered(in: room).isEmpty
        // News would look like a reply, so postpone them until a start without a pending one.
        if !isUnanswered, let news = guide.news(&memory) { try await send(news, remembering: memory, in: room) }
        if isUnanswered { notify(.sent, in: room) }
    }

    /// Lets the guide respond to an event, if it is in the room.
    func notify(_ event: GuideConversation.Event, in room: RoomID) {
        guard var conversation = conversations[room], !isClosed else { return }
        conversation.note(event)
        if conversation.task == nil { conversation.task = Task { await converse(in: room) } }
        conversations[room] = conversation
    }

    /// Records in all rooms that the user has tried a topic, which then needs no suggestion.
    func noteTrial(of topic: GuideTopic.ID) {
        for room in conversations.keys { conversations[room]?.occasion.tried.insert(topic) }
    }

    /// Stops the guide in a room.
    func leave(_ room: RoomID) {
        guard let conversation = conversations.removeValue(forKey: room) else { return }
        conversation.task?.cancel()
        writer.timelines.setTyping([], in: room)
    }

    /// Stops the guide in all rooms.
    func close() {
        isClosed = true
        for room in conversations.keys { leave(room) }
    }

    private func converse(in room: RoomID) async {
        do {
            while conversations[room]?.hasNews == true {
                try await clock.sleep(for: Self.reactionDelay)
                try Task.checkCancellation()
                conversations[room]?.hasNews = false
                guard let (text, _) = await reply(in: room) else { continue }
                setTyping(true, in: room)
                try await clock.sleep(for: Self.typingTime(of: text))
                // Through the gate, so that no message is sent between reading the room and replying.
                try await gate.run { await sendReply(in: room) }
            }
            try Task.checkCancellation()
            conversations[room]?.task = nil
        } catch {
            // The guide has left the room, or the backend is closing.
        }
    }

    private func sendReply(in room: RoomID) async {
        guard !Task.isCancelled else { return }
        conversations[room]?.hasNews = false
        let reply = await reply(in: room)
        conversations[room]?.occasion = GuideOccasion()
        setTyping(false, in: room)
        guard let (text, memory) = reply else { return }
        // If this fails, for example because the disk is full, the next message or start triggers a reply.
        try? await send(text, remembering: memory, in: room)
    }

    /// Composes a reply to everything that has happened.
    /// - Returns: `nil` if there is nothing to say, or the room cannot be read. The next event tries again.
    private func reply(in room: RoomID) async -> (text: String, memory: GuideMemory)? {
        do {
            var memory = GuideMemory(encoded: try await store.setting(GuideMemory.setting, of: room))
            let texts = try await unanswered(in: room)
            guard var occasion = conversations[room]?.occasion else { return nil }
            occasion.texts = texts
            return guide.reply(to: occasion, &memory).map { ($0, memory) }
        } catch {
            return nil
        }
    }

    /// The user's messages since the guide's last one, without deleted ones. Derived from the stored messages, so that
    /// a crash does not leave any unanswered.
    private func unanswered(in room: RoomID) async throws -> [String] {
        let recent = try await store.snapshot(of: room, limit: 50)?.page.messages ?? []
        return recent.reversed().prefix { $0.sender != LocalBackend.guideID }
            .filter { $0.sender == LocalBackend.ownUserID && !$0.isDeleted }
            .reversed().map(\.text)
    }

    private func send(_ text: String, remembering memory: GuideMemory, in room: RoomID) async throws {
        try await writer.append(text, by: LocalBackend.guideID, to: room)
        try await store.set(memory.encoded(), for: GuideMemory.setting, of: room)
    }

    private func setTyping(_ isTyping: Bool, in room: RoomID) {
        guard conversations[room] != nil else { return }
        writer.timelines.setTyping(isTyping ? [LocalBackend.guideID] : [], in: room)
    }
}
