import ChatCore
import ChatViewModels
import Composer
import Testing

/// Where the rows of completion come from.
@MainActor
struct CompletionSourceTests {
    private struct Failure: Error {}

    /// A composer over a service that keeps nothing, and its sources.
    private func composer(_ sources: [any CompletionSource]) async -> ComposerViewModel {
        let composer = ComposerViewModel(roomID: RoomID("r"), service: FakeChatService())
        composer.completionSources = sources
        await composer.start()
        return composer
    }

    private func type(_ text: String, into composer: ComposerViewModel) {
        for character in text { composer.handle(.insert(String(character), origin: .typed)) }
    }

    private nonisolated static let people = ["Ann Lee", "Dean", "Anna"].map { CompletionEntity(id: $0, name: $0) }

    @Test(.timeLimit(.minutes(1)))
    func matchesComeRanked() async {
        let composer = await composer([EntitySource(prefix: "@", recent: { ["Anna"] }, entities: { Self.people })])
        type("@", into: composer)
        await eventually { composer.state.composer.completion?.openQuery == nil }
        #expect(composer.state.composer.completion?.items.map(\.name) == ["Anna", "Ann Lee", "Dean"])
        #expect(composer.handle(.key(KeyChord("Tab"))))
        #expect(composer.document.text == "@Anna " && composer.document.mentions.count == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func manyMatchesComeInBatchesAndAllOfThem() async {
        let many = (0..<120).map { CompletionEntity(id: "\($0)", name: "Ann \($0)") }
        let composer = await composer([EntitySource(prefix: "@", entities: { many })])
        type("@", into: composer)
        await eventually { composer.state.composer.completion?.openQuery == nil }
        #expect(composer.state.composer.completion?.items == many)
    }

    @Test(.timeLimit(.minutes(1)))
    func failuresReachTheList() async {
        let composer = await composer([EntitySource(prefix: "@", entities: { throw Failure() })])
        type("@", into: composer)
        await eventually { composer.state.composer.completion?.hasFailed ?? true }
        #expect(composer.state.composer.completion?.hasFailed == true)
    }

    /// A prefix that nobody answers for opens nothing, so that Escape and Return keep their sense.
    @Test func whatNobodyAnswersForIsNotOffered() async {
        let composer = await composer([EntitySource(prefix: "@", entities: { Self.people })])
        type("#room", into: composer)
        #expect(composer.state.composer.completion == nil)
        #expect(!composer.handle(.key(KeyChord("Escape"))))
    }

    @Test func membersAreToldApart() {
        let members = [
            Member(id: MemberID("me"), displayName: "Me", kind: .own),
            Member(id: MemberID("1"), displayName: "Ann Lee", kind: .person),
            Member(id: MemberID("2"), displayName: "ann lee", kind: .person),
            Member(id: MemberID("3"), displayName: "Bob", kind: .person),
            Member(id: MemberID("4"), displayName: "Gone", kind: .person, hasLeft: true),
        ]
        let entities = CompletionEntity.entities(of: members)
        #expect(entities.map(\.id) == ["1", "2", "3"])
        #expect(entities.map(\.short) == ["Ann", "ann", nil])
        #expect(entities.map(\.detail) == ["1", "2", nil])
    }
}
