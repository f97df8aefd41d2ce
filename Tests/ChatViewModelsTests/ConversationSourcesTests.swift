import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Testing

/// Members and rooms as an open conversation offers them.
@MainActor @Suite(.timeLimit(.minutes(5))) struct ConversationSourcesTests {
    private let service = FakeChatService()
    private let room = RoomID("a")

    private static let members = [
        Member(id: MemberID("me"), displayName: "Me", kind: .own),
        Member(id: MemberID("1"), displayName: "Ann Lee", kind: .person),
        Member(id: MemberID("2"), displayName: "ann lee", kind: .person),
        Member(id: MemberID("3"), displayName: "Bob", kind: .person),
        Member(id: MemberID("4"), displayName: "Gone", kind: .person, hasLeft: true),
    ]

    private func open(_ messages: [Message] = []) async -> (ConversationCoordinator, ComposerViewModel) {
        let page = TimelinePage(messages: messages, hasOlder: false)
        service.openings[room] = .opened(page, members: Self.members, readUpTo: nil)
        let coordinator = ConversationCoordinator(service: service, time: Timekeeper(ManualClock()))
        let sources = ConversationSources(of: coordinator, everyone: "All of them")
        coordinator.completionSources = { sources.sources(for: $0) }
        coordinator.start(opening: room)
        service.tell([.of("a"), .of("b"), .of("c")])
        await eventually { coordinator.conversation?.timeline.state.isLoaded ?? false }
        let composer = coordinator.conversation!.composer
        await eventually { composer.state.isReady }
        return (coordinator, composer)
    }

    private func rows(_ text: String, in composer: ComposerViewModel) async -> [CompletionEntity] {
        for character in text { composer.handle(.insert(String(character), origin: .typed)) }
        await eventually { composer.state.composer.completion.map { $0.openQuery == nil } ?? true }
        return composer.state.composer.completion?.items ?? []
    }

    @Test func membersWithoutOneselfAndThoseWhoLeft() async {
        let (coordinator, composer) = await open()
        let rows = await rows("@", in: composer)
        #expect(rows.map(\.id) == ["1", "2", "3", MemberDirectory.everyone])
        #expect(rows.map(\.short) == ["Ann", "ann", nil, nil])
        #expect(rows.map(\.detail) == ["1", "2", nil, "All of them"])
        withExtendedLifetime(coordinator) {}
    }

    @Test func whoSpokeLatelyComesFirst() async {
        let (coordinator, composer) = await open([
            Fixtures.message(1, in: "a", by: Self.members[1]), Fixtures.message(2, in: "a", by: Self.members[3]),
        ])
        #expect(await rows("@", in: composer).map(\.id) == ["3", "1", "2", MemberDirectory.everyone])
        withExtendedLifetime(coordinator) {}
    }

    @Test func whoComesLaterIsOffered() async {
        let (coordinator, composer) = await open()
        #expect(await rows("@", in: composer).count == 4)
        composer.handle(.clear)
        service.tell(.members(Self.members + [Member(id: MemberID("5"), displayName: "Eve", kind: .person)]), in: room)
        await eventually { coordinator.conversation?.timeline.state.members.count == 6 }
        #expect(await rows("@", in: composer).map(\.id) == ["1", "2", "3", MemberDirectory.everyone, "5"])
    }

    @Test func roomsByTheirNames() async {
        let (coordinator, composer) = await open()
        #expect(await rows("#", in: composer).map(\.name) == ["Room a", "Room b", "Room c"])
        #expect(composer.handle(.key(KeyChord("Tab"))))
        #expect(composer.document.text == "#Room a " && composer.document.mentions.first?.mention?.entityID == "a")
        withExtendedLifetime(coordinator) {}
    }

    /// `@room` says everyone only where there are several.
    @Test func everyoneIsMoreThanOne() {
        let two = MemberDirectory.index(of: Array(Self.members.prefix(2)), everyone: "All")
        #expect(two.entities.map(\.id) == ["1"])
    }
}
