import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Synchronization
import Testing

@testable import ChatOutbox
@testable import ChatStore
@testable import MatrixBackend

/// Sent messages on their way from the outbox to the timeline.
@Suite(.timeLimit(.minutes(10))) struct DeliveryTests {
    private let room = AccountParts.room
    private let transaction = TransactionID("t")

    private func deliveries(_ parts: AccountParts) -> Deliveries {
        Deliveries(
            store: parts.store, gate: parts.writer.gate, unsent: parts.unsent, timelines: parts.writer.timelines,
            rooms: parts.writer.rooms, syncStatus: SyncStatus())
    }

    private func sender(_ parts: AccountParts) -> MessageSender {
        MessageSender(
            ownUserID: AccountParts.own, store: parts.store, outbox: parts.writer.outbox,
            media: MatrixMedia(client: parts.client, store: parts.store, now: { Fixtures.date }),
            encryption: RoomEncryption(
                client: parts.client, store: parts.store, keys: parts.keys, syncStatus: SyncStatus(),
                gate: parts.writer.gate),
            uploads: MediaUploads(
                client: parts.client,
                media: MatrixMedia(client: parts.client, store: parts.store, now: { Fixtures.date })),
            unsent: parts.unsent,
            observer: OutboxObserver(
                outbox: parts.writer.outbox, writer: parts.writer,
                held: HeldMessages(outbox: parts.writer.outbox) { _ in AsyncStream { nil } }),
            rooms: parts.writer.rooms, now: { Fixtures.date })
    }

    @Test("A queued message appears as an echo; the same transaction is queued once")
    func echo() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        let sender = sender(parts)
        let sent = try await sender.send(WrittenMessage("New"), as: transaction, to: room)
        guard case .changed(let changed)? = await updates.next() else {
            Issue.record("not published")
            return
        }
        #expect(changed.map(\.id) == [sent.id] && sent.id == LocalEchoes.id(of: transaction))
        _ = try await sender.send(WrittenMessage("Other"), as: transaction, to: room)
        #expect(try await parts.store.outboxRequests().count == 1)
        try await sender.discard(transaction, in: room)
        #expect(await updates.next() == .removed([sent.id]))
        await parts.store.close()
    }

    @Test("Nothing is queued for an encrypted room if this device can never encrypt")
    func encrypted() async throws {
        let parts = try await AccountParts.make()
        try await parts.store.updateRoomState(of: room) { $0.encryption = .on }
        // A session without a device ID.
        await parts.keys.open(
            device: "", credential: KeyCredential(account: "@me:example.org", place: MemoryCredentialStore()))
        let sender = sender(parts)
        await #expect(throws: ChatError.notPermitted) {
            try await sender.send(WrittenMessage("New"), as: transaction, to: room)
        }
        #expect(try await parts.store.outboxRequests().isEmpty)
        // Reactions are never encrypted.
        try await sender.react("👍", isAdded: true, to: MessageID("$1"), in: room)
        #expect(try await parts.store.outboxRequests().count == 1)
        await parts.store.close()
    }

    @Test("Only own messages can be edited; anyone's can be reacted to, once")
    func targets() async throws {
        let parts = try await AccountParts.make()
        let sender = sender(parts)
        await #expect(throws: ChatError.notPermitted) {
            try await sender.edit(MessageID("$1"), in: room, to: WrittenText("x"))
        }
        await #expect(throws: ChatError.notFound) { try await sender.delete(MessageID("$none"), in: room) }
        try await sender.react("👍", isAdded: false, to: MessageID("$1"), in: room)
        #expect(try await parts.store.outboxRequests().isEmpty, "there is no such reaction")
        try await sender.react("👍", isAdded: true, to: MessageID("$1"), in: room)
        #expect(try await parts.store.outboxRequests().count == 1)
        await parts.store.close()
    }

    @Test("An accepted message stays an echo until it is stored, in either order", arguments: [true, false])
    func delivery(syncFirst: Bool) async throws {
        let parts = try await AccountParts.make()
        _ = parts.unsent.update([AccountParts.sent("New", transaction: "t")], in: room)
        let request = AccountParts.sent("New", transaction: "t").request
        let batch = AccountParts.batch(events: [AccountParts.message("$2", at: 1, transaction: "t")])
        if syncFirst { _ = try await parts.store.apply(SyncBatch(rooms: [batch])) }
        await deliveries(parts).apply(.message(MessageID("$2")), of: request)
        #expect((parts.unsent.newest(in: room) == nil) == syncFirst)
        if !syncFirst { try await parts.writer.write(SyncBatch(rooms: [batch])) }
        #expect(parts.unsent.newest(in: room) == nil)
        await parts.store.close()
    }

    @Test("An accepted change is stored before the sync returns it")
    func acceptedChange() async throws {
        let parts = try await AccountParts.make()
        let change = MessageChange(
            id: "$r", target: MessageID("$1"), sender: AccountParts.own, at: Fixtures.date, kind: .reaction("👍"))
        let request = AccountParts.item("r", .react(.message(MessageID("$1")), text: "👍", isGiven: true)).request
        await deliveries(parts).apply(.change(change), of: request)
        #expect(try await parts.store.messages([MessageID("$1")], in: room).first?.reactions.map(\.text) == ["👍"])
        await parts.store.close()
    }

    @Test("What the server has accepted is stored although the attempt is canceled, as when the program ends")
    func canceledAttempt() async throws {
        let parts = try await AccountParts.make()
        let written = WrittenText("*New*")
        let change = MessageChange(
            id: "$r", target: MessageID("$1"), sender: AccountParts.own, at: Fixtures.date, kind: .reaction("👍"))
        let reaction = AccountParts.item("r", .react(.message(MessageID("$1")), text: "👍", isGiven: true)).request
        let message = AccountParts.item("t", .send(WrittenMessage(written))).request
        let deliveries = deliveries(parts)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await deliveries.apply(.change(change), of: reaction)
            await deliveries.apply(.message(MessageID("$2")), of: message)
        }.value
        #expect(try await parts.store.messages([MessageID("$1")], in: room).first?.reactions.map(\.text) == ["👍"])
        let batch = AccountParts.batch(events: [AccountParts.message("$2", at: 1, transaction: "t")])
        try await parts.writer.write(SyncBatch(rooms: [batch]))
        #expect(try await parts.store.messages([MessageID("$2")], in: room).first?.written == written)
        await parts.store.close()
    }

    @Test("Changes of the connection reach the outbox in order")
    func connection() async throws {
        let parts = try await AccountParts.make()
        let markers = ReadMarkers(client: parts.client, store: parts.store, ownUserID: MemberID("@me:example.org"))
        let marks = UnreadMarks(client: parts.client, store: parts.store, ownUserID: AccountParts.own)
        let state = ConnectionState(
            outbox: parts.writer.outbox, readMarkers: markers, unreadMarks: marks,
            directRooms: DirectRoomList(client: parts.client, context: parts.context, store: parts.store))
        #expect(state.current == .connecting)
        await state.set(.online)
        #expect(await parts.writer.outbox.isOnline)
        #expect(await markers.hasUnsent)
        #expect(await marks.hasUnsent)
        await state.set(.signedOut(isSoft: true))
        #expect(await !parts.writer.outbox.isOnline)
        #expect(await !state.reconnect() && state.current == .signedOut(isSoft: true))
        await state.set(.offline)
        #expect(await state.reconnect() && state.current == .connecting)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await state.setFound(.offline)
        }.value
        #expect(state.current == .connecting, "a loop that was stopped reports nothing")
        let credential = parts.client.credential
        let second = AccessToken("second")
        await state.begin(with: second, in: credential)
        await state.end(Credential.Rejection(token: AccessToken("first"), isSoft: false), of: credential)
        #expect(state.current == .connecting && credential.token == second, "the first session's end comes late")
        await state.end(Credential.Rejection(token: second, isSoft: false), of: credential)
        #expect(state.current == .signedOut(isSoft: false))
        await state.set(.connecting)
        state.finish()
        await state.set(.offline)
        #expect(state.current == .connecting)
        await parts.store.close()
    }

    @Test("Earlier requests of a lost room keep their names as text; members that cannot be read are an error")
    func earlierRequests() async throws {
        let folder = TemporaryFolder()
        try EarlierStore.namesAreMentions.copy(to: folder.path("store"))
        let store = try await ChatStore.open(in: folder.path("store"))
        let requests = try await store.outboxRequests()
        let converted = try await EarlierRequests(store: store).converted(requests)
        #expect(!converted.isEmpty && converted.allSatisfy { !$0.namesAreMentions })
        store.beforeAccess.withLock { $0 = { throw ChatError.storage(reason: "failed on purpose") } }
        await #expect(throws: ChatError.self) { try await EarlierRequests(store: store).converted(requests) }
        store.beforeAccess.withLock { $0 = {} }
        await store.close()
    }
}
