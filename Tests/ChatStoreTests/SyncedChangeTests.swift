import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// Applying sync batches: edits, reactions and deletions.
@Suite(.timeLimit(.minutes(10))) struct SyncedChangeTests: SyncTesting {
    let folder = TemporaryFolder()

    @Test func changesWaitForTheirMessages() async throws {
        let store = try await open()
        try await apply(
            [
                event(9), change("$e2", 5, .edit(Wording("late")), at: 20),
                change("$e1", 5, .edit(Wording("early")), at: 10), change("$r", 5, .reaction("👍")),
                change("$r2", 5, .reaction("🎉")), change("$x", 4, .deletion),
                change("$false", 5, .edit(Wording("false")), by: "@bob:a", at: 30),
            ], gap: "p", to: store)
        try await apply(
            [
                .change(
                    MessageChange(
                        id: "$back", target: MessageID("$r2"), sender: ann, at: Fixtures.date, kind: .deletion))
            ], to: store)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(4), event(5)], next: nil)
        let messages = try await store.messages(in: room, before: .max, limit: 10).messages
        #expect(messages.map(\.text) == ["", "late", "9"] && messages[0].isDeleted)
        #expect(messages[1].reactions == [Reaction(text: "👍", senders: [ann])])
    }

    @Test func changesToKnownMessagesAreReported() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store)
        var told = try await apply(
            [
                change("$e", 1, .edit(Wording("one")), at: 50),
                change("$old", 1, .edit(Wording("older")), at: 40), change("$r", 1, .reaction("👍")),
            ], to: store)
        #expect(told.changed.map(\.text) == ["one"] && told.changed.first?.reactions.count == 1)
        #expect(try await store.reactionID("👍", to: MessageID("$1"), in: room, by: ann) == "$r")
        #expect(try await store.revisions(of: MessageID("$1"), in: room).map(\.text) == ["1", "older"])
        told = try await apply(
            [
                .change(
                    MessageChange(id: "$d", target: MessageID("$r"), sender: ann, at: Fixtures.date, kind: .deletion))
            ],
            to: store)
        #expect(told.changed.first?.reactions.isEmpty == true, "a reaction is taken back by its own identifier")
        told = try await apply([change("$d2", 2, .deletion)], to: store)
        #expect(told.changed.map(\.isDeleted) == [true])
        #expect(try await store.roomSummaries().first?.lastMessage?.text == "one")
    }

    @Test("An edit that the server has accepted counts before the sync brings it, although the local clock is behind")
    func acceptedEdit() async throws {
        let store = try await open()
        func edit(_ id: String, _ text: String, at time: Double) -> MessageChange {
            MessageChange(
                id: id, target: MessageID("$1"), sender: ann, at: Date(timeIntervalSince1970: time),
                kind: .edit(Wording(text)))
        }
        // The identifiers are in the other order: they decide between edits of the same time.
        try await apply([event(1), .change(edit("$c", "first", at: 50))], to: store)
        for (id, text) in [("$b", "second"), ("$a", "third")] {
            #expect(try await store.apply(edit(id, text, at: 10), in: room).changed.map(\.text) == [text])
        }
        // The server's times count, by which that of another device is the latest.
        let synced = [edit("$b", "second", at: 60), edit("$d", "other", at: 62), edit("$a", "third", at: 61)]
        let reported = try await apply(synced.map { .change($0) }, to: store)
        #expect(reported.changed.map(\.text) == ["other"])
        #expect(
            try await store.revisions(of: MessageID("$1"), in: room).map(\.text) == ["1", "first", "second", "third"])
        await store.close()
    }

    /// A user who reacted twice, from two clients, removes one of the reactions.
    @Test func removingOneOfTwoEqualReactionsKeepsTheOther() async throws {
        let store = try await open()
        func redaction(_ id: String) -> TimelineEvent { .redacted(MessageID(id), at: Fixtures.date) }
        func senders() async throws -> [MemberID] {
            try await store.messages([MessageID("$1")], in: room).first?.reactions.first?.senders ?? []
        }
        for order in [["$a", "$b"], ["$b", "$a"]] {
            for redacted in ["$a", "$b"] {
                let folder = TemporaryFolder()
                let store = try await ChatStore.open(in: folder.path("store"))
                let times = ["$a": 1.0, "$b": 2.0]
                let given = order.map { change($0, 1, .reaction("👍"), at: times[$0] ?? 0) }
                try await apply([event(1)] + given, to: store)
                let told = try await apply([redaction(redacted)], to: store)
                let left = redacted == "$a" ? "$b" : "$a"
                #expect(try await store.reactionID("👍", to: MessageID("$1"), in: room, by: ann) == left)
                try await apply([redaction(left)], to: store)
                #expect(try await store.reactionID("👍", to: MessageID("$1"), in: room, by: ann) == nil)
                try await apply(given, to: store)
                #expect(try await store.messages([MessageID("$1")], in: room).first?.reactions == [], "told again")
                _ = told
                await store.close()
            }
        }
        // A redacted copy arrives before its redaction.
        try await apply([event(1), change("$r", 1, .reaction("👍"))], to: store)
        #expect(try await senders() == [ann])
        #expect(
            try await apply([.silent(MessageID("$r")), redaction("$r")], to: store).changed.map(\.id.rawValue) == ["$1"]
        )
        #expect(try await senders() == [])
    }

    /// An edit may turn a text into an image; deleting the edit restores the text.
    @Test func editReplacesTheWholeMessageContent() async throws {
        let store = try await open()
        let file = MediaReference(uri: "mxc://a/b", name: "cat.png", type: "image/png", bytes: 5, loudness: [1, 2])
        func edit(_ id: String, _ text: String, _ kind: Message.Kind, _ files: [MediaReference], at time: Double)
            -> TimelineEvent
        {
            var change = MessageChange(
                id: id, target: MessageID("$1"), sender: ann, at: Date(timeIntervalSince1970: time),
                kind: .edit(Wording(text)))
            change.content = MessageMedia(kind: kind, attachments: files)
            return .change(change)
        }
        func message() async throws -> Message {
            try #require(try await store.messages([MessageID("$1")], in: room).first)
        }
        // An edit waits for its message, and an older edit arrives later.
        try await apply([edit("$c", "A cat", .image, [file], at: 30)], to: store)
        try await apply([event(1), edit("$b", "waves", .emote, [], at: 20)], to: store)
        #expect(try await message().kind == .image)
        #expect(try await message().attachments == [file])
        #expect(try await store.roomSummaries().first?.lastMessage?.text == "A cat")
        try await apply([.redacted(MessageID("$c"), at: Fixtures.date)], to: store)
        #expect(try await message().kind == .emote)
        #expect(try await message().attachments == [])
        // An edit without a kind keeps the current one.
        try await apply([change("$d", 1, .edit(Wording("x")), at: 40)], to: store)
        #expect(try await message().kind == .emote)
        for id in ["$d", "$b"] { try await apply([.redacted(MessageID(id), at: Fixtures.date)], to: store) }
        #expect(try await message().kind == .text)
        #expect(try await message().text == "1")
        #expect(try await store.integrityProblems() == [])
    }

    /// An edit is an event of its own: it may be deleted before or after it arrives, and arrive again.
    @Test func deletingAnEditRestoresThePreviousVersion() async throws {
        let store = try await open()
        func edit(_ id: String, _ text: String, at time: Double) -> TimelineEvent {
            change(id, 1, .edit(Wording(text)), at: time)
        }
        func deletion(of id: String) -> TimelineEvent {
            .change(
                MessageChange(id: "$d\(id)", target: MessageID(id), sender: ann, at: Fixtures.date, kind: .deletion))
        }
        func state() async throws -> [String] {
            let before = try await store.revisions(of: MessageID("$1"), in: room).map(\.text)
            return before + (try await store.messages([MessageID("$1")], in: room).map(\.text))
        }
        try await apply(
            [event(1), edit("$a", "a", at: 10), edit("$b", "b", at: 20), edit("$c", "c", at: 30)], to: store)
        #expect(try await state() == ["1", "a", "b", "c"])
        let told = try await apply([deletion(of: "$c")], to: store)
        #expect(told.changed.map(\.text) == ["b"] && told.changed.first?.editedAt == Date(timeIntervalSince1970: 20))
        try await apply([deletion(of: "$a")], to: store)
        #expect(try await state() == ["1", "b"])
        try await apply([edit("$c", "c", at: 30), edit("$a", "a", at: 10)], to: store)
        #expect(try await state() == ["1", "b"], "what is deleted does not come back")
        // A redacted edit looks like a deleted message.
        let pruned = NewMessage(id: MessageID("$b"), sender: ann, text: "", sentAt: Fixtures.date)
        try await apply([.deleted(pruned), deletion(of: "$e"), edit("$e", "e", at: 40)], to: store)
        #expect(try await state() == ["1"])
        #expect(try await store.messages([MessageID("$1")], in: room).first?.editedAt == nil)
        #expect(try await texts(store) == ["1"])
        #expect(try await store.roomSummaries().first?.lastMessage?.text == "1")
        // For equal timestamps the event ID decides; a corrected timestamp reorders the edits.
        try await apply([edit("$g", "g", at: 50), edit("$f", "f", at: 50), edit("$h", "h", at: 60)], to: store)
        #expect(try await state() == ["1", "f", "g", "h"])
        try await apply([edit("$h", "h", at: 45)], to: store)
        #expect(try await state() == ["1", "h", "f", "g"])
        #expect(try await store.integrityProblems() == [])
    }
}
