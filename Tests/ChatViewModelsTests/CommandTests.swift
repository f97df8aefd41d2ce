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
        await eventually { app.timeline.members.first { $0.kind == .own }?.displayName == "Ann Lee" }
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
        await eventually { app.timeline.otherMembers.isEmpty }
        await app.say("/invite Guide")
        await eventually { app.timeline.otherMembers.map(\.displayName) == ["Guide"] }
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

    @Test("HKW-36: of rooms with the same name, join opens the one that was chosen by completion")
    func joinCommandOpensTheMentionedRoom() async throws {
        let app = try await App()
        let rooms = [try await app.backend.createRoom(named: "Tea"), try await app.backend.createRoom(named: "Tea")]
        await eventually { app.coordinator.rooms.state.rows.count { $0.name == "Tea" } == 2 }
        for room in rooms {
            let mention = Mention(.room(room.rawValue), text: "#Tea")
            app.composer.handle(.load(WrittenText("/join #Tea", mentioning: [mention])))
            app.composer.handle(.key(KeyChord("Return")))
            await eventually { app.coordinator.conversation?.timeline.state.isLoaded ?? false && app.row.id == room }
            await eventually { app.composer.state.isReady }
        }
        await app.end()
    }

    /// Each case: the text, the text and target of its mention, and the command.
    nonisolated static let mentions: [(String, String, MentionTarget, ChatCommand)] = [
        ("/remove @Ann", "@Ann", .member("@ann2:x"), .remove("@ann2:x")),
        ("/invite @Ann", "@Ann", .member("@ann2:x"), .invite("@ann2:x")),
        ("/join #Tea", "#Tea", .room("#tea:x"), .join("#tea:x")),
        ("/join #Tea", "#Tea", .room("!a:x", via: ["x"]), .join("https://matrix.to/#/!a:x?via=x")),
        ("/remove @Ann Lee", "@Ann", .member("@ann2:x"), .remove("@Ann Lee")),
        ("/remove @room", "@room", .everyone, .remove("@room")),
        ("/join @Ann", "@Ann", .member("@ann2:x"), .join("@Ann")),
        ("/topic @Ann", "@Ann", .member("@ann2:x"), .setTopic("@Ann")),
    ]

    @Test("HKW-36, MIB-29: a command whose argument is a mention is about what is mentioned", arguments: mentions)
    func commandsIdentifyWhatTheyMention(
        text: String, name: String, target: MentionTarget, command: ChatCommand
    ) async {
        let executed = Recorder<ChatCommand>()
        let harness = await ComposerHarness.started { executed.record($0) }
        harness.composer.handle(.load(WrittenText(text, mentioning: [Mention(target, text: name)])))
        harness.press("Return")
        await eventually { !executed.values.isEmpty }
        #expect(executed.values == [command])
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
