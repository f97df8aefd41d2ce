import ChatCore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import MatrixCrypto
import Synchronization
import Testing

@testable import ChatOutbox
@testable import ChatStore
@testable import MatrixBackend

/// The storage and publication of sync responses.
@Suite(.timeLimit(.minutes(10))) struct SyncWriterTests {
    /// The rooms reported to have a new gap.
    private final class GapRooms: Sendable {
        private let rooms = Mutex<[RoomID]>([])

        var values: [RoomID] { rooms.withLock { $0 } }

        func add(_ room: RoomID) { rooms.withLock { $0.append(room) } }
    }

    private static let setting = "sync"
    private let room = AccountParts.room
    private let ann = MemberID("@ann:example.org")
    private let gapRooms = GapRooms()

    private func writer(
        _ parts: AccountParts, entered: EnteredRooms = EnteredRooms(), status: SyncStatus = SyncStatus(),
        arrivals: ArrivalFeed = ArrivalFeed()
    ) -> SyncWriter {
        SyncWriter(
            context: parts.context, writer: parts.writer, opener: parts.opener, sealed: parts.sealed,
            entered: entered, status: status, arrivals: arrivals
        ) { [gapRooms] room in
            gapRooms.add(room)
        }
    }

    private func update(_ token: String, _ change: (inout RoomUpdate) -> Void) -> SyncUpdate {
        var room = RoomUpdate(id: room)
        change(&room)
        return SyncUpdate(token: token, rooms: [room])
    }

    private func event(_ json: JSONValue) throws -> MatrixEvent { try #require(MatrixEvent(json)) }

    @Test("An update is stored with its token; its members, messages and typing users are published in this order")
    func write() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        let message = try event(Events.text("$2", "Hello", by: "@bob:example.org"))
        try await writer(parts).write(
            update("s2") {
                $0.timeline = [message]
                $0.typing = [AccountParts.own, ann]
            }, as: Self.setting)
        #expect(try await parts.store.setting(Self.setting) == "s2")
        let published = [await updates.next(), await updates.next(), await updates.next()]
        guard case .membersChanged(let members)? = published[0], case .changed(let changed)? = published[1] else {
            Issue.record("\(published)")
            return
        }
        #expect(members.map(\.id.rawValue) == ["@bob:example.org"])
        #expect(changed.map(\.text) == ["Hello"])
        #expect(published[2] == .typing([ann]), "without the user")
        #expect(gapRooms.values.isEmpty)
        await parts.store.close()
    }

    @Test("If an update cannot be stored, neither is its token, so it is requested again")
    func failure() async throws {
        let parts = try await AccountParts.make()
        parts.store.beforeAccess.withLock { $0 = { throw ChatError.storage(reason: "failed on purpose") } }
        let message = try event(Events.text("$2", "Hello"))
        await #expect(throws: ChatError.self) {
            try await writer(parts).write(update("s2") { $0.timeline = [message] }, as: Self.setting)
        }
        parts.store.beforeAccess.withLock { $0 = {} }
        #expect(try await parts.store.setting(Self.setting) == nil)
        #expect(try await parts.store.messages([MessageID("$2")], in: room).isEmpty)
        await parts.store.close()
    }

    @Test("After a new gap an open timeline is reopened, and the gap is reported")
    func gap() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        let message = try event(Events.text("$9", "Later"))
        try await writer(parts).write(
            update("s2") {
                $0.timeline = [message]
                $0.gap = "p9"
            }, as: Self.setting)
        var next = await updates.next()
        if case .membersChanged? = next { next = await updates.next() }
        guard case .opened(let page, _, _)? = next else {
            Issue.record("not opened anew")
            return
        }
        #expect(page.messages.map(\.text) == ["Later"] && page.hasOlder)
        #expect(gapRooms.values == [room])
        await parts.store.close()
    }

    @Test("When the list of ignored users changes, an open timeline starts over; a malformed list changes nothing")
    func ignoredUsers() async throws {
        let parts = try await AccountParts.make()
        let writer = writer(parts)
        let message = try event(Events.text("$2", "Hello", by: "@bob:example.org"))
        try await writer.write(update("s2") { $0.timeline = [message] }, as: Self.setting)
        var updates = await parts.open()
        _ = await updates.next()
        let bob = MemberID("@bob:example.org")
        var change = SyncUpdate(token: "s3")
        change.ignoredUsers = ["ignored_users": ["@bob:example.org": [:], "@me:example.org": [:], "bob": [:]]]
        try await writer.write(change, as: Self.setting)
        guard case .opened(let hiding, _, _)? = await updates.next() else { throw CancellationError() }
        #expect(hiding.messages.map(\.text) == ["$1"])
        for malformed: JSONValue in [["ignored_users": ["@bob:example.org"]], ["ignored_users": .null]] {
            change.ignoredUsers = malformed
            try await writer.write(change, as: Self.setting)
            #expect(parts.context.ignoredUsers == [bob], "not the user, and nobody without a sigil")
        }
        #expect(try await AccountData(from: parts.store).ignoredUsers.contains(bob))
        for lost in ["", "{", #"{"ignored_users":[]}"#] {
            try await parts.store.setSetting(lost, for: IgnoredUsers.setting)
            #expect(try await AccountData(from: parts.store).ignoredUsers.contains(bob), "the messages stay hidden")
        }
        change.ignoredUsers = [:]
        try await writer.write(change, as: Self.setting)
        guard case .opened(let showing, _, _)? = await updates.next() else { throw CancellationError() }
        #expect(showing.messages.map(\.text) == ["$1", "Hello"])
        #expect(try await parts.store.incompleteRooms() == [room])
        await parts.store.close()
    }

    @Test("Neither typing nor an earlier invitation of an ignored user is published")
    func otherSignsOfIgnoredUsers() async throws {
        let parts = try await AccountParts.make()
        let writer = writer(parts)
        var updates = await parts.open()
        _ = await updates.next()
        let bob = MemberID("@bob:example.org")
        var invitation = Invitation(room: RoomID("!other:example.org"), name: nil, receivedAt: Fixtures.date)
        invitation.inviter = bob
        var batch = SyncBatch()
        batch.invitations = [invitation]
        try await parts.writer.write(batch)
        #expect(parts.writer.invitations.value.count == 1)
        var change = update("s2") { $0.typing = [bob, ann] }
        change.ignoredUsers = ["ignored_users": ["@bob:example.org": [:]]]
        try await writer.write(change, as: Self.setting)
        #expect(await updates.next() == .typing([ann]))
        #expect(parts.writer.invitations.value.isEmpty)
        await parts.store.close()
    }

    @Test("Who is ignored while typing stops typing, in a room that the update does not mention")
    func ignoredWhileTyping() async throws {
        let parts = try await AccountParts.make()
        let writer = writer(parts)
        var updates = await parts.open()
        _ = await updates.next()
        let bob = MemberID("@bob:example.org")
        try await writer.write(update("s2") { $0.typing = [bob, ann] }, as: Self.setting)
        #expect(await updates.next() == .typing([bob, ann]))
        var change = SyncUpdate(token: "s3")
        change.ignoredUsers = ["ignored_users": ["@bob:example.org": [:]]]
        try await writer.write(change, as: Self.setting)
        #expect(await updates.next() == .typing([ann]))
        var reopened = await parts.open()
        _ = await reopened.next()
        #expect(await reopened.next() == .typing([ann]))
        await parts.store.close()
    }

    @Test("Encryption is published once")
    func encryption() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        let state = try event(
            Events.event("$e", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: ""))
        let writer = writer(parts)
        for token in ["s2", "s3"] {
            try await writer.write(
                update(token) {
                    $0.state = [state]
                    $0.typing = [ann]
                }, as: Self.setting)
        }
        #expect(await updates.next() == .encrypted)
        #expect(await updates.next() == .typing([ann]))
        #expect(await updates.next() == .typing([ann]))
        await parts.store.close()
    }

    @Test("An own message keeps its written source and replaces its echo")
    func ownMessage() async throws {
        let parts = try await AccountParts.make()
        _ = parts.unsent.update([AccountParts.sent("**New**", transaction: "t")], in: room)
        let message = try event(
            Events.event(
                "$2", "m.room.message", ["msgtype": "m.text", "body": "New"], by: AccountParts.own.rawValue,
                unsigned: ["transaction_id": "t"]))
        var updates = await parts.open()
        _ = await updates.next()
        try await writer(parts).write(update("s2") { $0.timeline = [message] }, as: Self.setting)
        #expect(await updates.next() == .removed([LocalEchoes.id(of: TransactionID("t"))]))
        let stored = try #require(try await parts.store.messages([MessageID("$2")], in: room).first)
        #expect(stored.text == "New" && stored.written?.source == "**New**")
        await parts.store.close()
    }

    @Test("An invitation is published and replaces a room that was left")
    func invitation() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        try await writer(parts).write(update("s2") { $0.membership = .invited }, as: Self.setting)
        #expect(await updates.next() == .closed)
        #expect(parts.writer.invitations.value.map(\.room) == [room])
        #expect(try await !parts.store.hasRoom(room))
        await parts.store.close()
    }

    @Test("A sync that starts over keeps an invitation that its first answer does not include, and when it came")
    func invitationsAfterStartingOver() async throws {
        let parts = try await AccountParts.make()
        let (status, rooms) = (SyncStatus(), ["!known:example.org", "!late:example.org"].map { RoomID($0) })
        let writer = writer(parts, status: status)
        var batch = SyncBatch()
        batch.invitations = (rooms + [RoomID("!gone:example.org")]).map {
            Invitation(room: $0, receivedAt: Date(timeIntervalSince1970: 1))
        }
        try await parts.writer.write(batch)
        func invited(_ room: RoomID) -> RoomUpdate {
            var update = RoomUpdate(id: room)
            update.membership = .invited
            return update
        }
        var first = SyncUpdate(token: "20:1", rooms: [invited(rooms[0])])
        (first.isWhole, first.isCaughtUp) = (true, false)
        try await writer.write(first, as: Self.setting)
        #expect(parts.writer.invitations.value.count == 3)
        try await writer.write(SyncUpdate(token: "120:2", rooms: [invited(rooms[1])]), as: Self.setting)
        let left = parts.writer.invitations.value
        #expect(Set(left.map(\.room)) == Set(rooms))
        #expect(left.allSatisfy { $0.receivedAt == Date(timeIntervalSince1970: 1) })
        await parts.store.close()
    }

    @Test("An invitation to a room that is encrypted says so, even if that event cannot be read otherwise")
    func encryptedInvitation() async throws {
        let parts = try await AccountParts.make()
        try await writer(parts).write(
            update("s2") {
                $0.membership = .invited
                $0.encryption = [.null]
            }, as: Self.setting)
        #expect(parts.writer.invitations.value.map(\.isEncrypted) == [true])
        await parts.store.close()
    }

    @Test(
        "What the server said before the user joined does not remove the room; what a later sync says does",
        arguments: [RoomUpdate.Membership.invited, .left, .joined])
    func lateUpdate(membership: RoomUpdate.Membership) async throws {
        let parts = try await AccountParts.make()
        let status = SyncStatus()
        let entered = EnteredRooms(status: status)
        let writer = writer(parts, entered: entered, status: status)
        // Sliding sync may say it in the state alone.
        let leaving = try event(Events.member(AccountParts.own.rawValue, "Me", "leave"))
        func outside(_ token: String) -> SyncUpdate {
            update(token) {
                $0.membership = membership
                if membership == .joined { $0.state = [leaving] }
            }
        }
        _ = status.begin()
        entered.note(room)
        try await writer.write(outside("s2"), as: Self.setting)
        #expect(try await parts.store.hasRoom(room) && parts.writer.invitations.value.isEmpty)
        #expect(entered.removeDoubtful() == [room] && entered.removeDoubtful().isEmpty)
        // Even if no sync has included the room: the user was removed, and maybe invited again, in the meantime.
        _ = status.begin()
        try await writer.write(outside("s3"), as: Self.setting)
        #expect(try await !parts.store.hasRoom(room))
        #expect(parts.writer.invitations.value.map(\.room) == (membership == .invited ? [room] : []))
        #expect(entered.removeDoubtful().isEmpty)
        await parts.store.close()
    }

    // MARK: Failures

    @Test("If decrypting what has become readable fails, the rest is published, and the next update tries again")
    func failedOpening() async throws {
        let parts = try await AccountParts.make()
        let (status, feed, entered) = (SyncStatus(), ArrivalFeed(), EnteredRooms())
        status.hasCaughtUp = true
        let writer = writer(parts, entered: entered, status: status, arrivals: feed)
        let accesses = Mutex((count: 0, failing: 0))
        parts.store.beforeAccess.withLock {
            $0 = {
                let fails = accesses.withLock { accesses in
                    accesses.count += 1
                    return accesses.count == accesses.failing
                }
                if fails { throw ChatError.storage(reason: "failed on purpose") }
            }
        }
        func message(_ id: String, _ text: String) throws -> MatrixEvent {
            try event(Events.text(id, text, by: "@bob:example.org"))
        }
        let (first, later) = (try message("$2", "First"), try message("$3", "Later"))
        let stream = feed.arrivals()
        try await writer.write(update("s2") { $0.timeline = [first] }, as: Self.setting)

        let session = SessionID(room: ExactText(room.rawValue), session: "session")
        await parts.keys.noteArrived([session])
        entered.insert(room)
        let waiting = Task { await entered.wait(for: room) }
        // The access behind those that the first update needed.
        accesses.withLock { $0.failing = 2 * $0.count + 1 }
        var invited = RoomUpdate(id: RoomID("!other:example.org"))
        invited.membership = .invited
        var second = update("s3") { $0.timeline = [later] }
        second.rooms.append(invited)
        let written = second
        await #expect(throws: ChatError.self) { try await writer.write(written, as: Self.setting) }
        await waiting.value
        #expect(try await parts.store.setting(Self.setting) == "s3")
        #expect(parts.writer.invitations.value.map(\.room) == [invited.id])
        var arrived = await parts.keys.arrivedSessions
        #expect(arrived == [session])
        feed.finish()
        let texts = await stream.reduce(into: [String]()) { $0.append($1.message.text) }
        #expect(texts == ["First", "Later"])

        try await writer.write(update("s4") { _ in }, as: Self.setting)
        arrived = await parts.keys.arrivedSessions
        #expect(arrived.isEmpty)
        await parts.store.close()
    }

    /// Returns an update at once.
    private struct OneUpdate: SyncSource {
        let update: SyncUpdate

        func next(after token: String?, wait: Duration) async throws -> SyncUpdate { update }
        func narrowed(_ token: String, to window: SyncWindow) -> String { token }
    }

    private static func cancelCurrentTask() {
        withUnsafeCurrentTask { task in
            if let task { task.cancel() }
        }
    }

    @Test("An update that has come is stored and published as a whole, even if the sync is restarted meanwhile")
    func canceledLoop() async throws {
        let parts = try await AccountParts.make()
        let writer = writer(parts)
        let source = OneUpdate(update: update("s2") { $0.membership = .invited })
        let step = SyncStep(source: source, token: nil, setting: Self.setting, wait: .zero)
        let loop = Task { try await writer.advance(step) { _ in Self.cancelCurrentTask() } }
        #expect(try await loop.value == .caughtUp)
        #expect(try await parts.store.setting(Self.setting) == "s2")
        #expect(parts.writer.invitations.value.map(\.room) == [room])
        await parts.store.close()
    }

    @Test("Waiting for a joined room ends once a sync includes it")
    func enteredRoom() async throws {
        let parts = try await AccountParts.make()
        let entered = EnteredRooms()
        entered.insert(room)
        let waiting = Task { await entered.wait(for: room) }
        try await writer(parts, entered: entered).write(update("s2") { _ in }, as: Self.setting)
        await waiting.value
        await parts.store.close()
    }
}
