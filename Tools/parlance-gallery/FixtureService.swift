import ChatCore
import Composer
import Foundation

/// A deterministic in-memory service for screenshots and leak checks; sent messages are appended.
actor FixtureService: ChatService {
    private let now: Date
    private var rooms: [RoomSummary]
    private var messages: [RoomID: [Message]]
    private var timelines: [RoomID: [AsyncStream<TimelineUpdate>.Continuation]] = [:]
    private var lists: [AsyncStream<[RoomSummary]>.Continuation] = []
    private var drafts: [RoomID: SavedDraft] = [:]

    static let ownMember = Member(id: MemberID("robin"), displayName: "Robin", kind: .own)
    static let team = RoomID("team")
    /// A thousand messages, many of them unread.
    static let choir = RoomID("choir")
    static let empty = RoomID("empty")
    /// One message for each kind of file.
    static let files = RoomID("files")
    /// Messages of all kinds, alternating.
    static let mixed = RoomID("mixed")
    /// Encrypted: sealed messages, one for each reason, and messages with marks.
    static let sealed = RoomID("sealed")
    /// Only images.
    static let images = RoomID("pictures")
    private let media = FixtureMedia()
    /// An image for the attachment tray.
    nonisolated var coverFile: URL { URL(string: media.photo(0).uri) ?? URL(fileURLWithPath: "/") }

    nonisolated let capabilities: BackendCapabilities

    /// - Parameter isPublished: whether to omit rooms named after what they demonstrate.
    init(now: Date, isPublished: Bool, capabilities: BackendCapabilities) {
        self.now = now
        self.capabilities = capabilities
        rooms = FixtureConversation.rooms(isPublished: isPublished, now: now)
        messages = [
            Self.team: FixtureConversation.messages(in: Self.team, with: media, now: now),
            Self.choir: FixtureConversation.longMessages(in: Self.choir, now: now),
            Self.files: media.fileMessages(in: Self.files, now: now),
            Self.mixed: media.mixed(1000, in: Self.mixed, now: now),
            Self.images: media.images(in: Self.images, now: now),
            Self.sealed: FixtureConversation.sealedMessages(in: Self.sealed, now: now),
        ]
    }

    deinit { media.remove() }

    /// Returns once the calls before this one have been answered.
    func waitForEarlierCalls() {}

    // MARK: Rooms

    nonisolated func isEncrypted(_ room: RoomID) async throws -> Bool { room == Self.sealed }

    nonisolated func roomSummaries() -> AsyncStream<[RoomSummary]> {
        let (stream, continuation) = AsyncStream<[RoomSummary]>.makeStream(bufferingPolicy: .bufferingNewest(1))
        Task { await self.observe(continuation) }
        return stream
    }

    private func observe(_ continuation: AsyncStream<[RoomSummary]>.Continuation) {
        lists.append(continuation)
        continuation.yield(rooms)
    }

    func createRoom(named name: String) async throws -> RoomID {
        let id = RoomID(name)
        rooms.insert(
            RoomSummary(
                room: Room(id: id, name: name, kind: .group), lastMessage: nil, lastActivity: now, unreadCount: 0,
                draftPreview: nil), at: 0)
        publishRooms()
        return id
    }

    /// Adds rooms without messages, for an account with many rooms.
    func addRooms(_ count: Int) {
        rooms += (1...count).map { number in
            RoomSummary(
                room: Room(id: RoomID("room-\(number)"), name: "Room \(number)", kind: .group), lastMessage: nil,
                lastActivity: now.addingTimeInterval(-Double(number) * 60), unreadCount: number % 7 == 0 ? 1 : 0,
                draftPreview: nil)
        }
        publishRooms()
    }

    func renameRoom(_ room: RoomID, to name: String) async throws {
        guard let index = rooms.firstIndex(where: { $0.id == room }) else { throw ChatError.notFound }
        rooms[index].room.name = name
        publishRooms()
    }

    func leaveRoom(_ room: RoomID) async throws {
        rooms.removeAll { $0.id == room }
        publishRooms()
    }

    func removeMember(_ member: MemberID, from room: RoomID) async throws { throw ChatError.notPermitted }

    func members(of room: RoomID) async throws -> RoomMembers {
        RoomMembers(
            entries: FixtureConversation.members.map { RoomMembers.Entry($0) },
            permissions: [.rename, .invite, .encrypt])
    }

    func setMarkedUnread(_ isMarkedUnread: Bool, in room: RoomID) async throws {
        guard let index = rooms.firstIndex(where: { $0.id == room }) else { throw ChatError.notFound }
        rooms[index].isMarkedUnread = isMarkedUnread
        publishRooms()
    }

    func markAllRead(in room: RoomID) async throws {
        guard let index = rooms.firstIndex(where: { $0.id == room }) else { throw ChatError.notFound }
        rooms[index].unreadCount = 0
        rooms[index].mentionCount = 0
        rooms[index].isMarkedUnread = false
        publishRooms()
    }

    private func publishRooms() { lists.forEach { $0.yield(rooms) } }

    // MARK: Timelines

    nonisolated func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        let (stream, continuation) = AsyncStream<TimelineUpdate>.makeStream()
        Task { await self.open(room, continuation, limit) }
        return stream
    }

    private func open(_ room: RoomID, _ continuation: AsyncStream<TimelineUpdate>.Continuation, _ limit: Int) {
        timelines[room, default: []].append(continuation)
        let roomMessages = messages[room] ?? []
        let unread = rooms.first { $0.id == room }?.unreadCount ?? 0
        let read = roomMessages.dropLast(unread).last?.id
        continuation.yield(
            .opened(
                page(roomMessages.count - limit..<roomMessages.count, of: room), members: FixtureConversation.members,
                fullyReadMarker: read)
        )
    }

    private func page(_ range: Range<Int>, of room: RoomID) -> TimelinePage {
        let roomMessages = messages[room] ?? []
        let range = range.clamped(to: 0..<roomMessages.count)
        return TimelinePage(
            messages: Array(roomMessages[range]), hasOlder: range.lowerBound > 0,
            hasNewer: range.upperBound < roomMessages.count)
    }

    private func index(of position: Int64, in room: RoomID) -> Int {
        messages[room]?.firstIndex { $0.position >= position } ?? messages[room]?.count ?? 0
    }

    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        let end = index(of: position, in: room)
        return page(end - limit..<end, of: room)
    }

    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        let start = index(of: position + 1, in: room)
        return page(start..<start + limit, of: room)
    }

    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        let found =
            switch target {
            case .message(let id): messages[room]?.firstIndex { $0.id == id }
            case .date(let date): messages[room]?.firstIndex { $0.sentAt >= date } ?? messages[room]?.indices.last
            }
        guard let found else { throw ChatError.notFound }
        return page(found - limit / 2..<found + limit / 2, of: room)
    }

    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        (messages[room] ?? []).filter { ids.contains($0.id) }
    }

    func scrollPosition(in room: RoomID) async throws -> ScrollPosition? { nil }
    func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws {}

    func markRead(_ message: MessageID, in room: RoomID) async throws {}

    // MARK: Messages

    func send(_ message: WrittenMessage, as transaction: TransactionID, to room: RoomID) async throws -> Message {
        let position = (messages[room]?.last?.position ?? 0) + 1
        let sent = Message(
            id: MessageID(transaction.rawValue), roomID: room, sender: Self.ownMember.id, text: message.text.source,
            sentAt: now, position: position, transactionID: transaction, replyTo: message.reply?.message,
            kind: message.kind, written: message.text, attachments: message.files)
        messages[room, default: []].append(sent)
        drafts[room] = nil
        publish(.changed([sent]), in: room)
        return sent
    }

    func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        for (transaction, message) in messages { _ = try await send(message, as: transaction, to: room) }
        drafts[room] = draft
    }

    func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try change(message, in: room) {
            $0.edit(to: Wording(text.source, written: text), at: self.now)
        }
    }

    func retry(_ transaction: TransactionID?, in room: RoomID) async throws {
        for message in messages[room] ?? [] where message.delivery == .failed {
            try change(message.id, in: room) { $0.delivery = .sending }
        }
    }

    func discard(_ transaction: TransactionID?, in room: RoomID) async throws {
        for message in messages[room] ?? [] where message.pendingChange?.transaction == transaction {
            try change(message.id, in: room) { $0.pendingChange = nil }
        }
    }

    func delete(_ message: MessageID, in room: RoomID) async throws {
        try change(message, in: room) {
            $0.text = ""
            $0.isDeleted = true
        }
    }

    func setTyping(_ isTyping: Bool, in room: RoomID) async {}
    func showTyping(_ members: [MemberID], in room: RoomID) { publish(.typing(members), in: room) }

    func draft(in room: RoomID) async throws -> SavedDraft? { drafts[room] }
    func writingLanguages(in room: RoomID) async throws -> [String]? { nil }
    func saveWritingLanguages(_ languages: [String]?, in room: RoomID) async throws {}
    func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws { drafts[room] = draft }

    private func change(_ message: MessageID, in room: RoomID, _ change: (inout Message) -> Void) throws {
        guard let index = messages[room]?.firstIndex(where: { $0.id == message }), var changed = messages[room]?[index]
        else { throw ChatError.notFound }
        change(&changed)
        messages[room]?[index] = changed
        publish(.changed([changed]), in: room)
    }

    // MARK: Search

    func search(_ query: SearchQuery) async throws -> SearchPage {
        let terms = SearchTerms(query.text)
        let found = messages.values.joined().filter { message in
            terms.matches(message.text) && !terms.isEmpty && query.rooms?.contains(message.roomID) ?? true
                && query.senders?.contains(message.sender) ?? true
        }
        let senders = Dictionary(
            FixtureConversation.members.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let latest = found.sorted { $0.sentAt > $1.sentAt }.prefix(query.limit)
        return SearchPage(messages: Array(latest), senders: senders, next: nil)
    }

    func members(named name: String) async throws -> Set<MemberID> {
        let terms = SearchTerms(name)
        return Set(FixtureConversation.members.filter { terms.matchesWordStarts(of: $0.displayName) }.map(\.id))
    }

    // MARK: Encryption

    private var opened: [RoomID: [Message]] = [:]

    /// Seals all messages of a room. Call this before opening it.
    func seal(_ room: RoomID) {
        opened[room] = messages[room]
        messages[room] = messages[room]?.map { message in
            var message = message
            message.content = Message.Content(sealed: .noKey)
            return message
        }
    }

    /// Opens all sealed messages of a room, as if all keys had arrived. The pause after each chunk stands for
    /// decrypting it.
    func unseal(_ room: RoomID, inChunksOf count: Int) async throws {
        let all = opened.removeValue(forKey: room) ?? []
        messages[room] = all
        for start in stride(from: 0, to: all.count, by: count) {
            publish(.changed(Array(all[start..<min(start + count, all.count)])), in: room)
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func publish(_ update: TimelineUpdate, in room: RoomID) {
        timelines[room]?.forEach { $0.yield(update) }
    }
}
