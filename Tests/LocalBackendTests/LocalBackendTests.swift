import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import LocalBackend
import Testing

@Suite(.timeLimit(.minutes(10))) struct LocalBackendTests {
    @Test(arguments: BackendContract.all) func satisfiesTheBackendContract(_ contract: BackendContract) async throws {
        let harness = try await LocalBackendHarness()
        try await contract.run(harness.backend)
        await harness.backend.close()
        #expect(try await harness.store.integrityProblems() == [])
    }

    @Test("A room that is left is gone at once, and then its history, in part and by the next start if need be")
    func leavingARoom() async throws {
        var harness = try await LocalBackendHarness()
        var rooms: [RoomID] = []
        for name in ["One", "Two"] {
            let room = try await harness.backend.createRoom(named: name)
            rooms.append(room)
            let messages = (0..<2500).map { number in
                NewMessage(
                    id: MessageID("\(number)"), sender: LocalBackend.ownUserID, text: "walrus", sentAt: Fixtures.date)
            }
            _ = try await harness.store.ingest(messages, into: room)
        }
        let (left, other) = (rooms[0], rooms[1])
        try await harness.backend.leaveRoom(left)
        let remaining = await harness.summaries().map(\.id)
        #expect(!remaining.contains(left) && remaining.contains(other))
        #expect(try await !harness.store.hasRoom(left))
        // As an end of the program right after leaving.
        let staged = try await harness.store.stageRemoval(of: other)
        #expect(try await harness.store.hasRoom(staged))
        harness = try await harness.restarted()
        while try await !harness.store.stagedRooms().isEmpty { await Task.yield() }
        #expect(try await !harness.store.hasRoom(staged))
        #expect(try await harness.store.search(SearchQuery(text: "walrus", matching: .terms)).messages.isEmpty)
        #expect(try await harness.store.integrityProblems() == [])
        await harness.backend.close()
    }

    @Test func startsWithNotesAndWelcomeRooms() async throws {
        let harness = try await LocalBackendHarness()
        let rooms = await harness.summaries()
        #expect(rooms.map(\.room.name) == ["Welcome", "Notes"])
        #expect(rooms.map(\.room.kind) == [.guide, .notes])
        #expect(rooms[0].unreadCount == 3)
        #expect(rooms[0].lastMessage?.senderName == "Guide")
        #expect(rooms[1].unreadCount == 0)
        let members = try await harness.store.members(of: rooms[0].id)
        #expect(members.map(\.id) == [LocalBackend.ownUserID, LocalBackend.guideID])
        #expect(members.map(\.kind) == [.own, .guide])
        #expect(members.first?.displayName == "Robin")
        let notes = try await harness.store.members(of: rooms[1].id)
        #expect(notes.map(\.id) == [LocalBackend.ownUserID])
    }

    @Test func greetingShowsTheImageOfTheFirstStart() async throws {
        let header: [UInt8] = [
            137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 3, 112, 0, 0, 0, 240,
        ]
        let harness = try await LocalBackendHarness(guideImage: { GuideImage(png: Data(header)) })
        let room = await harness.room(.guide)
        let greeting = try await harness.backend.messages(in: room, before: .max, limit: 5).messages
        #expect(greeting.map(\.attachments.count) == [0, 1, 0])
        let image = try #require(greeting[1].attachments.first)
        #expect(greeting[1].kind == .image)
        #expect(greeting[1].text.hasPrefix("Three things"))
        #expect([image.width, image.height] == [880, 240])
        #expect(image.altText?.isEmpty == false)
        #expect(try Data(contentsOf: try await harness.backend.content(of: image)) == Data(header))
        // A message references the file, so it is not swept.
        #expect(try await harness.store.mediaReferences(scheme: "media:") == [image.uri])
        await harness.backend.close()
        await harness.store.close()
        let again = try await LocalBackendHarness(
            in: harness.folder,
            guideImage: {
                Issue.record("the image is for the first start")
                return nil
            })
        #expect(try await again.backend.messages(in: room, before: .max, limit: 5).messages == greeting)
    }

    @Test func firstRoomsWaitUntilTheyAreChosen() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await LocalBackend.start(
            over: store, ownDisplayName: "Robin", createsFirstRooms: false, clock: ManualClock())
        var summaries = backend.roomSummaries().makeAsyncIterator()
        #expect(await summaries.next() == [])
        #expect(backend.awaitsFirstRooms)
        try await backend.createFirstRooms()
        #expect(await summaries.next()?.map(\.room.name) == ["Welcome", "Notes"])
        try await backend.createFirstRooms()
        #expect(try await store.roomSummaries().count == 2)
        await backend.close()
        let again = try await LocalBackend.start(
            over: store, ownDisplayName: "Robin", createsFirstRooms: false, clock: ManualClock())
        #expect(!again.awaitsFirstRooms)
        await again.close()
        await store.close()
    }

    @Test func leftInitialRoomsAreNotCreatedAgain() async throws {
        let harness = try await LocalBackendHarness()
        for room in await harness.summaries() { try await harness.backend.leaveRoom(room.id) }
        let again = try await harness.restarted()
        #expect(await again.summaries() == [])
    }

    @Test func dataSurvivesRestartAndAdoptsTheNewName() async throws {
        let harness = try await LocalBackendHarness()
        let room = try await harness.backend.createRoom(named: "Kept")
        let sent = try await harness.backend.send(Fixtures.outgoing("text"), to: room)
        try await harness.backend.saveDraft(Fixtures.draft("unsent"), in: room)
        let again = try await harness.restarted(ownName: "Kim")
        #expect(try await again.backend.messages(in: room, before: .max, limit: 5).messages == [sent])
        #expect(try await again.backend.draft(in: room) == Fixtures.draft("unsent"))
        #expect(await again.summaries().first { $0.id == room }?.lastMessage?.senderName == "Kim")
    }

    @Test func readingTheGuidesMessagesClearsTheUnreadCount() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        let greeting = try await harness.backend.messages(in: room, before: .max, limit: 5).messages
        try await harness.backend.markRead(greeting[1].id, in: room)
        #expect(await harness.summaries().first { $0.id == room }?.unreadCount == 1)
        try await harness.backend.markRead(greeting[2].id, in: room)
        #expect(await harness.summaries().first { $0.id == room }?.unreadCount == 0)
    }

    @Test func rejectsEditingOthersMessagesAndRemovingTheUser() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        let greeting = try await harness.backend.messages(in: room, before: .max, limit: 5).messages[0]
        await #expect(throws: ChatError.notPermitted) {
            try await harness.backend.edit(greeting.id, in: room, text: "mine")
        }
        await #expect(throws: ChatError.notPermitted) { try await harness.backend.delete(greeting.id, in: room) }
        await #expect(throws: ChatError.notPermitted) {
            try await harness.backend.removeMember(LocalBackend.ownUserID, from: room)
        }
    }

    @Test func unchangedEditIsNotReported() async throws {
        let harness = try await LocalBackendHarness()
        let room = try await harness.backend.createRoom(named: "Room")
        let message = try await harness.backend.send(Fixtures.outgoing("same"), to: room)
        var updates = harness.backend.timeline(of: room, limit: 5).makeAsyncIterator()
        _ = await updates.next()
        try await harness.backend.edit(message.id, in: room, text: "same")
        try await harness.backend.edit(message.id, in: room, text: "other")
        guard case .changed(let messages) = await updates.next() else { throw Unexpected() }
        #expect(messages.map(\.text) == ["other"])
    }

    @Test func closingEndsEveryStream() async throws {
        let harness = try await LocalBackendHarness()
        var summaries = harness.backend.roomSummaries().makeAsyncIterator()
        var updates = harness.backend.timeline(of: await harness.room(.notes), limit: 5).makeAsyncIterator()
        _ = await updates.next()
        _ = await summaries.next()
        await harness.backend.close()
        #expect(await updates.next() == nil)
        #expect(await summaries.next { _ in false } == nil)
        var late = harness.backend.timeline(of: RoomID("any"), limit: 5).makeAsyncIterator()
        #expect(await late.next() == nil)
    }

    struct Unexpected: Error {}
}
