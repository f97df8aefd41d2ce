import ChatCore
import ChatTestSupport
import Foundation
import GRDB
import Testing

@testable import ChatStore

/// Applying sync batches: rooms, their state and their members.
@Suite(.timeLimit(.minutes(10))) struct SyncTests: SyncTesting {
    let folder = TemporaryFolder()

    @Test("A batch reports its messages as stored, with all of its changes to them")
    func reportedMessages() async throws {
        let store = try await open()
        let bo = MemberID("@bo:a")
        // Relations and receipts that come before their messages.
        try await apply([change("$r", 2, .reaction("👍")), change("$e", 3, .edit(Wording("edited")))], to: store) {
            $0.receipts = [ReadReceipt(member: bo, message: MessageID("$4"), readAt: Fixtures.date)]
        }
        var voice = message(5)
        voice.kind = .audio
        voice.attachments = [
            MediaReference(
                uri: "mxc://a/1", name: "voice", type: "audio/ogg", bytes: 7, duration: 3,
                loudness: Array(repeating: 512, count: MediaDescription.maxWaveformSamples))
        ]
        var everyone = message(6)
        everyone.mentionsEveryone = true
        everyone.sentAt = Date(timeIntervalSince1970: 6.000_4)
        let renamed = NewMessage(
            id: MessageID("$7"), sender: ann, event: RoomEvent(.renamed, before: "Ann", after: "Anna"),
            sentAt: Fixtures.date)
        let events = [
            event(1), event(2), event(3), event(4), .message(voice), .message(everyone), .message(renamed),
            .deleted(message(8)), event(9), change("$d", 1, .deletion),
        ]
        let reported = try await apply(events, to: store) {
            $0.receipts = [ReadReceipt(member: bo, message: MessageID("$9"), readAt: Fixtures.date)]
        }
        #expect(reported.changed.map(\.id.rawValue) == (1...9).map { "$\($0)" })
        #expect(reported.changed[0].isDeleted && reported.changed[7].isDeleted)
        #expect(reported.changed[1].reactions.count == 1 && reported.changed[2].text == "edited")
        #expect(reported.changed[8].readReceipts.map(\.member) == [bo])
        await store.close()
    }

    /// Defense in depth: a room's encryption flag, once set, cannot be cleared.
    @Test func encryptionCannotBeTurnedOff() async throws {
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
        // An error is as acceptable as having no effect.
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

    @Test func unreadableRoomIsNotTreatedAsUnknown() async throws {
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

    @Test func roomIsStoredWithMembersMessagesAndToken() async throws {
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

    @Test func avatarsOfMembersAndRoomsAreStoredAndRemoved() async throws {
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

    @Test("Former members are known members") func unknownMembers() async throws {
        let store = try await open()
        let members = ["@ann:a", "@bob:a", "@me:a"].map { id in
            Member(id: MemberID(id), displayName: id, kind: .person, hasLeft: id == "@bob:a")
        }
        try await apply([], to: store) { $0.members = Array(members.prefix(2)) }
        #expect(try await store.unknown(members, of: room) == [members[2]])
        await #expect(throws: ChatError.notFound) { try await store.unknown(members, of: RoomID("!none")) }
    }

    @Test func memberWithRedactedNameIsCalledByMatrixID() async throws {
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

    @Test("Members are read with a room only if it is named after them, or may lose its name")
    func membersOfNamedRooms() async throws {
        let store = try await open()
        try await apply([], to: store) {
            $0.members = [Member(id: ann, displayName: "Ann", kind: .person)]
            $0.state = RoomState()
            $0.state?.name = "Garden"
            $0.origins = [
                StateOrigin.Subject(type: "m.room.name", key: ""): MessageID("$name"),
                StateOrigin.Subject(type: "m.room.topic", key: ""): MessageID("$topic"),
            ]
        }
        func members(_ events: Set<MessageID>) async throws -> [MemberID]? {
            let request = KnownRoom.Request(room, members: .ifNameless, events: events, namingTypes: ["m.room.name"])
            return try await store.knownRooms([request], ownUserID: ann).rooms[room]?.members.map(\.id)
        }
        #expect(try await members([]) == [])
        #expect(try await members([MessageID("$topic"), MessageID("$other")]) == [])
        #expect(try await members([MessageID("$name")]) == [ann])
        try await apply([], to: store) { $0.state = RoomState() }
        #expect(try await members([]) == [ann])
    }

    @Test func leftRoomIsRemovedWithItsUnsentData() async throws {
        let store = try await open()
        try await apply([event(1)], to: store)
        _ = try await store.saveDraft(Fixtures.draft("x"), in: room)
        let outcome = try await apply([], to: store) { $0.isLeft = true }
        #expect(outcome.isLeft)
        #expect(try await store.roomSummaries().isEmpty)
        await store.close()
        let again = try await open()
        #expect(try await again.roomSummaries().isEmpty, "nothing brings it back")
    }
}
