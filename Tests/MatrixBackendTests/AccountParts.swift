import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading

@testable import ChatOutbox
@testable import MatrixBackend

/// The objects that the parts of a backend share, over a real store and a server that receives no requests.
struct AccountParts {
    static let own = MemberID("@me:example.org")
    static let room = RoomID("!room:example.org")
    private static let folder = TemporaryFolder()

    let store: ChatStore
    let client: MatrixClient
    let context: AccountContext
    let writer: RoomWriter
    /// Not open.
    let keys: AccountEncryption

    var opener: EventOpener { EventOpener(keys: keys, store: store) }
    var parser: HistoryParser { HistoryParser(opener: opener, context: context, store: store) }
    var sealed: SealedMessages { SealedMessages(keys: keys, parser: parser, writer: writer) }
    var filler: GapFiller { GapFiller(client: client, context: context, writer: writer, parser: parser) }
    var unsent: UnsentMessages { writer.unsent }

    /// Opens a store with one room, whose only message has a gap before it.
    static func make(_ client: MatrixClient = FakeTransport(404).client) async throws -> AccountParts {
        let store = try await ChatStore.open(in: folder.path(UUID().uuidString))
        var batch = batch(events: [message("$1", at: 0)], gap: "p1")
        batch.state = .unencrypted
        batch.members = [Member(id: own, displayName: "Me", kind: .own)]
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        return AccountParts(store: store, client: client)
    }

    private init(store: ChatStore, client: MatrixClient) {
        self.store = store
        self.client = client
        keys = AccountEncryption(
            user: Self.own, client: client, folder: store.folder, clock: ManualClock(), now: { Fixtures.date })
        context = .untranslated(of: Self.own)
        let unsent = UnsentMessages(ownUserID: Self.own, unreadable: "Unreadable")
        writer = RoomWriter(
            ownUserID: Self.own, store: store,
            outbox: Outbox(storage: store, backend: NoServer(), isOnline: false, now: { Fixtures.date }),
            gate: SerialGate(), unsent: unsent, timelines: TimelineFeeds(unsent: unsent),
            rooms: RoomListFeed { unsent.displayed(try await store.roomSummaries(of: $0)) }, invitations: ValueFeed([]),
            ownNames: OwnNames())
    }

    static func batch(events: [TimelineEvent] = [], gap: String? = nil) -> RoomBatch {
        RoomBatch(id: room, name: "Room", createdAt: Fixtures.date, events: events, gap: gap)
    }

    static func message(_ id: String, at seconds: Double, transaction: String? = nil) -> TimelineEvent {
        .message(
            NewMessage(
                id: MessageID(id), sender: transaction == nil ? MemberID("@ann:example.org") : own, text: id,
                sentAt: Fixtures.date.addingTimeInterval(seconds),
                transactionID: transaction.map { TransactionID($0) }))
    }

    static func item(_ transaction: String, _ action: OutboxAction, state: OutboxItem.State = .waiting) -> OutboxItem {
        OutboxItem(
            request: OutboxRequest(
                id: TransactionID(transaction), room: room, action: action, queuedAt: Fixtures.date),
            state: state, isOverdue: false)
    }

    static func sent(_ text: String, transaction: String, state: OutboxItem.State = .waiting) -> OutboxItem {
        item(transaction, .send(WrittenMessage(text)), state: state)
    }

    func leftRooms(entered: EnteredRooms = EnteredRooms()) -> LeftRooms {
        LeftRooms(client: client, context: context, writer: writer, entered: entered)
    }

    /// Opens a stream of a room's timeline.
    func open(_ room: RoomID = AccountParts.room) async -> AsyncStream<TimelineUpdate>.Iterator {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self)
        let timelines = MatrixTimelines(
            writer: writer,
            readMarkers: ReadMarkers(client: client, store: store, ownUserID: MemberID("@me:example.org")),
            unreadMarks: UnreadMarks(client: client, store: store, ownUserID: writer.ownUserID))
        await timelines.open(room, limit: 10, with: continuation)
        return stream.makeAsyncIterator()
    }

    private struct NoServer: OutboxBackend {
        func upload(
            _ file: MediaReference, of request: OutboxRequest, progress: @escaping @Sendable (Double) -> Void
        ) async throws -> String { throw DeliveryError.unreachable }
        func deliver(_ request: OutboxRequest) async throws -> MessageID? { throw DeliveryError.unreachable }
    }
}

extension AccountContext {
    static func untranslated(of own: MemberID) -> AccountContext {
        AccountContext(ownUserID: own, translator: .untranslated, data: AccountData(), now: { Fixtures.date })
    }
}
