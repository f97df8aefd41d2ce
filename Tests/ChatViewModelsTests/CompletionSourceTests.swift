import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Testing

/// Completion sources and the order of their results.
@MainActor
struct CompletionSourceTests {
    /// Returns a composer with these sources, over a fake service.
    private func composer(_ sources: [any CompletionSource]) async -> ComposerViewModel {
        let composer = ComposerViewModel(roomID: RoomID("r"), service: FakeChatService())
        composer.completionSources = sources
        await composer.start()
        return composer
    }

    private func type(_ text: String, into composer: ComposerViewModel) {
        for character in text { composer.handle(.insert(String(character), origin: .typed)) }
    }

    private nonisolated static func source(_ entities: [CompletionEntity], recent: [String] = []) -> DirectorySource {
        let directory = CompletionDirectory { CompletionIndex(entities) }
        directory.setRecent(recent)
        return DirectorySource(prefix: "@", directory: directory)
    }

    private nonisolated static let failing = DirectorySource(
        prefix: "@", directory: CompletionDirectory { throw CompletionFailure(reason: "No network") })

    private nonisolated static let people = ["Ann Lee", "Dean", "Anna"].map { CompletionEntity(id: $0, name: $0) }

    @Test(.timeLimit(.minutes(5)))
    func matchesComeRanked() async {
        let composer = await composer([Self.source(Self.people, recent: ["Anna"])])
        type("@", into: composer)
        await eventually { composer.state.composer.completion?.openQuery == nil }
        #expect(composer.state.composer.completion?.items.map(\.name) == ["Anna", "Ann Lee", "Dean"])
        #expect(composer.handle(.key(KeyChord("Tab"))))
        #expect(composer.document.text == "@Anna " && composer.document.mentions.count == 1)
    }

    /// Cached matches appear at once and fetched ones follow; no row is duplicated or moved.
    @Test(.timeLimit(.minutes(5)))
    func whatIsNewFollowsWhatIsKnown() async {
        let directory = CompletionDirectory { CompletionIndex(Self.people) }
        let composer = await composer([DirectorySource(prefix: "@", directory: directory)])
        type("@", into: composer)
        await eventually { composer.state.composer.completion?.openQuery == nil }
        #expect(composer.state.composer.completion?.items.map(\.name) == ["Ann Lee", "Dean", "Anna"])
        composer.handle(.selectCompletion(2))
        directory.set { CompletionIndex(Self.people + [CompletionEntity(id: "n", name: "Anne")]) }
        type("a", into: composer)
        await eventually { composer.state.composer.completion?.items.count == 4 }
        #expect(composer.state.composer.completion?.items.map(\.name) == ["Ann Lee", "Anna", "Dean", "Anne"])
        #expect(composer.state.composer.completion?.selected == 1, "the same entity")
    }

    @Test(.timeLimit(.minutes(5)))
    func failuresReachTheList() async {
        let composer = await composer([Self.failing])
        type("@", into: composer)
        await eventually { composer.state.composer.completion?.hasFailed ?? true }
        #expect(composer.state.composer.completion?.hasFailed == true)
        #expect(composer.state.composer.completion?.failureReason == "No network")
    }

    /// A prefix without a source opens no list, so Escape and Return keep their meaning.
    @Test func whatNobodyAnswersForIsNotOffered() async {
        let composer = await composer([Self.source(Self.people)])
        type("#room", into: composer)
        #expect(composer.state.composer.completion == nil)
        #expect(!composer.handle(.key(KeyChord("Escape"))))
    }
}
