import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Edits that mention the user make their message a mention. Other edits count and notify nothing.
@Suite(.timeLimit(.minutes(10))) struct EditMentionTests: SyncTesting {
    let folder = TemporaryFolder()
    private let me = MemberID("@me:a")

    private func edit(
        _ id: String, of target: Int, isMention: Bool = true, by sender: MemberID? = nil, at time: Double = 1000,
        isEncrypted: Bool = false
    ) -> TimelineEvent {
        var change = MessageChange(
            id: id, target: MessageID("$\(target)"), sender: sender ?? ann, at: Date(timeIntervalSince1970: time),
            kind: .edit(Wording("words of \(id)")))
        (change.isMention, change.isEncrypted) = (isMention, isEncrypted)
        return .change(change)
    }

    private func ciphertext(_ number: Int) -> Ciphertext {
        Ciphertext(of: MessageID("$\(number)"), reason: .noKey, session: "s", data: "{}")
    }

    private func sealed(_ number: Int) -> TimelineEvent {
        var message = message(number)
        message.content = Message.Content(sealed: .noKey)
        message.isEncrypted = true
        message.ciphertext = ciphertext(number)
        return .message(message)
    }

    private func counts(_ store: ChatStore) async throws -> [Int] {
        let summary = try #require(try await store.roomSummaries().first)
        return [summary.unreadCount, summary.mentionCount]
    }

    private func join(_ batch: inout RoomBatch) {
        batch.members = [
            Member(id: me, displayName: "Me", kind: .own), Member(id: ann, displayName: "Ann", kind: .person),
        ]
    }

    @Test("An edit that mentions the user makes an unread message a mention, once")
    func unread() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store, join)
        #expect(try await counts(store) == [2, 0])
        let first = try await apply([edit("$e", of: 2)], to: store)
        #expect(first.arrived.map(\.message.text) == ["words of $e"] && first.arrived.map(\.level) == [.mention])
        #expect(first.arrived.map(\.wasRead) == [false])
        #expect(try await counts(store) == [2, 1])
        for again in [edit("$e", of: 2), edit("$f", of: 2, at: 1001), edit("$g", of: 2, isMention: false, at: 1002)] {
            #expect(try await apply([again], to: store).arrived.isEmpty)
            #expect(try await counts(store) == [2, 1])
        }
        // Moving the marker counts again, with the same result.
        _ = try await store.markRead(MessageID("$1"), in: room)
        #expect(try await counts(store) == [1, 1])
        _ = try await store.markRead(MessageID("$2"), in: room)
        #expect(try await counts(store) == [0, 0])
        #expect(try await store.integrityProblems() == [])
        await store.close()
    }

    @Test("An edit that mentions nobody neither counts nor notifies")
    func withoutMention() async throws {
        let store = try await open()
        try await apply([event(1)], to: store, join)
        let change = try await apply([edit("$e", of: 1, isMention: false)], to: store)
        #expect(change.changed.map(\.text) == ["words of $e"] && change.arrived.isEmpty)
        #expect(try await counts(store) == [1, 0])
        await store.close()
    }

    @Test("A message that did not count counts once an edit mentions the user")
    func silentMessage() async throws {
        let store = try await open()
        var silent = message(1)
        silent.notificationLevel = .none
        try await apply([.message(silent)], to: store, join)
        #expect(try await counts(store) == [0, 0])
        #expect(try await apply([edit("$e", of: 1)], to: store).arrived.map(\.level) == [.mention])
        #expect(try await counts(store) == [1, 1])
        try await apply([change("$d", 1, .deletion)], to: store)
        #expect(try await counts(store) == [0, 0])
        await store.close()
    }

    @Test("A message that was read notifies and stays read; with a read marker, it was seen on another device")
    func read() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store, join)
        _ = try await store.markRead(MessageID("$2"), in: room)
        let change = try await apply([edit("$e", of: 2)], to: store)
        #expect(change.arrived.map(\.message.id.rawValue) == ["$2"])
        #expect(change.arrived.map(\.wasRead) == [true])
        #expect(try await counts(store) == [0, 0])
        #expect(try await store.unread(among: change.arrived).isEmpty, "it is not announced after catching up")
        let marked = try await apply([edit("$f", of: 1)], to: store) { $0.fullyReadMarkers = [MessageID("$2")] }
        #expect(marked.arrived.isEmpty)
        try await apply([event(3)], to: store)
        #expect(try await counts(store) == [1, 0])
        await store.close()
    }

    @Test("Invalid edits mention nobody, and nobody is mentioned in their own messages")
    func invalidEdits() async throws {
        let store = try await open()
        var encrypted = message(2)
        encrypted.isEncrypted = true
        try await apply([event(1), .message(encrypted), .message(message(3, by: me))], to: store, join)
        let invalid = [
            edit("$e", of: 1, by: MemberID("@bob:a")), edit("$f", of: 2), edit("$g", of: 3, by: me),
        ]
        #expect(try await apply(invalid, to: store).arrived.isEmpty)
        #expect(try await counts(store) == [2, 0])
        try await apply([edit("$h", of: 2, isEncrypted: true)], to: store)
        #expect(try await counts(store) == [2, 1])
        await store.close()
    }

    @Test("Edits may come before their message, or in another order")
    func order() async throws {
        let store = try await open()
        try await apply([edit("$e", of: 5), edit("$f", of: 6), event(9)], gap: "p", to: store, join)
        #expect(try await counts(store) == [1, 0])
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(4), event(5)], next: nil)
        #expect(try await counts(store) == [3, 1])
        let arrived = try await apply([event(6)], to: store).arrived
        #expect(arrived.map(\.level) == [.mention] && arrived.map(\.message.text) == ["words of $f"])
        #expect(try await counts(store) == [4, 2])
        // A later edit is known already.
        try await apply([edit("$h", of: 9, isMention: false, at: 20)], to: store)
        #expect(try await apply([edit("$g", of: 9, at: 10)], to: store).arrived.map(\.message.text) == ["words of $h"])
        #expect(try await counts(store) == [4, 3])
        _ = try await store.markRead(MessageID("$4"), in: room)
        #expect(try await counts(store) == [3, 3])
        await store.close()
    }

    @Test("A message that arrives with its edit arrives as a mention")
    func bundled() async throws {
        let store = try await open()
        try await apply([event(1)], to: store, join)
        let arrived = try await apply([event(2), edit("$e", of: 2)], to: store).arrived
        #expect(arrived.map(\.message.text) == ["words of $e"] && arrived.map(\.level) == [.mention])
        #expect(try await counts(store) == [2, 1])
        await store.close()
    }

    @Test("An edit counts once it becomes readable")
    func sealedEdit() async throws {
        let store = try await open()
        try await apply([event(1), .silent(MessageID("$9")), .sealed(ciphertext(9))], to: store, join)
        #expect(try await counts(store) == [1, 0])
        let again = ReadAgain(MessageID("$9"), as: [.silent(MessageID("$9")), edit("$9", of: 1, isEncrypted: true)])
        let opened = try await store.open([again], in: room)
        #expect(opened.arrived.map(\.message.id.rawValue) == ["$1"] && opened.arrived.map(\.level) == [.mention])
        #expect(try await counts(store) == [1, 1])
        #expect(try await store.open([again], in: room).arrived.isEmpty)
        #expect(try await counts(store) == [1, 1])
        await store.close()
    }

    @Test("A message that cannot be read is a mention by an edit that can, before and after it is opened")
    func sealedMessage() async throws {
        let store = try await open()
        try await apply([event(1), sealed(2)], to: store, join)
        let arrived = try await apply([edit("$e", of: 2, isEncrypted: true)], to: store).arrived
        #expect(arrived.map(\.message.kind) == [.sealed] && arrived.map(\.level) == [.mention])
        #expect(try await counts(store) == [2, 1])
        var readable = message(2)
        readable.isEncrypted = true
        let opened = try await store.open([ReadAgain(readable.id, as: [.message(readable)])], in: room)
        #expect(opened.changed.map(\.text) == ["words of $e"])
        #expect(try await counts(store) == [2, 1])
        _ = try await store.markRead(MessageID("$1"), in: room)
        #expect(try await counts(store) == [1, 1])
        await store.close()
    }
}
