import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Testing

@testable import ChatViewModels

/// Completion of members before the server's list of them has arrived.
@MainActor @Suite(.timeLimit(.minutes(10))) struct MemberListCompletionTests {
    private let service = FakeChatService()
    private let clock = ManualClock()
    /// Holds back the server's answer.
    private let gate = Gate()
    private let requests = Recorder<RoomID>()
    private let room = RoomID("a")

    nonisolated private static let own = Member(id: MemberID("me"), displayName: "Me", kind: .own)
    nonisolated private static let known = [
        own, Member(id: MemberID("1"), displayName: "Ann", kind: .person),
        Member(id: MemberID("2"), displayName: "Bob", kind: .person),
    ]
    nonisolated private static let zoe = Member(id: MemberID("5"), displayName: "Zoe", kind: .person)

    /// Opens a room with some of its members known.
    private func open(
        _ members: [Member] = known, failure: ChatError? = nil
    ) async -> (ConversationCoordinator, ComposerViewModel) {
        service.capabilities = [.memberList]
        service.rosters = { [unowned service, gate, requests] room in
            requests.record(room)
            await gate.pass()
            if let failure { throw failure }
            service.publish(.members(members + [Self.zoe]), in: room)
            return RoomMembers(
                entries: (members + [Self.zoe]).map { RoomMembers.Entry($0) }, permissions: [.notifyEveryone])
        }
        service.openings[room] = .opened(
            TimelinePage(messages: [], hasOlder: false), members: members, fullyReadMarker: nil)
        let coordinator = ConversationCoordinator(
            ConversationEnvironment(
                service: service, time: Timekeeper(clock),
                completion: ConversationEnvironment.Completion(everyone: "All of them")))
        coordinator.start(opening: room)
        service.publish([.of("a")])
        await eventually { coordinator.conversation?.timeline.state.isLoaded ?? false }
        let composer = coordinator.conversation!.composer
        await eventually { composer.state.isReady }
        return (coordinator, composer)
    }

    private func type(_ text: String, in composer: ComposerViewModel) {
        for character in text { composer.handle(.insert(String(character), origin: .typed)) }
        // Issues the query that the throttle held back, and shows the loading row.
        clock.advance(by: .milliseconds(500))
    }

    private func shows(_ ids: [String], _ isFinal: Bool, in composer: ComposerViewModel) -> Bool {
        guard let completion = composer.state.composer.completion else { return false }
        return completion.items.map(\.id) == ids && (completion.openQuery == nil) == isFinal
    }

    /// SLK-22, HKW-49: the answer comes in batches, and a row says that it loads.
    @Test(
        "A member who was unknown is offered once the list arrives, without another key", arguments: [known, [own]])
    func listArrives(_ members: [Member]) async {
        let (coordinator, composer) = await open(members)
        type("@zoe", in: composer)
        await eventually {
            self.shows([], false, in: composer) && composer.state.composer.completion?.isLoading == true
        }
        #expect(composer.state.composer.completion?.isVisible == true, "the loading row (HKW-49)")
        gate.open()
        await eventually { self.shows(["5"], true, in: composer) }
        #expect(composer.state.composer.completion?.isLoading == false)
        withExtendedLifetime(coordinator) {}
    }

    @Test("Known members are offered at once, and those of the list below them, with everyone")
    func knownMembersComeFirst() async {
        let (coordinator, composer) = await open()
        type("@", in: composer)
        await eventually { self.shows(["1", "2"], false, in: composer) }
        gate.open()
        await eventually { self.shows(["1", "2", "5", MentionTarget.everyoneID], true, in: composer) }
        withExtendedLifetime(coordinator) {}
    }

    @Test("If the request fails, the known members stay, and the next mention requests the list again")
    func requestFails() async {
        let (coordinator, composer) = await open(failure: .unreachable)
        type("@", in: composer)
        await eventually { self.shows(["1", "2"], false, in: composer) }
        gate.open()
        await eventually { self.shows(["1", "2"], true, in: composer) }
        #expect(composer.state.composer.completion?.hasFailed == false && requests.values.count == 1)
        type("b", in: composer)
        await eventually { self.shows(["2"], true, in: composer) }
        #expect(requests.values.count == 2)
        withExtendedLifetime(coordinator) {}
    }

    @Test("A list that does not come is waited for once, for a limited time")
    func waitIsLimited() async {
        let (coordinator, composer) = await open()
        type("@", in: composer)
        await eventually { self.shows(["1", "2"], false, in: composer) }
        while !shows(["1", "2"], true, in: composer) {
            clock.advance(by: MemberLists.maxWait)
            await Task.yield()
        }
        type("b", in: composer)
        await eventually { self.shows(["2"], true, in: composer) }
        #expect(requests.values.count == 1)
        withExtendedLifetime(coordinator) {}
    }

    @Test("A mention that was left shows nothing when the list arrives")
    func leavingTheTokenCancels() async {
        let (coordinator, composer) = await open()
        type("@zoe", in: composer)
        await eventually { self.shows([], false, in: composer) }
        composer.handle(.clear)
        #expect(composer.state.composer.completion == nil)
        gate.open()
        await eventually { coordinator.conversation?.timeline.members.contains(Self.zoe) ?? false }
        await waitUntilIdle()
        #expect(composer.state.composer.completion == nil)
    }

    @Test("A list that has arrived is not requested again")
    func listIsRequestedOnce() async {
        gate.open()
        let (coordinator, composer) = await open()
        type("@zoe", in: composer)
        await eventually { self.shows(["5"], true, in: composer) }
        composer.handle(.clear)
        type("@b", in: composer)
        await eventually { self.shows(["2"], true, in: composer) }
        #expect(requests.values == [room])
        withExtendedLifetime(coordinator) {}
    }

    @Test("Names without a prefix request the list too, and do not wait for it")
    func implicitListDoesNotWait() async {
        let (coordinator, composer) = await open()
        coordinator.environment.preferences.writing.suggestsMembers = true
        await eventually { composer.preferences.suggestsMembers }
        type("ann", in: composer)
        await eventually { self.shows(["1"], true, in: composer) }
        #expect(composer.state.composer.completion?.isLoading == false)
        await eventually { [requests, room] in requests.values == [room] }
        gate.open()
        await eventually { coordinator.conversation?.timeline.members.contains(Self.zoe) ?? false }
        composer.handle(.clear)
        type("zoe", in: composer)
        await eventually { self.shows(["5"], true, in: composer) }
    }
}
