import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Testing

@testable import ChatViewModels

/// Completion of members and rooms in an open conversation.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ConversationSourcesTests {
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
        service.openings[room] = .opened(page, members: Self.members, fullyReadMarker: nil)
        let coordinator = ConversationCoordinator(
            ConversationEnvironment(
                service: service, time: Timekeeper(ManualClock()),
                completion: ConversationEnvironment.Completion(everyone: "All of them")))
        coordinator.start(opening: room)
        service.publish([.of("a"), .of("b"), .of("c")])
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

    @Test func offersMembersExceptOneselfAndThoseWhoLeft() async {
        let (coordinator, composer) = await open()
        let rows = await rows("@", in: composer)
        #expect(rows.map(\.id) == ["1", "2", "3", MentionTarget.everyoneID])
        #expect(rows.map(\.short) == ["Ann", "ann", nil, nil])
        #expect(rows.map(\.detail) == ["1", "2", nil, "All of them"])
        #expect(rows.map(\.target) == [.member("1"), .member("2"), .member("3"), .everyone])
        withExtendedLifetime(coordinator) {}
    }

    @Test func recentSendersComeFirst() async {
        let (coordinator, composer) = await open([
            Fixtures.message(1, in: "a", by: Self.members[1]), Fixtures.message(2, in: "a", by: Self.members[3]),
        ])
        #expect(await rows("@", in: composer).map(\.id) == ["3", "1", "2", MentionTarget.everyoneID])
        withExtendedLifetime(coordinator) {}
    }

    @Test func newMembersAreOffered() async {
        let (coordinator, composer) = await open()
        #expect(await rows("@", in: composer).count == 4)
        composer.handle(.clear)
        service.publish(
            .members(Self.members + [Member(id: MemberID("5"), displayName: "Eve", kind: .person)]), in: room)
        await eventually { coordinator.conversation?.timeline.members.count == 6 }
        #expect(await rows("@", in: composer).map(\.id) == ["1", "2", "3", MentionTarget.everyoneID, "5"])
    }

    /// HKW-38: opt-in completion without a prefix offers people but never `@room`.
    @Test func unprefixedCompletionIsOptIn() async {
        let (coordinator, composer) = await open()
        #expect(await rows("ann", in: composer).isEmpty)
        composer.handle(.clear)
        coordinator.environment.preferences.writing.suggestsMembers = true
        await eventually { composer.preferences.suggestsMembers }
        #expect(await rows("ann", in: composer).map(\.id) == ["1", "2"])
        composer.handle(.clear)
        #expect(await rows("room", in: composer).isEmpty)
    }

    @Test func roomsAreOfferedByName() async {
        let (coordinator, composer) = await open()
        #expect(await rows("#", in: composer).map(\.name) == ["Room a", "Room b", "Room c"])
        #expect(composer.handle(.key(KeyChord("Tab"))))
        #expect(composer.document.text == "#Room a " && composer.document.mentions.first?.mention?.target == .room("a"))
        withExtendedLifetime(coordinator) {}
    }

    @Test("The names of all rooms are read once for each change of the list, not for each letter")
    func roomsAreReadOnceAChange() async {
        let list = RoomListViewModel(service: service)
        list.start()
        service.publish([.of("a"), .of("b")])
        await eventually { list.state.rows.count == 2 }
        let openRooms = OpenRooms()
        let members = MemberLists(service: service, openRooms: openRooms, time: Timekeeper(ManualClock()))
        let sources = ConversationSources(rooms: list, openRooms: openRooms, members: members, everyone: nil)
        let source = sources.sources(for: room).first { $0.prefix == "#" }
        for _ in 0..<3 { source?.prefetch() }
        #expect(sources.roomReadCount == 1)
        service.publish([.of("a", unread: 2), .of("b")])
        await eventually { list.state.rows.first?.unreadCount == 2 }
        for _ in 0..<3 { source?.prefetch() }
        #expect(sources.roomReadCount == 2)
    }

    /// Members with the same name are distinguished by Matrix ID; the mention's text is the name alone.
    @Test func sameNamedMembersAreDistinguishedByMatrixID() async {
        let members = ["@ann1:x", "@ann2:x"].map {
            Member(id: MemberID($0), displayName: "Ann Lee (\($0))", kind: .person)
        }
        let index = MemberDirectory.index(of: members, everyone: nil)
        #expect(index.entities.map(\.name) == ["Ann Lee", "Ann Lee"])
        #expect(index.entities.map(\.detail) == ["@ann1:x", "@ann2:x"])
        var engine = ComposerEngine()
        _ = engine.handle(.acceptEntity(index.entities[1]), at: .zero)
        _ = engine.handle(.send, at: .zero)
        _ = engine.handle(.undo, at: .zero)
        #expect(
            engine.document.mentions.map(\.mention) == [
                Mention(.member("@ann2:x"), text: "Ann Lee", short: "Ann")
            ])
    }

    /// A room without an alias is linked with the server that created it as `via`.
    @Test func roomMentionsIncludeViaServers() {
        let row = { (id: String, address: String?) -> RoomListViewModel.Row in
            RoomListViewModel.Row(
                id: RoomID(id), name: id, kind: .group, preview: .empty, lastActivity: Fixtures.date, day: .today,
                unreadCount: 0, address: address)
        }
        let index = RoomDirectory.index(of: [row("!a:x.example:80", nil), row("!b", nil), row("!c:x", "#c:y")])
        #expect(
            index.entities.map(\.target) == [
                .room("!a:x.example:80", via: ["x.example:80"]), .room("!b"), .room("#c:y"),
            ])
    }

    @Test("SLK-24: names that are addresses are found without their sigil and offered with it")
    func addressesAreFoundWithoutTheirSigil() {
        let bob = Member(id: MemberID("@bob:example.org"), displayName: "@bob:example.org", kind: .person)
        let members = MemberDirectory.index(of: [bob], everyone: nil)
        #expect(members.matches(of: "bob", limit: 9).map(\.name) == ["@bob:example.org"])
        let row = RoomListViewModel.Row(
            id: RoomID("!r:x"), name: "#room:example.org", kind: .group, preview: .empty, lastActivity: Fixtures.date,
            day: .today, unreadCount: 0, address: "#room:example.org")
        #expect(RoomDirectory.index(of: [row]).matches(of: "room", limit: 9).map(\.name) == ["#room:example.org"])
    }

    /// `@room` is offered only once the server confirms the power level for it.
    @Test(arguments: [false, true])
    func roomMentionRequiresPermission(may: Bool) async {
        service.capabilities = [.memberList]
        let gate = Gate()
        service.rosters = { _ in
            await gate.pass()
            return RoomMembers(entries: [], permissions: may ? [.notifyEveryone] : [.invite])
        }
        let (coordinator, composer) = await open()
        composer.handle(.insert("@", origin: .typed))
        await eventually { composer.state.composer.completion?.items.map(\.id) == ["1", "2", "3"] }
        #expect(composer.state.composer.completion?.openQuery != nil, "it waits for the server")
        gate.open()
        await eventually { composer.state.composer.completion?.openQuery == nil }
        #expect(composer.state.composer.completion?.items.contains { $0.target == .everyone } == may)
        #expect(coordinator.members.mayNotifyEveryone(in: room) == may)
    }

    /// `@room` is offered only with at least two other members.
    @Test func roomMentionRequiresSeveralMembers() {
        let two = MemberDirectory.index(of: Array(Self.members.prefix(2)), everyone: "All")
        #expect(two.entities.map(\.id) == ["1"])
    }
}
