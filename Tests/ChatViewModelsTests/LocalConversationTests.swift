import ChatCore
import ChatStore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import Foundation
import LocalBackend
import Testing
import ToolSupport

/// The view models over the local backend and its store.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LocalConversationTests {
    /// The application without a window, over a temporary folder.
    @MainActor private final class App {
        let folder: TemporaryFolder
        let store: ChatStore
        let backend: LocalBackend
        let coordinator: ConversationCoordinator
        let clock = ManualClock()

        init(in folder: TemporaryFolder = TemporaryFolder()) async throws {
            self.folder = folder
            store = try await ChatStore.open(in: folder.path("store"))
            backend = try await LocalBackend.start(over: store, ownDisplayName: "Robin", clock: ManualClock())
            coordinator = ConversationCoordinator(service: backend, time: Timekeeper(clock))
        }

        func start(opening room: RoomID? = nil) async -> Conversation {
            coordinator.start(opening: room)
            await eventually { [coordinator] in coordinator.conversation != nil }
            return await opened()
        }

        func opened() async -> Conversation {
            let conversation = coordinator.conversation!
            await eventually { conversation.timeline.state.isLoaded && conversation.composer.state.isReady }
            return conversation
        }

        /// Opens the room that has only the user.
        func openNotes() async -> Conversation {
            _ = await start()
            coordinator.rooms.send(.select(coordinator.rooms.state.rows.first { $0.kind == .notes }!.id))
            return await opened()
        }

        /// Simulates closing the window.
        func end() async {
            await coordinator.flushDrafts()
            await kill()
        }

        /// Simulates a killed process: drafts are not flushed.
        func kill() async {
            await backend.close()
            await store.close()
        }
    }

    private func type(_ text: String, in conversation: Conversation) {
        for character in text { conversation.composer.handle(.insert(String(character), origin: .typed)) }
    }

    private func texts(_ conversation: Conversation) -> [String] {
        conversation.timeline.items.compactMap(\.message).map(\.text)
    }

    @Test func sentMessageAppearsInTimelineAndRoomList() async throws {
        let app = try await App()
        let notes = await app.openNotes()
        type("hello", in: notes)
        notes.composer.handle(.send)
        await eventually { [self] in texts(notes) == ["hello"] }
        await eventually {
            app.coordinator.rooms.state.selectedRow?.preview == .message(sender: nil, isOwn: true, text: "hello")
        }
        #expect(try await app.store.draft(in: notes.roomID) == nil)
        await app.end()
    }

    @Test func stateIsRestoredAfterRestart() async throws {
        let app = try await App()
        let notes = await app.openNotes()
        type("sent", in: notes)
        notes.composer.handle(.send)
        type("unsent", in: notes)
        notes.composer.handle(.select(.caret(2)))
        await app.end()
        let again = try await App(in: app.folder)
        let restored = await again.start(opening: notes.roomID)
        #expect(restored.roomID == notes.roomID && texts(restored) == ["sent"])
        #expect(restored.composer.document.text == "unsent")
        #expect(restored.composer.state.composer.selection == .caret(2))
        await again.end()
    }

    @Test func editSurvivesRestart() async throws {
        let app = try await App()
        let notes = await app.openNotes()
        type("first", in: notes)
        notes.composer.handle(.send)
        await eventually { [self] in texts(notes) == ["first"] }
        type("unsent", in: notes)
        notes.timeline.send(.composer(.editLast))
        type("!", in: notes)
        await app.end()
        let again = try await App(in: app.folder)
        let restored = await again.start(opening: notes.roomID)
        #expect(restored.timeline.items.compactMap(\.message).map(\.isBeingEdited) == [true])
        restored.composer.handle(.commitEdit)
        await eventually { [self] in texts(restored) == ["first!"] }
        #expect(restored.composer.document.text == "unsent")
        await again.end()
    }

    @Test func deletingTheEditedMessageEndsTheEdit() async throws {
        let app = try await App()
        let notes = await app.openNotes()
        type("first", in: notes)
        notes.composer.handle(.send)
        await eventually { notes.timeline.lastEditable != nil }
        let id = notes.timeline.lastEditable!.id
        type("unsent", in: notes)
        notes.timeline.send(.composer(.editLast))
        notes.timeline.send(.message(id, .delete))
        await eventually { notes.composer.state.composer.editing == nil }
        #expect(notes.composer.document.text == "unsent")
        await eventually { notes.timeline.items.compactMap(\.message).allSatisfy(\.isDeleted) }
        #expect(app.coordinator.toasts.isEmpty)
        await app.end()
    }

    @Test func roomIsCreatedOpenedRenamedAndLeft() async throws {
        let app = try await App()
        _ = await app.start()
        app.coordinator.rooms.send(.create(name: " Plans "))
        await eventually { app.coordinator.rooms.state.selectedRow?.name == "Plans" }
        let conversation = await app.opened()
        let details = try #require(app.coordinator.dialogs.details(of: conversation.roomID))
        details.start()
        details.send(.rename("Other   plans"))
        await eventually { app.coordinator.rooms.state.selectedRow?.name == "Other plans" }
        await eventually {
            details.state.name == "Other plans" && details.state.entries.map(\.member.kind) == [.own]
        }
        type("unsent", in: conversation)
        app.coordinator.rooms.send(.leave(conversation.roomID))
        await eventually { app.coordinator.conversation == nil && conversation.timeline.state.isClosed }
        await app.coordinator.flushDrafts()
        #expect(app.coordinator.toasts.isEmpty)
        await app.end()
    }

    @Test func guideIsReadAndRemoved() async throws {
        let app = try await App()
        let welcome = await app.start()
        #expect(app.coordinator.rooms.state.selectedRow?.kind == .guide)
        #expect(app.coordinator.rooms.state.unreadTotal == 3)
        welcome.timeline.send(.reading(.attended(true)))
        welcome.timeline.send(.reading(.scrolled(to: nil)))
        app.clock.advance(by: .seconds(1))
        await eventually { app.coordinator.rooms.state.unreadTotal == 0 }
        let details = try #require(app.coordinator.dialogs.details(of: welcome.roomID))
        details.start()
        await eventually { details.state.entries.count == 2 }
        details.send(.remove(LocalBackend.guideID))
        await eventually {
            details.state.entries.map(\.member.kind) == [.own] && welcome.timeline.otherMembers.isEmpty
        }
        #expect(welcome.timeline.items.compactMap(\.message).allSatisfy { $0.senderName == "Guide" })
        await app.end()
    }

    @Test func longRoomIsLoadedPageByPage() async throws {
        let app = try await App()
        let room = try await app.backend.createRoom(named: "Long")
        let count = 60 * 2 + 5
        for number in 1...count {
            try await app.backend.send(
                WrittenMessage("\(number)"), as: TransactionID("t\(number)"), to: room)
        }
        let conversation = await app.start(opening: room)
        while conversation.timeline.state.hasOlder {
            conversation.timeline.send(.pages(.load(.older)))
            await eventually { conversation.timeline.state.loading == nil }
        }
        #expect(texts(conversation) == (1...count).map(String.init))
        await app.end()
    }

    /// Types, sends, flushes and switches rooms at random: sent text is stored once and in order, unsent text is the
    /// draft.
    @Test(arguments: 0..<6) func randomUseLosesAndDuplicatesNothing(seed: Int) async throws {
        let app = try await App()
        var random = SeededGenerator(seed: UInt64(seed))
        var conversation = await app.openNotes()
        let room = conversation.roomID
        let elsewhere = app.coordinator.rooms.state.rows.first { $0.id != room }!.id
        var (sent, text, number) = ([String](), "", 0)
        for _ in 0..<150 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0...4:
                number += 1
                type("\(number) ", in: conversation)
                text += "\(number) "
            case 5...6:
                conversation.composer.handle(.send)
                conversation.composer.handle(.send)
                if !text.isEmpty { sent.append(String(text.dropLast())) }
                text = ""
            case 7: Task { await app.coordinator.flushDrafts() }
            case 8: await Task.yield()
            default:
                app.coordinator.rooms.send(.select(elsewhere))
                app.coordinator.rooms.send(.select(room))
                conversation = app.coordinator.conversation!
            }
        }
        await app.end()
        let again = try await App(in: app.folder)
        let stored = try await again.backend.messages(in: room, before: .max, limit: 1000)
        #expect(stored.messages.map(\.text) == sent)
        #expect(try await again.store.draft(in: room)?.preview ?? "" == text)
        await again.kill()
    }

    // MARK: Warnings

    /// Stores a room with a message that was injected in the clear and is not loaded at first, one by a changed
    /// identity, and replies to both.
    private func storeDoubtfulMessages(in room: RoomID, _ folder: TemporaryFolder) async throws {
        let store = try await ChatStore.open(in: folder.path("store"))
        let events = (1...80).map { number -> TimelineEvent in
            let plain = Fixtures.message(Int64(number), by: Fixtures.other)
            var message = NewMessage(id: plain.id, sender: plain.sender, text: plain.text, sentAt: plain.sentAt)
            switch number {
            case 1: message.trust = .notEncrypted
            case 78: message.trust = .changedIdentity
            case 79: message.replyTo = MessageID("message-1")
            case 80: message.replyTo = MessageID("message-78")
            default: break
            }
            return .message(message)
        }
        let batch = RoomBatch(
            id: room, name: "Plans", createdAt: Fixtures.date, members: [Fixtures.own, Fixtures.other], events: events)
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        await store.close()
    }

    @Test("What the timeline warns of is quoted behind its warning, loaded or not")
    func doubtfulQuotes() async throws {
        let folder = TemporaryFolder()
        let room = RoomID("plans")
        try await storeDoubtfulMessages(in: room, folder)
        let app = try await App(in: folder)
        let conversation = await app.start(opening: room)
        let words = MessageText(.untranslated, time: { _ in "12:00" }, fullDate: { _ in "a date" })
        @MainActor func quotes() -> [String] {
            conversation.timeline.items.compactMap(\.message).compactMap(\.quote).map { words.quote($0).text.source }
        }
        await eventually { quotes().count == 2 && !quotes().contains("Loading…") }
        #expect(quotes() == ["Not encrypted: Message 1", "Identity changed: Message 78"])
        #expect(!texts(conversation).contains("Message 1"), "it is not loaded")
        await app.end()
    }

    @Test("What the timeline warns of is replied to behind its warning, loaded or not, also in a draft without it")
    func doubtfulReplies() async throws {
        let folder = TemporaryFolder()
        let room = RoomID("plans")
        try await storeDoubtfulMessages(in: room, folder)
        let app = try await App(in: folder)
        let conversation = await app.start(opening: room)
        @MainActor func shown() -> String? {
            conversation.composer.state.composer.reply.map { ComposerText(.untranslated).quote($0).source }
        }
        await eventually { conversation.timeline.items.last?.message?.canReply == true }
        conversation.timeline.send(.message(MessageID("message-78"), .reply))
        await eventually { shown() != nil }
        #expect(shown() == "Identity changed: Message 78")
        // As drafts of earlier versions have it.
        for (number, warning) in [(1, "Not encrypted"), (78, "Identity changed")] {
            let target = ReplyTarget(
                messageID: "message-\(number)", sender: "Alex", preview: .text("Message \(number)"))
            conversation.composer.send(.startReply(target))
            await eventually { shown() == "\(warning): Message \(number)" }
        }
        await app.end()
    }

    @Test("The header of an open room shows its members, and its topic once it has one")
    func headers() async throws {
        let app = try await App()
        let conversation = await app.openNotes()
        @MainActor func subtitle() -> String {
            conversation.header(name: "Notes", kind: .notes).subtitle(.untranslated)
        }
        await eventually { subtitle() == "Only you" }
        try await app.backend.setTopic("Tides", of: conversation.roomID)
        await eventually { subtitle() == "Tides" }
        await app.end()
    }
}
