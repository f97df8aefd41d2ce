import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Messages with edits that cannot be read.
@Suite(.timeLimit(.minutes(10))) struct SealedEditTests: SyncTesting {
    let folder = TemporaryFolder()

    /// An edit that cannot be read, as it is stored.
    private func ciphertext(
        _ id: String, of target: Int = 1, at time: Int = 1000, by sender: String = "@ann:a",
        reason: SealReason = .noKey
    ) -> Ciphertext {
        Ciphertext(
            of: MessageID(id), reason: reason, session: "s",
            data: #"{"sender": "\#(sender)", "origin_server_ts": \#(time * 1000), "content": {}}"#,
            edits: MessageID("$\(target)"))
    }

    private func events(_ sealed: Ciphertext) -> [TimelineEvent] { [.silent(sealed.event), .sealed(sealed)] }

    /// What each message of the room says of its latest edit.
    private func marks(_ store: ChatStore) async throws -> [SealReason?] {
        try await store.messages(in: room, before: .max, limit: 100).messages.map(\.unreadableEdit)
    }

    private func readAgain(_ id: String, as text: String, at time: Double = 1000) -> ReadAgain {
        ReadAgain(MessageID(id), as: [.silent(MessageID(id)), change(id, 1, .edit(Wording(text)), at: time)])
    }

    @Test("A message is told when an edit of it cannot be read, whichever of the two is stored first")
    func told() async throws {
        let store = try await open()
        var told = try await apply([event(1), event(2)], to: store)
        #expect(told.changed.allSatisfy { $0.unreadableEdit == nil })
        told = try await apply(events(ciphertext("$e")), to: store)
        #expect(told.changed.map(\.id.rawValue) == ["$1"] && told.changed.map(\.unreadableEdit) == [.noKey])
        #expect(try await apply(events(ciphertext("$e")), to: store).changed.isEmpty, "it is known")
        told = try await apply(events(ciphertext("$f", of: 3)), to: store)
        #expect(told.changed.isEmpty, "it edits a message that is not stored")
        told = try await apply([event(3)], to: store)
        #expect(told.changed.map(\.unreadableEdit) == [.noKey])
        told = try await apply([event(4)] + events(ciphertext("$g", of: 4)), to: store)
        #expect(told.changed.map(\.unreadableEdit) == [.noKey])
        #expect(try await marks(store) == [.noKey, nil, .noKey, .noKey])
        await store.close()
    }

    @Test("The mark goes when the edit is read, in place, even if that changes no text")
    func opened() async throws {
        for text in ["edited", "1"] {
            let folder = TemporaryFolder()
            let store = try await ChatStore.open(in: folder.path("store"))
            try await apply([event(1)] + events(ciphertext("$e")), to: store)
            let again = try await store.open(
                [ReadAgain(MessageID("$e"), as: events(ciphertext("$e", reason: .withheld)))], in: room)
            #expect(again.changed.map(\.unreadableEdit) == [.withheld])
            let opened = try await store.open([readAgain("$e", as: text)], in: room)
            #expect(opened.changed.map(\.text) == [text] && opened.changed.map(\.unreadableEdit) == [nil])
            #expect(try await store.open([readAgain("$e", as: text)], in: room).changed.isEmpty)
            await store.close()
        }
    }

    @Test("Only the latest version counts, and only the sender's edits do")
    func irrelevant() async throws {
        let store = try await open()
        let edit = change("$read", 1, .edit(Wording("edited")), at: 1500)
        try await apply([event(1), event(2), .silent(MessageID("$read")), edit], to: store)
        let earlier = try await apply(events(ciphertext("$e", at: 1400)), to: store)
        #expect(earlier.changed.map(\.unreadableEdit) == [nil])
        try await apply(events(ciphertext("$f", of: 2, by: "@bob:a")), to: store)
        #expect(try await marks(store) == [nil, nil])
        try await apply(
            events(ciphertext("$g", at: 1700)) + events(ciphertext("$h", at: 1600, reason: .damaged)), to: store)
        #expect(try await marks(store) == [.noKey, nil])
        await store.close()
    }

    @Test("Any number of edits, also of others and dated in the future, are bounded, and the sender's stay")
    func bounded() async throws {
        let store = try await open()
        try await apply([event(1)] + events(ciphertext("$own", at: 5000, reason: .withheld)), to: store)
        for start in stride(from: 0, to: 400, by: 100) {
            let edits = (start..<start + 100).flatMap {
                events(ciphertext("$e\($0)", at: 6000 + $0, by: $0 % 8 == 0 ? "@ann:a" : "@eve:a"))
            }
            try await apply(edits, to: store)
        }
        func stored(by sender: String) async throws -> Set<String> {
            try await store.read { db in
                try String.fetchSet(
                    db, sql: "SELECT event FROM sealed WHERE json_extract(data, '$.sender') = ?", arguments: [sender])
            }
        }
        #expect(try await marks(store) == [.noKey])
        let own = Set(stride(from: 0, to: 400, by: 8).map { "$e\($0)" })
        #expect(try await stored(by: "@ann:a") == own.union(["$own"]), "all that the sender of the message wrote")
        let others = try await stored(by: "@eve:a")
        #expect(!others.isEmpty && others.count + own.count + 1 <= 200)
        #expect(others.contains("$e399") && !others.contains("$e1"), "the oldest were removed")
        await store.close()
    }

    @Test("The mark goes with an edit that is redacted, and with a message that is deleted or cannot be read")
    func gone() async throws {
        let store = try await open()
        try await apply([event(1), event(2)] + events(ciphertext("$e")) + events(ciphertext("$f", of: 2)), to: store)
        let told = try await apply([change("$x", 2, .deletion), .redacted(MessageID("$e"), at: .now)], to: store)
        #expect(told.changed.map(\.unreadableEdit) == [nil, nil])
        #expect(try await marks(store) == [nil, nil])
        var sealed = message(3)
        sealed.content = Message.Content(sealed: .noKey)
        sealed.ciphertext = Ciphertext(of: MessageID("$3"), reason: .noKey, session: "s", data: "{}")
        try await apply([.message(sealed)] + events(ciphertext("$g", of: 3)), to: store)
        #expect(try await marks(store) == [nil, nil, nil])
        let opened = try await store.open([ReadAgain(MessageID("$3"), as: [event(3)])], in: room)
        #expect(opened.changed.map(\.unreadableEdit) == [.noKey])
        await store.close()
    }
}
