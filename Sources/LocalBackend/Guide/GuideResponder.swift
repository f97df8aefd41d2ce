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

    private let guide: @Sendable () async -> Guide
    private let gate: SerialGate
    private let writer: TimelineWriter
    private let clock: any Clock<Duration>
    /// The guide's state in each room it is in.
    private(set) var conversations: [RoomID: GuideConversation] = [:]
    private var isClosed = false

    /// - Parameter guide: makes the guide, whose texts name the keys as they are set now.
    init(
        _ guide: @escaping @Sendable () async -> Guide, gate: SerialGate, writer: TimelineWriter,
        clock: any Clock<Duration>
    ) {
        self.guide = guide
        self.gate = gate
        self.writer = writer
        self.clock = clock
    }

    private var store: ChatStore { writer.store }

    /// Starts in a room, by announcing new topics or by answering unanswered messages.
    func enter(_ room: RoomID) async throws {
        conversations[room] = GuideConversation()
        var memory = GuideMemory(encoded: try await store.setting(GuideMemory.setting, of: room))
        let isUnanswered = try await !unanswered(in: room, memory).isEmpty
        // An announcement would look like a reply, so postpone it until a start at which no reply is pending.
        // Making a guide asks the main actor for the send key, which a start would have to wait for.
        if !isUnanswered, !memory.hasIntroducedAll, let news = await guide().news(&memory) {
            try await send(Guide.Response(text: news), to: nil, remembering: memory, in: room)
        }
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
                guard let (response, _, _) = await reply(in: room) else { continue }
                if let text = response.text {
                    setTyping(true, in: room)
                    try await clock.sleep(for: Self.typingTime(of: text))
                }
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
        guard let (response, memory, message) = reply else { return }
        // If this fails, for example because the disk is full, the next message or start triggers a reply.
        try? await send(response, to: message, remembering: memory, in: room)
    }

    /// Composes a reply to everything that has happened.
    /// - Returns: `nil` if there is nothing to say, or the room cannot be read. The next event tries again.
    private func reply(in room: RoomID) async -> (response: Guide.Response, memory: GuideMemory, to: MessageID?)? {
        do {
            var memory = GuideMemory(encoded: try await store.setting(GuideMemory.setting, of: room))
            let messages = try await unanswered(in: room, memory)
            memory.answered = messages.last?.position ?? memory.answered
            let guide = await guide()
            guard var occasion = conversations[room]?.occasion else { return nil }
            occasion.texts = messages.map(\.text)
            return guide.respond(to: occasion, &memory).map { ($0, memory, messages.last?.id) }
        } catch {
            return nil
        }
    }

    /// The user's messages since the guide's last answer, without deleted ones. Derived from the stored messages, so that
    /// a crash does not leave any unanswered: what is remembered of an answer is stored after it.
    private func unanswered(in room: RoomID, _ memory: GuideMemory) async throws -> [Message] {
        let recent = try await store.snapshot(of: room, limit: 50)?.page.messages ?? []
        return recent.reversed()
            .prefix { $0.sender != LocalBackend.guideID && $0.position > memory.answered ?? .min }
            .filter { $0.sender == LocalBackend.ownUserID && !$0.isDeleted }
            .reversed()
    }

    /// - Parameter message: the user's last message, for a reply or a reaction.
    private func send(
        _ response: Guide.Response, to message: MessageID?, remembering memory: GuideMemory, in room: RoomID
    ) async throws {
        if let reaction = response.reaction, let message {
            try await writer.react(reaction, by: LocalBackend.guideID, to: message, in: room)
        }
        if let text = response.text {
            try await writer.append(
                text, by: LocalBackend.guideID, replyTo: response.isReply ? message : nil, to: room)
        }
        try await store.set(memory.encoded(), for: GuideMemory.setting, of: room)
    }

    private func setTyping(_ isTyping: Bool, in room: RoomID) {
        guard conversations[room] != nil else { return }
        writer.timelines.setTyping(isTyping ? [LocalBackend.guideID] : [], in: room)
    }
}
