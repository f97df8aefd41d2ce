import ChatTestSupport
import Composer
import ComposerSessions
import Testing

/// Completion sources and the order of their results.
@MainActor
struct CompletionSourceTests {
    private func makeSession(_ sources: [any CompletionSource]) -> ComposerSession {
        ComposerSession(configuration: .preset(.parlance), completionSources: sources)
    }

    private func type(_ text: String, into session: ComposerSession) {
        for character in text { session.handle(.insert(String(character), origin: .typed)) }
    }

    private nonisolated static func source(_ entities: [CompletionEntity], recent: [String] = []) -> DirectorySource {
        let directory = CompletionDirectory { CompletionIndex(entities) }
        directory.setRecent(recent)
        return DirectorySource(prefix: "@", directory: directory)
    }

    private nonisolated static let failing = DirectorySource(
        prefix: "@", directory: CompletionDirectory { throw CompletionFailure(reason: "No network") })

    private nonisolated static let people = ["Ann Lee", "Dean", "Anna"].map { CompletionEntity(id: $0, name: $0) }

    @Test(.timeLimit(.minutes(10)))
    func matchesAreRanked() async {
        let session = makeSession([Self.source(Self.people, recent: ["Anna"])])
        type("@", into: session)
        await eventually { session.composer.completion?.openQuery == nil }
        #expect(session.composer.completion?.items.map(\.name) == ["Anna", "Ann Lee", "Dean"])
        #expect(session.handle(.key(KeyChord("Tab"))))
        #expect(session.document.text == "@Anna " && session.document.mentions.count == 1)
    }

    /// Cached matches appear at once and fetched ones follow; no row is duplicated or moved.
    @Test(.timeLimit(.minutes(10)))
    func fetchedMatchesFollowCachedOnes() async {
        let directory = CompletionDirectory { CompletionIndex(Self.people) }
        let session = makeSession([DirectorySource(prefix: "@", directory: directory)])
        type("@", into: session)
        await eventually { session.composer.completion?.openQuery == nil }
        #expect(session.composer.completion?.items.map(\.name) == ["Ann Lee", "Dean", "Anna"])
        session.handle(.selectCompletion(2))
        directory.set { CompletionIndex(Self.people + [CompletionEntity(id: "n", name: "Anne")]) }
        type("a", into: session)
        await eventually { session.composer.completion?.items.count == 4 }
        #expect(session.composer.completion?.items.map(\.name) == ["Ann Lee", "Anna", "Dean", "Anne"])
        #expect(session.composer.completion?.selected == 1, "the same entity")
    }

    /// SLK-22: entities that are still to come follow the known ones without another query.
    @Test(.timeLimit(.minutes(10)))
    func arrivalsFollowKnownMatches() async {
        let directory = CompletionDirectory { CompletionIndex(Self.people) }
        let gate = Gate()
        let source = DirectorySource(
            prefix: "@", directory: directory,
            arrivals: { directory in
                {
                    await gate.pass()
                    directory.set { CompletionIndex(Self.people + [CompletionEntity(id: "z", name: "Zoe")]) }
                }
            })
        let session = makeSession([source])
        type("@", into: session)
        await eventually { session.composer.completion?.items.count == 3 }
        #expect(session.composer.completion?.openQuery != nil)
        gate.open()
        await eventually { session.composer.completion?.openQuery == nil }
        #expect(session.composer.completion?.items.map(\.name) == ["Ann Lee", "Dean", "Anna", "Zoe"])
    }

    @Test(.timeLimit(.minutes(10)))
    func failuresAreShownInTheList() async {
        let session = makeSession([Self.failing])
        type("@", into: session)
        await eventually { session.composer.completion?.hasFailed ?? true }
        #expect(session.composer.completion?.hasFailed == true)
        #expect(session.composer.completion?.failureReason == "No network")
    }

    /// A prefix without a source opens no list, so Escape and Return keep their meaning.
    @Test func prefixWithoutASourceOpensNoList() async {
        let session = makeSession([Self.source(Self.people)])
        type("#room", into: session)
        #expect(session.composer.completion == nil)
        #expect(!session.handle(.key(KeyChord("Escape"))))
    }
}
