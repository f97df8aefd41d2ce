import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Encrypted events that could not be decrypted, and their later decryption.
@Suite(.timeLimit(.minutes(10))) struct SealedEventTests: SyncTesting {
    let folder = TemporaryFolder()
    private let me = MemberID("@me:a")

    private func sealed(
        _ number: Int, by sender: MemberID? = nil, level: NotificationLevel = .unread, session: String = "s",
        reason: SealReason = .noKey
    ) -> TimelineEvent {
        var message = message(number, by: sender)
        message.content = Message.Content(sealed: reason)
        message.notificationLevel = level
        message.isEncrypted = true
        message.ciphertext = ciphertext(number, session: session, reason: reason)
        return .message(message)
    }

    private func ciphertext(_ number: Int, session: String = "s", reason: SealReason = .noKey) -> Ciphertext {
        Ciphertext(of: MessageID("$\(number)"), reason: reason, session: session, data: "{}")
    }

    /// A sealed message after its decryption.
    private func read(_ number: Int, by sender: MemberID? = nil, _ change: (inout NewMessage) -> Void = { _ in })
        -> ReadAgain
    {
        var new = message(number, by: sender)
        new.isEncrypted = true
        change(&new)
        return ReadAgain(new.id, as: [.message(new)])
    }

    private func edit(_ id: String, of target: Int, to text: String, isEncrypted: Bool = true) -> MessageChange {
        var change = MessageChange(
            id: id, target: MessageID("$\(target)"), sender: ann, at: Date(timeIntervalSince1970: 1000),
            kind: .edit(Wording(text)))
        change.isEncrypted = isEncrypted
        return change
    }

    private func summary(_ store: ChatStore) async throws -> RoomSummary {
        try #require(try await store.roomSummaries().first)
    }

    private func counts(_ store: ChatStore) async throws -> [Int] {
        let summary = try await summary(store)
        return [summary.unreadCount, summary.mentionCount]
    }

    private func join(_ batch: inout RoomBatch) {
        batch.members = [
            Member(id: me, displayName: "Me", kind: .own), Member(id: ann, displayName: "Ann", kind: .person),
        ]
    }

    @Test func newestSessionsAreThoseOfTheLatestMessagesInAnyRoom() async throws {
        let store = try await open()
        _ = try await apply([event(1)], to: store)
        var other = RoomBatch(id: RoomID("!later:a"), createdAt: Fixtures.date)
        join(&other)
        other.events = [sealed(1, session: "t")]
        _ = try await store.apply(SyncBatch(rooms: [other]))
        _ = try await apply([sealed(2, session: "s")], to: store)
        let newest = try await store.newestSealedSessions(for: [.noKey], limit: 1)
        #expect(newest == [SealedSession(room: room, session: "s")])
        await store.close()
    }

    @Test func aSealedMessageHasItsReasonAndIsFoundByItsSession() async throws {
        let store = try await open()
        let told = try await apply([event(1), sealed(2), sealed(3, session: "t", reason: .damaged)], to: store)
        #expect(told.changed.map(\.seal) == [nil, .noKey, .damaged] && told.changed[1].kind == .sealed)
        #expect(try await store.search(SearchQuery(text: "2")).messages.isEmpty)
        #expect(try await store.search(SearchQuery(sender: ann)).messages.map(\.text) == ["1"])
        #expect(try await summary(store).lastMessage?.isSealed == true)
        #expect(
            try await store.sealedSessions() == [
                SealedSession(room: room, session: "s"), SealedSession(room: room, session: "t"),
            ])
        #expect(try await store.sealedSessions(for: [.noKey]) == [SealedSession(room: room, session: "s")])
        let newest = try await store.newestSealedSessions(for: [.noKey, .damaged], limit: 1)
        #expect(newest == [SealedSession(room: room, session: "t")])
        let session = SealedSession(room: room, session: "s")
        #expect(try await store.sealedEvents(of: session, after: nil, limit: 5) == [ciphertext(2)])
        #expect(try await store.sealedEvents(of: session, after: MessageID("$2"), limit: 5).isEmpty)
        // A batch may be applied twice.
        #expect(try await apply([sealed(2)], to: store).changed.isEmpty)
        await store.close()
    }

    @Test("Sessions whose IDs look the same are two")
    func similarSessions() async throws {
        let store = try await open()
        // The second K is the sign of the unit kelvin, which is canonically equivalent to the letter.
        let sessions = ["K", "\u{212A}"].map { SealedSession(room: room, session: $0) }
        try await apply([event(1), sealed(2, session: "K"), sealed(3, session: "\u{212A}")], to: store)
        #expect(sessions[0] != sessions[1])
        #expect(try await store.sealedSessions(for: [.noKey]) == Set(sessions))
        #expect(try await store.sealedSessions().count == 2)
        await store.close()
    }

    @Test("A message that counted as unread while it was sealed is announced if it turns out to be a mention")
    func mentionAfterUnread() async throws {
        let store = try await open()
        try await apply([event(1), sealed(2), sealed(3)], to: store, join)
        let opened = try await store.open([read(2) { $0.notificationLevel = .mention }, read(3)], in: room)
        #expect(opened.arrived.map(\.message.id.rawValue) == ["$2"] && opened.arrived.map(\.level) == [.mention])
        await store.close()
    }

    @Test func openingKeepsTheRowAndCorrectsTheCounts() async throws {
        let store = try await open()
        try await apply([event(1), sealed(2, level: .none), sealed(3), sealed(4, level: .mention)], to: store, join)
        #expect(try await summary(store).unreadCount == 3)
        let before = try await store.messages(in: room, before: .max, limit: 10).messages
        let file = MediaReference(uri: "encrypted:x", name: "a.png", type: "image/png")
        let opened = try await store.open(
            [
                read(2) { $0.notificationLevel = .mention },
                read(3) {
                    $0.notificationLevel = .none
                    $0.content.attachments = [file]
                    $0.content.mentionsEveryone = true
                }, read(4) { $0.formattedText = "<b>4</b>" },
            ], in: room)
        #expect(opened.changed.map(\.text) == ["2", "3", "4"])
        #expect(opened.changed.map(\.position) == before.dropFirst().map(\.position))
        #expect(opened.changed[1].attachments == [file] && opened.changed[1].mentionsEveryone)
        #expect(opened.changed[2].formattedText == "<b>4</b>")
        #expect(opened.arrived.map(\.message.id.rawValue) == ["$2"], "which had not notified")
        #expect(try await counts(store) == [3, 1])
        #expect(try await store.search(SearchQuery(text: "3")).messages.count == 1)
        // Moving the marker counts again, with the same result.
        _ = try await store.markRead(MessageID("$1"), in: room)
        #expect(try await counts(store) == [2, 1])
        #expect(try await store.open([read(2)], in: room).changed.isEmpty, "it is sealed no more")
        #expect(try await store.sealedSessions().isEmpty)
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test func whatWasReadIsNotUnreadOnceItIsOpened() async throws {
        let store = try await open()
        try await apply([sealed(1), sealed(2)], to: store, join)
        _ = try await store.markRead(MessageID("$2"), in: room)
        _ = try await store.open([read(1) { $0.notificationLevel = .mention }, read(2)], in: room)
        #expect(try await counts(store) == [0, 0])
        await store.close()
    }

    @Test func anotherReasonReplacesTheFormer() async throws {
        let store = try await open()
        try await apply([sealed(1)], to: store)
        let same = try await store.open([ReadAgain(MessageID("$1"), as: [sealed(1)])], in: room)
        #expect(same.changed.isEmpty)
        let other = try await store.open([ReadAgain(MessageID("$1"), as: [sealed(1, reason: .withheld)])], in: room)
        #expect(other.changed.map(\.seal) == [.withheld])
        await store.close()
    }

    @Test func editsWaitForTheMessageTheyChange() async throws {
        let store = try await open()
        try await apply(
            [sealed(1), .change(edit("$e", of: 1, to: "edited")), .silent(MessageID("$f")), .sealed(ciphertext(9))],
            to: store)
        #expect(try await texts(store) == [""])
        var told = try await store.open([read(1)], in: room)
        #expect(told.changed.map(\.text) == ["edited"])
        #expect(try await store.revisions(of: MessageID("$1"), in: room).map(\.text) == ["1"])
        // An edit that was sealed; it has no row.
        var later = edit("$9", of: 1, to: "edited again")
        later.at = Date(timeIntervalSince1970: 2000)
        told = try await store.open(
            [ReadAgain(MessageID("$9"), as: [.silent(MessageID("$9")), .change(later)])], in: room)
        #expect(told.changed.map(\.text) == ["edited again"])
        // Received again, in history.
        try await apply([.silent(MessageID("$9")), .sealed(ciphertext(9))], to: store)
        #expect(try await store.sealedSessions().isEmpty)
        await store.close()
    }

    @Test func aClearEditChangesNoEncryptedMessage() async throws {
        let store = try await open()
        let clear = TimelineEvent.change(edit("$e", of: 1, to: "forged", isEncrypted: false))
        let clearOfLater = TimelineEvent.change(edit("$f", of: 2, to: "forged", isEncrypted: false))
        let ofClear = TimelineEvent.change(edit("$g", of: 3, to: "edited", isEncrypted: false))
        try await apply([clearOfLater, sealed(1), clear, event(3), ofClear], to: store)
        var second = message(2)
        second.isEncrypted = true
        try await apply([.message(second), clearOfLater], to: store)
        _ = try await store.open([read(1)], in: room)
        try await apply([clear], to: store)
        #expect(try await texts(store) == ["1", "edited", "2"])
        await store.close()
    }

    @Test func whatIsNoMessageGoesAndKeepsItsPlaceForReceipts() async throws {
        let store = try await open()
        try await apply([event(1), sealed(2)], to: store) {
            self.join(&$0)
            $0.members.append(Member(id: MemberID("@bob:a"), displayName: "Bob", kind: .person))
            $0.receipts = [
                ReadReceipt(member: MemberID("@bob:a"), message: MessageID("$2"), readAt: Fixtures.date)
            ]
        }
        let told = try await store.open([ReadAgain(MessageID("$2"), as: [.silent(MessageID("$2"))])], in: room)
        #expect(told.removed == [MessageID("$2")])
        #expect(
            told.changed.map(\.id.rawValue) == ["$1"]
                && told.changed[0].readReceipts.map(\.member.rawValue) == ["@bob:a"])
        #expect(try await counts(store) == [1, 0])
        #expect(try await summary(store).lastMessage?.text == "1")
        try await apply([event(2), event(3)], to: store)
        #expect(try await texts(store) == ["1", "3"], "it is known")
        _ = try await store.markRead(MessageID("$3"), in: room)
        #expect(try await summary(store).unreadCount == 0)
        await store.close()
    }

    @Test func aDeletedOneIsForgotten() async throws {
        let store = try await open()
        try await apply([sealed(1), .silent(MessageID("$2")), .sealed(ciphertext(2))], to: store, join)
        func deletion(_ id: String, of target: Int) -> TimelineEvent {
            .change(
                MessageChange(
                    id: id, target: MessageID("$\(target)"), sender: ann, at: Fixtures.date, kind: .deletion))
        }
        let told = try await apply([deletion("$d", of: 1), deletion("$e", of: 2)], to: store)
        #expect(told.changed.map(\.isDeleted) == [true] && told.changed[0].seal == nil)
        #expect(try await store.sealedSessions().isEmpty)
        #expect(try await counts(store) == [0, 0])
        #expect(try await store.open([read(1)], in: room).changed.isEmpty)
        await store.close()
    }

    @Test("What comes after NUL in a decrypted message, or in an edit before its message, is stored")
    func textAfterNUL() async throws {
        let store = try await open()
        try await apply([sealed(1), .change(edit("$e", of: 2, to: "new\0er", isEncrypted: false))], to: store, join)
        let opened = try await store.open([read(1) { $0.text = "one\0two" }], in: room)
        #expect(opened.changed.map(\.text) == ["one\u{FFFD}two"])
        try await apply([event(2)], to: store)
        #expect(try await texts(store) == ["one\u{FFFD}two", "new\u{FFFD}er"])
        await store.close()
    }

    @Test("Messages whose events are lost with damaged pages are requested again, and opened then")
    func repair() async throws {
        let store = try await open()
        let deletion = change("$d", 3, .deletion)
        try await apply([event(1), sealed(2), sealed(3), sealed(4), deletion], to: store, join)
        await store.close()
        let url = folder.path("store")
        let file = url.appendingPathComponent("chat.sqlite")
        let queue = try DatabaseQueue(path: file.path)
        let roots = try await queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT rootpage FROM sqlite_master WHERE name IN ('sealed', 'encryptedMessage')")
        }
        try queue.close()
        #expect(roots.count == 2)
        var bytes = try Data(contentsOf: file)
        for root in roots {
            bytes.replaceSubrange((root - 1) * 4096..<root * 4096, with: Data(repeating: 0xA5, count: 4096))
        }
        try bytes.write(to: file)

        #expect(try ChatStore.repair(at: url).messages == 4)
        let repaired = try await open()
        #expect(try await repaired.unfetchedMessages(in: room, limit: 9).map(\.rawValue) == ["$4", "$2"])
        let found = try await repaired.messages(in: room, before: .max, limit: 9).messages
        #expect(found.map(\.seal) == [nil, .notFetched, nil, .notFetched] && found[2].isDeleted)
        #expect(try await repaired.integrityProblems() == [])
        // The server could edit them if they did not count as encrypted.
        let forged = edit("$e", of: 2, to: "forged", isEncrypted: false)
        try await apply([.change(forged)], to: repaired, join)
        #expect(try await repaired.open([read(2)], in: room).changed.map(\.text) == ["2"])
        await repaired.close()
    }

    @Test func leavingARoomForgetsItsSealedEvents() async throws {
        let store = try await open()
        try await apply([sealed(1)], to: store)
        try await apply([], to: store) { $0.isLeft = true }
        #expect(try await store.sealedSessions().isEmpty)
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }
}
