import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Applying sync batches.
@Suite(.timeLimit(.minutes(5))) struct SyncTests {
    private let room = RoomID("!room")
    private let ann = MemberID("@ann:a")
    private let folder = TemporaryFolder()

    private func open() async throws -> ChatStore { try await ChatStore.open(in: folder.path("store")) }

    private func message(_ number: Int, by sender: MemberID? = nil) -> NewMessage {
        NewMessage(
            id: MessageID("$\(number)"), sender: sender ?? ann, text: "\(number)",
            sentAt: Date(timeIntervalSince1970: Double(number)))
    }

    private func event(_ number: Int) -> TimelineEvent { .message(message(number)) }

    private func change(
        _ id: String, _ target: Int, _ kind: MessageChange.Kind, by sender: String = "@ann:a", at time: Double = 1000
    ) -> TimelineEvent {
        .change(
            MessageChange(
                id: id, target: MessageID("$\(target)"), sender: MemberID(sender),
                at: Date(timeIntervalSince1970: time), kind: kind))
    }

    @discardableResult
    private func apply(
        _ events: [TimelineEvent], gap: String? = nil, to store: ChatStore, _ more: (inout RoomBatch) -> Void = { _ in }
    ) async throws -> RoomChange {
        var batch = RoomBatch(id: room, name: "Room", createdAt: Fixtures.date, events: events, gap: gap)
        more(&batch)
        return try #require(try await store.apply(SyncBatch(rooms: [batch], settings: ["token": "s1"])).first)
    }

    private func texts(_ store: ChatStore) async throws -> [String] {
        try await store.messages(in: room, before: .max, limit: 10_000).messages.map(\.text)
    }

    /// Defense in depth: a room's encryption flag, once set, cannot be cleared.
    @Test func aRoomThatIsEncryptedStaysSo() async throws {
        let store = try await open()
        func encryption() async throws -> RoomState.Encryption { try await store.roomState(of: room).encryption }
        try await apply([], to: store)
        #expect(try await encryption() == .unknown)
        func applyState(_ encryption: RoomState.Encryption) async throws {
            try await apply([], to: store) { batch in
                batch.state = RoomState()
                batch.state?.encryption = encryption
            }
        }
        try await applyState(.off)
        #expect(try await encryption() == .off)
        for later in [RoomState.Encryption.on, .off, .unknown] {
            try await applyState(later)
            #expect(try await encryption() == .on)
        }
        try await store.updateRoomState(of: room) { $0.encryption = .off }
        #expect(try await encryption() == .on)
        await store.close()
    }

    @Test(
        "No statement turns the encryption of a room off",
        arguments: [
            "UPDATE encryptedRoom SET room = 2", "DELETE FROM encryptedRoom", "REPLACE INTO encryptedRoom VALUES (1)",
            "DELETE FROM roomState", "UPDATE roomState SET isUnencrypted = 1",
            "REPLACE INTO roomState (room, isUnencrypted) VALUES (1, 1)",
        ]) func encryptionStaysOn(_ sql: String) async throws
    {
        let store = try await open()
        try await apply([], to: store) { batch in
            batch.state = RoomState()
            batch.state?.encryption = .on
        }
        // An error is as good as no effect.
        try? await store.write { db in try db.execute(sql: sql) }
        #expect(try await store.roomState(of: room).encryption == .on)
        await store.close()
    }

    @Test func leavingARoomForgetsItsEncryption() async throws {
        let store = try await open()
        for isLeft in [false, true, false] {
            try await apply([], to: store) { batch in
                batch.isLeft = isLeft
                batch.state = RoomState()
                batch.state?.encryption = isLeft ? .unknown : .on
            }
        }
        try await apply([], to: store) { $0.isLeft = true }
        try await apply([], to: store)
        #expect(try await store.roomState(of: room).encryption == .unknown)
        await store.close()
    }

    @Test func aRoomThatCannotBeReadIsNotAnUnknownOne() async throws {
        let store = try await open()
        #expect(try await !store.hasRoom(room))
        try await apply([event(1)], to: store)
        #expect(try await store.hasRoom(room))
        try await store.write { db in try db.execute(sql: "ALTER TABLE room RENAME TO elsewhere") }
        await #expect(throws: (any Error).self) { try await store.hasRoom(room) }
        await #expect(throws: (any Error).self) {
            try await store.knownRooms([KnownRoom.Request(room)], ownUserID: ann)
        }
        await store.close()
    }

    @Test func aRoomComesWithItsMembersItsMessagesAndItsToken() async throws {
        let store = try await open()
        let outcome = try await apply([event(1), event(2)], to: store) { batch in
            batch.members = [Member(id: MemberID("@me:a"), displayName: "Me", kind: .own)]
            batch.state = RoomState()
            batch.state?.topic = "About"
        }
        #expect(outcome.isNew && outcome.changed.map(\.text) == ["1", "2"])
        #expect(outcome.members?.map(\.displayName) == ["Me", "@ann:a"], "who says something is there")
        #expect(try await store.setting("token") == "s1")
        #expect(try await store.roomState(of: room).topic == "About")
        let summary = try #require(try await store.roomSummaries().first)
        #expect(summary.room.name == "Room" && summary.unreadCount == 2 && summary.lastMessage?.text == "2")
        let again = try await apply([event(1), event(2)], to: store)
        #expect(!again.isNew && again.changed.isEmpty && again.members == nil, "twice is once")
    }

    @Test func picturesOfMembersAndRoomsAreKeptAndTakenAway() async throws {
        let store = try await open()
        func told(_ uri: String?, hasLeft: Bool = false) async throws -> RoomChange {
            try await apply([], to: store) { batch in
                batch.members = [Member(id: ann, displayName: "Ann", kind: .person, hasLeft: hasLeft, avatar: uri)]
            }
        }
        #expect(try await told("mxc://a/1").members?.map(\.avatar) == ["mxc://a/1"])
        #expect(try await told("mxc://a/1").members == nil, "nothing is another than before")
        #expect(try await told("mxc://a/2").members?.map(\.avatar) == ["mxc://a/2"])
        #expect(try await told(nil, hasLeft: true).members?.map(\.avatar) == ["mxc://a/2"], "old messages keep it")
        #expect(try await store.member(ann, of: room)?.avatar == "mxc://a/2")
        #expect(try await told(nil).members?.map(\.avatar) == [nil])

        try await apply([], to: store) { $0.avatar = "mxc://a/room" }
        #expect(try await store.room(room).avatar == "mxc://a/room")
        try await apply([], to: store)
        #expect(try await store.roomSummaries().map(\.room.avatar) == ["mxc://a/room"])
        try await apply([], to: store) { $0.avatar = .some(nil) }
        #expect(try await store.roomSummaries().map(\.room.avatar) == [nil])
    }

    @Test func aGapIsKeptAndFilledFromItsEnd() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store)
        try await apply([event(8), event(9)], gap: "p8", to: store)
        #expect(try await store.gaps(in: room).map(\.token) == ["p8"])
        try await apply([], gap: "p12", to: store)
        try await apply([event(12)], to: store)
        #expect(try await store.gaps(in: room).map(\.token) == ["p8", "p12"], "one without a message is one too")
        let first = try #require(try await store.gaps(in: room).first)
        let outcome = try await store.fill(first, in: room, with: [event(6), event(7)], next: "p6")
        #expect(outcome?.changed.map(\.text) == ["6", "7"])
        #expect(try await store.fill(first, in: room, with: [event(5)], next: nil) == nil, "it is another by now")
        let rest = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(rest, in: room, with: [event(1), event(2), event(3), event(4), event(5)], next: "p0")
        let last = try #require(try await store.gaps(in: room).first)
        #expect(last.token == "p12", "what is known ends a gap")
        _ = try await store.fill(last, in: room, with: [event(10), event(11)], next: nil)
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == (1...12).map(String.init))
        #expect(try await store.integrityProblems() == [])
    }

    /// Between two limited syncs without messages there is a single gap, with the later token.
    @Test func aGapWithNothingBehindItMovesOn() async throws {
        let store = try await open()
        try await apply([event(1), event(2)], to: store)
        for token in ["p5", "p5", "p9"] { try await apply([], gap: token, to: store) }
        #expect(try await store.gaps(in: room).map(\.token) == ["p9"])
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: (2..<9).map(event), next: "p2")
        #expect(try await store.gaps(in: room).isEmpty)
        try await apply([event(9)], to: store)
        #expect(try await texts(store) == (1...9).map(String.init))
    }

    @Test func whatHasNoMessageComesTwiceAndIsOneGap() async throws {
        let store = try await open()
        try await apply([event(3), event(4)], gap: "p3", to: store)
        for _ in 0..<2 { try await apply([.silent(MessageID("$8"))], gap: "p8", to: store) }
        #expect(try await store.gaps(in: room).map(\.token) == ["p3", "p8"])
        let gap = try #require(try await store.gaps(in: room).last)
        _ = try await store.fill(gap, in: room, with: (1..<8).map(event), next: nil)
        #expect(try await store.gaps(in: room).map(\.token) == ["p3"], "what is older belongs in front")
        try await apply([event(9)], to: store)
        #expect(try await texts(store) == (3...7).map(String.init) + ["9"])
    }

    /// Out-of-order history of earlier versions.
    @Test func historyIsNeverPutBehindWhatIsNewer() async throws {
        let store = try await open()
        try await apply([event(3), event(4)], gap: "p3", to: store)
        try await apply([event(9)], gap: "p9", to: store)
        try await store.write { db in
            try db.execute(
                sql: "INSERT INTO gap (room, position, token) SELECT room, position - 9, 'p6' FROM gap LIMIT 2")
        }
        let gap = try #require(try await store.gaps(in: room).last)
        _ = try await store.fill(gap, in: room, with: (1..<9).map(event), next: nil)
        #expect(try await texts(store) == (3...9).map(String.init))
        let oldest = try #require(try await store.gaps(in: room).first { $0.token == "p3" })
        _ = try await store.fill(oldest, in: room, with: [event(1), event(2)], next: nil)
        #expect(try await texts(store) == (1...9).map(String.init))
    }

    @Test func whatIsToldAgainFillsEachGapWithinIt() async throws {
        let store = try await open()
        try await apply([event(0)], to: store)
        try await apply([event(3)], gap: "p3", to: store)
        try await apply([event(6)], gap: "p6", to: store)
        try await apply((0..<9).map(event), to: store)
        #expect(try await texts(store) == (0..<9).map(String.init))
        #expect(try await store.gaps(in: room).isEmpty)
    }

    /// A chunk splits a gap; paging on to its end, or a chunk that overlaps both ends, closes it.
    @Test func aPieceOfHistoryLiesInAGapUntilItMeetsItsEnds() async throws {
        let store = try await open()
        try await apply([event(0), event(1)], to: store)
        try await apply([event(40), event(41)], gap: "p40", to: store)
        func gap(_ place: Int) async throws -> TimelineGap { try await store.gaps(in: room)[place] }
        let island = TimelineChunk(events: (20..<23).map(event), older: "p20", newer: "n23")
        #expect(try await store.insertChunk(island, in: gap(0), of: room)?.changed.map(\.text) == ["20", "21", "22"])
        #expect(try await texts(store) == ["0", "1", "20", "21", "22", "40", "41"])
        #expect(try await store.gaps(in: room).map(\.token) == ["p20", "p40"])
        #expect(try await store.gaps(in: room).map(\.forward) == [nil, "n23"])
        #expect(try await store.roomSummaries().first?.lastMessage?.text == "41")
        // Page forward from its end up to the known messages.
        let more = TimelineChunk(events: (23..<30).map(event), newer: "n30")
        _ = try await store.insertChunk(more, in: gap(1), of: room, isContiguous: true)
        let rest = TimelineChunk(events: (30..<42).map(event), newer: "n42")
        _ = try await store.insertChunk(rest, in: gap(1), of: room, isContiguous: true)
        #expect(try await store.gaps(in: room).map(\.token) == ["p20"])
        // A chunk that overlaps both ends closes the gap.
        let whole = TimelineChunk(events: (1..<21).map(event), older: "p1", newer: "n21")
        _ = try await store.insertChunk(whole, in: gap(0), of: room)
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == ([0, 1] + Array(2..<42)).map(String.init))
        #expect(try await store.integrityProblems() == [])
    }

    /// With wrong server timestamps a chunk may land in the wrong gap, which must not close for it.
    @Test func aPieceInTheWrongPlaceHidesNothing() async throws {
        let store = try await open()
        try await apply([event(0), event(1)], to: store)
        try await apply([event(20), event(21)], gap: "p20", to: store)
        try await apply([event(40), event(41)], gap: "p40", to: store)
        // The chunk belongs in the first gap.
        let last = try #require(try await store.gaps(in: room).last)
        _ = try await store.insertChunk(
            TimelineChunk(events: [event(10)], older: "p10", newer: "n11"), in: last, of: room)
        #expect(
            try await store.insertChunk(
                TimelineChunk(events: [event(9), event(10)], older: "p9"),
                in: #require(try await store.gaps(in: room).first), of: room) == nil, "it is known elsewhere")
        for end in [40, 30, 20, 10] {
            guard let gap = try await store.gaps(in: room).first(where: { $0.token == "p\(end)" }) else { continue }
            _ = try await store.fill(
                gap, in: room, with: (end - 10..<end).map(event), next: end == 10 ? nil : "p\(end - 10)")
        }
        while let gap = try await store.gaps(in: room).first, let end = Int(gap.token.dropFirst()) {
            _ = try await store.fill(
                gap, in: room, with: (max(0, end - 10)..<end).map(event), next: end <= 10 ? nil : "p\(end - 10)")
        }
        #expect(try await Set(texts(store)) == Set((0..<42).map(String.init)))
        #expect(try await texts(store).count == 42)
    }

    @Test func whatComesTwiceEndsNoGap() async throws {
        let store = try await open()
        try await apply((5..<8).map(event), gap: "p5", to: store)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: (0..<7).map(event), next: nil)
        #expect(try await texts(store) == (0..<8).map(String.init))
        #expect(try await store.gaps(in: room).isEmpty)
    }

    @Test func moreOfWhatIsKnownGoesWhereItWasMissing() async throws {
        let store = try await open()
        try await apply([event(8), event(9)], gap: "p8", to: store)
        try await apply([event(6), event(7), event(8), event(9), event(10)], gap: "p6", to: store)
        #expect(try await texts(store) == (6...10).map(String.init))
        #expect(try await store.gaps(in: room).map(\.token) == ["p6"])
    }

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

    @Test func changesOfWhatIsKnownAreTold() async throws {
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

    /// A user who reacted twice, from two clients, removes one of the reactions.
    @Test func ofTwoReactionsThatAreTheSameOneIsTakenBack() async throws {
        let store = try await open()
        func withdraw(_ id: String) -> TimelineEvent { .withdrawn(MessageID(id), at: Fixtures.date) }
        func senders() async throws -> [MemberID] {
            try await store.messages([MessageID("$1")], in: room).first?.reactions.first?.senders ?? []
        }
        for order in [["$a", "$b"], ["$b", "$a"]] {
            for withdrawn in ["$a", "$b"] {
                let folder = TemporaryFolder()
                let store = try await ChatStore.open(in: folder.path("store"))
                let times = ["$a": 1.0, "$b": 2.0]
                let given = order.map { change($0, 1, .reaction("👍"), at: times[$0] ?? 0) }
                try await apply([event(1)] + given, to: store)
                let told = try await apply([withdraw(withdrawn)], to: store)
                let left = withdrawn == "$a" ? "$b" : "$a"
                #expect(try await store.reactionID("👍", to: MessageID("$1"), in: room, by: ann) == left)
                try await apply([withdraw(left)], to: store)
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
            try await apply([.silent(MessageID("$r")), withdraw("$r")], to: store).changed.map(\.id.rawValue) == ["$1"])
        #expect(try await senders() == [])
    }

    /// An edit may turn a text into an image; deleting the edit restores the text.
    @Test func anEditChangesTheWholeMessage() async throws {
        let store = try await open()
        let file = MediaReference(uri: "mxc://a/b", name: "cat.png", type: "image/png", bytes: 5, loudness: [1, 2])
        func edit(_ id: String, _ text: String, _ kind: Message.Kind, _ files: [MediaReference], at time: Double)
            -> TimelineEvent
        {
            var change = MessageChange(
                id: id, target: MessageID("$1"), sender: ann, at: Date(timeIntervalSince1970: time),
                kind: .edit(Wording(text)))
            change.content = MessageContents(kind: kind, attachments: files)
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
        try await apply([.withdrawn(MessageID("$c"), at: Fixtures.date)], to: store)
        #expect(try await message().kind == .emote)
        #expect(try await message().attachments == [])
        // An edit without a kind keeps the current one.
        try await apply([change("$d", 1, .edit(Wording("x")), at: 40)], to: store)
        #expect(try await message().kind == .emote)
        for id in ["$d", "$b"] { try await apply([.withdrawn(MessageID(id), at: Fixtures.date)], to: store) }
        #expect(try await message().kind == .text)
        #expect(try await message().text == "1")
        #expect(try await store.integrityProblems() == [])
    }

    @Test func whoseNameIsDeletedIsCalledByTheIdentifier() async throws {
        let store = try await open()
        try await apply([], to: store) {
            $0.members = [Member(id: ann, displayName: "Ann", kind: .person, hasLeft: true, avatar: "mxc://a/1")]
            $0.origins = [StateOrigin.Subject(type: "m.room.member", key: "@ann:a"): MessageID("$in")]
        }
        let request = KnownRoom.Request(room, events: [MessageID("$in"), MessageID("$x")])
        let known = try await store.knownRooms([request], ownUserID: ann).rooms[room]
        #expect(known?.origins.map(\.subject.key) == ["@ann:a"])
        let outcome = try await apply([], to: store) { $0.unnamed = [ann, MemberID("@nobody:a")] }
        #expect(outcome.members == [Member(id: ann, displayName: "@ann:a", kind: .person, hasLeft: true)])
        #expect(try await apply([], to: store) { $0.unnamed = [ann] }.members == nil)
    }

    /// An edit is an event of its own: it may be deleted before or after it arrives, and arrive again.
    @Test func anEditThatIsDeletedLeavesTheVersionBefore() async throws {
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

    @Test func whatWasReadElsewhereIsRead() async throws {
        let store = try await open()
        try await apply([event(1), event(2), event(3)], to: store) { $0.fullyReadMarkers = [MessageID("$2")] }
        #expect(try await store.roomSummaries().first?.unreadCount == 1)
        try await apply([event(4)], to: store) { $0.fullyReadMarkers = [MessageID("$1")] }
        #expect(try await store.roomSummaries().first?.unreadCount == 2, "never back")
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$4")] }
        #expect(try await store.roomSummaries().first?.unreadCount == 0)
    }

    /// A read marker may be at a reaction, a state event or an unknown event.
    @Test func whatWasReadIsWhatIsBeforeTheMark() async throws {
        let store = try await open()
        func unread() async throws -> Int? { try await store.roomSummaries().first?.unreadCount }
        try await apply([event(1), event(2), .silent(MessageID("$r")), event(3)], to: store) {
            $0.fullyReadMarkers = [MessageID("$r")]
        }
        #expect(try await unread() == 1)
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$5"), MessageID("$1")] }
        #expect(try await unread() == 1, "it is not known yet")
        try await apply([event(4), .silent(MessageID("$5")), event(6)], to: store)
        #expect(try await unread() == 1)
        #expect(try await store.snapshot(of: room, limit: 5)?.fullyReadMarker == MessageID("$4"))
        // One marker within the gap, one at an event after it.
        try await apply([.silent(MessageID("$11")), event(12)], gap: "p11", to: store) {
            $0.fullyReadMarkers = [MessageID("$8"), MessageID("$11")]
        }
        #expect(try await unread() == 1, "it is before the one and after all that is missing")
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(7), event(8), event(9), event(10)], next: "p7")
        #expect(try await unread() == 1)
    }

    @Test func whatIsUnreadOfAllThatIsMissingIsCountedWithIt() async throws {
        let store = try await open()
        func unread() async throws -> String? {
            try await store.roomSummaries().first.map {
                "\($0.unreadCount)\($0.mayHaveMoreUnread ? "+" : "")"
            }
        }
        try await apply([event(8), event(9)], gap: "p8", to: store)
        #expect(try await unread() == "2+", "nobody knows of a mark")
        #expect(try await store.uncountedRooms(limit: 5) == [room])
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$5")] }
        let gap = try #require(try await store.uncountedGap(in: room))
        _ = try await store.fill(gap, in: room, with: [event(6), event(7)], next: "p6")
        #expect(try await unread() == "4+")
        let next = try #require(try await store.uncountedGap(in: room))
        _ = try await store.fill(next, in: room, with: [event(4), event(5)], next: "p4")
        #expect(try await unread() == "4")
        #expect(try await store.uncountedGap(in: room) == nil, "what is before it is read")
        let oldest = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(oldest, in: room, with: [event(3)], next: nil)
        #expect(try await unread() == "4")
    }

    @Test func aServersCountIsBelievedWhereMessagesAreMissing() async throws {
        let store = try await open()
        func counts() async throws -> [Int] {
            let summary = try #require(try await store.roomSummaries().first)
            #expect(!summary.mayHaveMoreUnread)
            return [summary.unreadCount, summary.mentionCount]
        }
        try await apply([event(1)], to: store) { $0.counted = UnreadCount(messages: 0, mentions: 0) }
        #expect(try await counts() == [0, 0])
        try await apply([event(8), event(9)], gap: "p8", to: store) {
            $0.counted = UnreadCount(messages: 8, mentions: 2)
        }
        #expect(try await counts() == [8, 2])
        #expect(try await store.uncountedRooms(limit: 5).isEmpty)
        try await apply([event(10)], to: store)
        #expect(try await counts() == [9, 2])
        var mention = message(7)
        mention.notificationLevel = .mention
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(gap, in: room, with: [event(6), .message(mention)], next: "p6")
        #expect(try await counts() == [9, 2], "what is fetched is among them")
        try await apply([], to: store) { $0.fullyReadMarkers = [MessageID("$9")] }
        #expect(try await counts() == [1, 0])
        // The marker is in the gap: messages there, and all before it, may be read.
        try await apply([event(11), event(12), event(13)], to: store)
        try await apply([event(20)], gap: "p20", to: store) {
            $0.fullyReadMarkers = [MessageID("$16")]
            $0.counted = UnreadCount(messages: 4, mentions: 0)
        }
        #expect(try await counts() == [4, 0])
        for numbers in [18..<20, 14..<18] {
            let last = try #require(try await store.gaps(in: room).last)
            _ = try await store.fill(
                last, in: room, with: numbers.map(event), next: "p\(numbers.lowerBound)")
            #expect(try await counts() == [4, 0], "what the server says")
        }
    }

    /// A batch without any events has none that the marker could refer to.
    @Test(arguments: ["$4", nil])
    func whatIsMissingBehindAMarkIsUnread(_ mark: String?) async throws {
        let store = try await open()
        func unread() async throws -> Int { try #require(try await store.roomSummaries().first).unreadCount }
        try await apply([event(1)], to: store) { $0.counted = UnreadCount(messages: 1, mentions: 0) }
        try await apply([], gap: "p5", to: store) {
            $0.fullyReadMarkers = mark.map { [MessageID($0)] } ?? []
            $0.counted = UnreadCount(messages: 0, mentions: 0)
        }
        #expect(try await unread() == 0)
        try await apply([], gap: "p7", to: store) { $0.counted = UnreadCount(messages: 2, mentions: 0) }
        #expect(try await unread() == 2, "what is missing since then")
        try await apply([event(7)], to: store) { $0.counted = UnreadCount(messages: 3, mentions: 0) }
        #expect(try await unread() == 3)
        for numbers in [4..<7, 1..<4] {
            let gap = try #require(try await store.gaps(in: room).last)
            _ = try await store.fill(gap, in: room, with: numbers.map(event), next: "p\(numbers.lowerBound)")
            #expect(try await unread() == 3, "what was said before it stays read")
        }
        #expect(try await store.gaps(in: room).isEmpty)
        #expect(try await texts(store) == (1...7).map(String.init))
        try await apply([event(8)], to: store)
        #expect(try await unread() == 4)
        #expect(try await store.integrityProblems() == [])
    }

    @Test(arguments: [nil, UnreadCount(messages: 2, mentions: 0)])
    func whatIsMissingBehindWhatIsNoMessageIsUnread(_ counted: UnreadCount?) async throws {
        let store = try await open()
        func summary() async throws -> RoomSummary { try #require(try await store.roomSummaries().first) }
        try await apply([.silent(MessageID("$1"))], to: store) {
            $0.fullyReadMarkers = [MessageID("$1")]
            $0.counted = counted.map { _ in UnreadCount(messages: 0, mentions: 0) }
        }
        try await apply([], gap: "p4", to: store) { $0.counted = counted }
        #expect(try await summary().mayHaveMoreUnread == (counted == nil))
        #expect(try await summary().unreadCount == counted?.messages ?? 0)
        let gap = try #require(try await store.gaps(in: room).first)
        _ = try await store.fill(
            gap, in: room, with: [.silent(MessageID("$1")), event(2), event(3)], next: "p1")
        #expect(try await summary().unreadCount == 2)
        #expect(try await store.gaps(in: room).isEmpty)
    }

    @Test func whoEntersHasReadWhatWasSaidBefore() async throws {
        let store = try await open()
        let me = MemberID("@me:a")
        let entry = NewMessage(
            id: MessageID("$in"), sender: me, event: RoomEvent(.joined, subject: me), sentAt: Fixtures.date)
        try await apply([event(1), event(2), .message(entry), event(3)], gap: "p1", to: store) {
            $0.members = [Member(id: me, displayName: "Me", kind: .own)]
        }
        let summary = try #require(try await store.roomSummaries().first)
        #expect(summary.unreadCount == 1 && !summary.mayHaveMoreUnread)
    }

    @Test func aRoomThatWasLeftGoesWithAllThatWasUnsent() async throws {
        let store = try await open()
        try await apply([event(1)], to: store)
        try await store.saveDraft(Fixtures.draft("x"), in: room)
        let outcome = try await apply([], to: store) { $0.isLeft = true }
        #expect(outcome.isLeft)
        #expect(try await store.roomSummaries().isEmpty)
        await store.close()
        let again = try await open()
        #expect(try await again.roomSummaries().isEmpty, "nothing brings it back")
    }
}
