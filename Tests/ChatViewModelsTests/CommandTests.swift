import ChatCore
import ChatStore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import LocalBackend
import Testing

/// Slash commands from the composer to the backend.
@MainActor @Suite(.timeLimit(.minutes(10))) struct CommandTests {
    @MainActor private final class App {
        let folder = TemporaryFolder()
        let store: ChatStore
        let backend: LocalBackend
        let coordinator: ConversationCoordinator
        let registry: CommandRegistry

        /// - Parameter completes: whether the commands are offered while the user types.
        init(completes: Bool = false) async throws {
            store = try await ChatStore.open(in: folder.path("store"))
            backend = try await LocalBackend.start(over: store, ownDisplayName: "Robin", clock: ManualClock())
            let registry = CommandRegistry(capabilities: backend.capabilities, translator: .untranslated)
            self.registry = registry
            coordinator = ConversationCoordinator(
                ConversationEnvironment(
                    service: backend, time: Timekeeper(ManualClock()), commands: registry,
                    completion: completes
                        ? ConversationEnvironment.Completion(
                            everyone: nil,
                            sources: [DirectorySource(prefix: "/", directory: CompletionDirectory { registry.index })])
                        : nil))
            coordinator.start(opening: nil)
            await eventually { [coordinator] in coordinator.conversation?.timeline.state.isLoaded ?? false }
            await eventually { [coordinator] in coordinator.conversation?.composer.state.isReady ?? false }
        }

        var composer: ComposerViewModel { coordinator.conversation!.composer }
        var timeline: TimelineViewModel { coordinator.conversation!.timeline }
        var row: RoomListViewModel.Row { coordinator.rooms.state.selectedRow! }

        /// Enters a text and sends it.
        func say(_ text: String) async {
            composer.handle(.insert(text, origin: .dictation))
            composer.handle(.key(KeyChord("Return")))
            await composer.flushDraft()
        }

        func end() async {
            await coordinator.flushDrafts()
            await backend.close()
            await store.close()
        }
    }

    @Test func meCommandSendsAnEmote() async throws {
        let app = try await App()
        await app.say("/me waves")
        let page = try await app.backend.messages(in: app.row.id, before: .max, limit: 1)
        #expect(page.messages.map(\.text) == ["waves"] && page.messages.map(\.kind) == [.emote])
        #expect(app.composer.document.isEmpty)
        await app.say("//me waves")
        let next = try await app.backend.messages(in: app.row.id, before: .max, limit: 1)
        #expect(next.messages.map(\.text) == ["/me waves"] && next.messages.map(\.kind) == [.text])
        await app.end()
    }

    /// An unknown command stays in the composer with an error and creates no undo step.
    @Test func unknownCommandStaysInTheComposer() async throws {
        let app = try await App()
        let before = try await app.backend.messages(in: app.row.id, before: .max, limit: 1)
        await app.say("/nonsense now")
        #expect(app.composer.document.text == "/nonsense now")
        guard case .rejected(.rejectedByHost(let reason)) = app.coordinator.toasts.last else {
            Issue.record("nothing was said: \(app.coordinator.toasts)")
            return
        }
        #expect(reason.contains("/nonsense"))
        #expect(try await app.backend.messages(in: app.row.id, before: .max, limit: 1) == before)
        await app.end()
    }

    @Test func topicCommandSetsAndShowsTheTopic() async throws {
        let app = try await App()
        await app.say("/topic")
        await app.say("/topic  tea and   biscuits ")
        #expect(try await app.backend.topic(of: app.row.id) == "tea and biscuits")
        await app.say("/topic")
        #expect(
            app.coordinator.toasts.map { if case .message(let text) = $0 { text } else { "" } }.last
                == "tea and biscuits")
        #expect(app.coordinator.toasts.count == 2)
        await app.end()
    }

    @Test func nickCommandChangesTheNameInAllRoomsPersistently() async throws {
        let app = try await App()
        await app.say("/nick Ann Lee")
        await eventually { app.timeline.state.members.first { $0.kind == .own }?.displayName == "Ann Lee" }
        let room = try await app.backend.createRoom(named: "New")
        #expect(try await app.store.members(of: room).map(\.displayName) == ["Ann Lee"])
        await app.backend.close()
        let again = try await LocalBackend.start(over: app.store, ownDisplayName: "Robin", clock: ManualClock())
        #expect(try await app.store.members(of: room).map(\.displayName) == ["Ann Lee"])
        await again.close()
        await app.store.close()
    }

    @Test func removeAndInviteCommandsChangeTheMembers() async throws {
        let app = try await App()
        await app.say("/remove nobody")
        #expect(app.composer.document.text == "/remove nobody", "what was not done comes back")
        app.composer.handle(.clear)
        await app.say("/remove guide")
        await eventually { app.timeline.state.otherMembers.isEmpty }
        await app.say("/invite Guide")
        await eventually { app.timeline.state.otherMembers.map(\.displayName) == ["Guide"] }
        await app.say("/invite Santa")
        #expect(app.composer.document.text == "/invite Santa")
        #expect(app.coordinator.toasts.last == .message("No user found for Santa."))
        await app.end()
    }

    @Test func roomCommandsRenameJoinAndLeave() async throws {
        let app = try await App()
        await app.say("/rename Tea")
        await eventually { app.row.name == "Tea" }
        await app.say("/join notes")
        await eventually { app.coordinator.conversation?.timeline.state.isLoaded ?? false && app.row.name == "Notes" }
        await eventually { app.composer.state.isReady }
        await app.say("/join nowhere")
        #expect(app.composer.document.text == "/join nowhere")
        app.composer.handle(.clear)
        await app.say("/leave")
        #expect(app.coordinator.leaveRequests == [app.row.id], "one is asked first")
        await app.end()
    }

    @Test func clearCommandEmptiesOnlyTheView() async throws {
        let app = try await App()
        #expect(!app.timeline.state.isEmpty)
        await app.say("/clear")
        #expect(app.timeline.state.isEmpty && !app.timeline.state.hasOlder)
        await app.say("next")
        await eventually { app.timeline.rows.compactMap(\.message).map(\.text) == ["next"] }
        #expect(try await app.backend.messages(in: app.row.id, before: .max, limit: 9).messages.count > 1)
        await app.end()
    }

    @Test func helpCommandListsTheCommands() async throws {
        let app = try await App(completes: true)
        await app.say("/help ")
        #expect(app.composer.document.text == "/")
        await eventually { app.composer.state.composer.completion?.items.count == app.registry.offered.count }
        await app.end()
    }
}
