import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10))) struct RoomSearchViewModelTests {
    private let service = FakeChatService()
    private let displayed = Recorder<MessageID>()

    private func open() -> RoomSearchViewModel {
        let model = RoomSearchViewModel(
            roomID: RoomID("room"), service: service, onShow: { [displayed] in displayed.record($0) })
        model.send(.field(.open))
        return model
    }

    /// Sets the search results to the messages at these positions, paged.
    private func provideMatches(_ positions: [Int64]) {
        service.searchPages = { query in
            let rest = positions.drop { position in query.after.map { position >= $0.rawValue } ?? false }
            let page = rest.prefix(query.limit)
            return SearchPage(
                messages: page.map { Fixtures.message($0) },
                next: page.count < rest.count ? page.last.map { SearchCursor(rawValue: $0) } : nil)
        }
    }

    private func id(_ position: Int64) -> MessageID { Fixtures.message(position).id }

    @Test func typingShowsTheLatestMatch() async {
        provideMatches([9, 5, 2])
        let model = open()
        #expect(model.state.isOpen && !model.state.hasNoResults)
        model.send(.field(.type("mess")))
        #expect(model.state.isSearching)
        await eventually { !model.state.isSearching }
        #expect(model.state.matches == [id(9), id(5), id(2)])
        #expect(model.state.current == 0)
        #expect(model.state.terms == SearchTerms("mess"))
        #expect(displayed.values == [id(9)])
        guard case .search(let query)? = service.calls.last else {
            Issue.record("not asked")
            return
        }
        #expect(query.rooms == [RoomID("room")])
        #expect(query.matching == .terms)
    }

    @Test func stepsWrapAround() async {
        provideMatches([9, 5, 2])
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        for (action, expected) in [
            (RoomSearchViewModel.Action.stepOlder, 1), (.stepOlder, 2), (.stepOlder, 0), (.stepNewer, 2),
            (.stepNewer, 1),
        ] {
            model.send(action)
            #expect(model.state.current == expected)
        }
        #expect(displayed.values == [9, 5, 2, 9, 2, 5].map { id($0) })
    }

    @Test func countingIsBoundedAndSteppingLoadsMore() async {
        provideMatches(Array((1...1250).reversed()))
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        #expect(model.state.matches.count == RoomSearchViewModel.counted)
        #expect(model.state.hasMore)
        for _ in 1..<RoomSearchViewModel.counted { model.send(.stepOlder) }
        #expect(model.state.current == RoomSearchViewModel.counted - 1)
        model.send(.stepOlder)
        await eventually { model.state.current == RoomSearchViewModel.counted }
        #expect(displayed.values.last == id(250))
    }

    @Test("Stepping back while an older match is loaded stays there")
    func steppingBackDuringLoading() async {
        provideMatches(Array((1...1250).reversed()))
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        for _ in 1..<RoomSearchViewModel.counted { model.send(.stepOlder) }
        let gate = Gate()
        service.before = { if case .search = $0 { await gate.pass() } }
        model.send(.stepOlder)
        await eventually { gate.waiting == 1 }
        model.send(.stepNewer)
        #expect(model.state.current == RoomSearchViewModel.counted - 2)
        gate.open()
        await eventually { !model.state.isSearching }
        #expect(model.state.current == RoomSearchViewModel.counted - 2)
        #expect(model.state.matches.count > RoomSearchViewModel.counted)
    }

    @Test("The error of older matches that could not be loaded is gone once they are")
    func loadingOlderMatchesAgain() async {
        provideMatches(Array((1...1250).reversed()))
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        for _ in 1..<RoomSearchViewModel.counted { model.send(.stepOlder) }
        service.before = { if case .search = $0 { throw ChatError.unreachable } }
        model.send(.stepOlder)
        await eventually { model.state.error == .unreachable }
        #expect(!model.state.isSearching && model.state.current == RoomSearchViewModel.counted - 1)
        service.before = { _ in }
        model.send(.stepOlder)
        await eventually { model.state.current == RoomSearchViewModel.counted }
        #expect(model.state.error == nil && !model.state.isSearching)
    }

    @Test func resultsOfEarlierQueriesAreIgnored() async {
        let gate = Gate()
        service.searchPages = { query in
            SearchPage(messages: [Fixtures.message(query.text == "first" ? 1 : 2)], next: nil)
        }
        service.before = { call in
            if case .search(let query) = call, query.text == "first" { await gate.pass() }
        }
        let model = open()
        model.send(.field(.type("first")))
        await eventually { gate.waiting == 1 }
        model.send(.field(.type("second")))
        await eventually { !model.state.isSearching }
        gate.open()
        await waitUntilIdle()
        #expect(model.state.matches == [id(2)])
        #expect(displayed.values == [id(2)])
    }

    @Test func queryProblemsAndErrorsAreShown() async {
        let model = open()
        model.send(.field(.type("from:")))
        #expect(model.state.problems == [.missingValue("from")])
        #expect(!model.state.isSearching && !model.state.hasNoResults)
        model.send(.field(.type("from:nobody x")))
        await eventually { !model.state.isSearching }
        #expect(model.state.problems == [.unknownSender("nobody")])
        model.send(.field(.type("in:room x")))
        await eventually { !model.state.isSearching }
        #expect(model.state.problems == [.roomAlreadySpecified])
        service.before = { if case .search = $0 { throw ChatError.storage(reason: "test") } }
        model.send(.field(.type("x")))
        await eventually { !model.state.isSearching }
        #expect(model.state.error == .storage(reason: "test"))
        model.send(.field(.type("missing")))
        #expect(model.state.error == nil)
    }

    @Test func sendersAreLookedUpByName() async {
        provideMatches([3])
        service.named = ["al": [Fixtures.other.id]]
        let model = open()
        model.send(.field(.type("from:al x")))
        await eventually { !model.state.isSearching }
        guard case .search(let query)? = service.calls.last else {
            Issue.record("not asked")
            return
        }
        #expect(query.senders == [Fixtures.other.id])
        #expect(query.text == "x")
    }

    @Test func closingKeepsOnlyTheText() async {
        provideMatches([9])
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        model.send(.field(.close))
        #expect(model.state.text == "mess" && !model.state.isOpen && !model.state.isSearching)
        #expect(model.state.matches.isEmpty && model.state.current == nil && model.state.terms.isEmpty)
        model.send(.field(.open))
        await eventually { model.state.current == 0 }
    }

    @Test func noResultsIsShown() async {
        let model = open()
        model.send(.field(.type("zzz")))
        await eventually { !model.state.isSearching }
        #expect(model.state.hasNoResults && !model.state.canStep)
        model.send(.stepOlder)
        #expect(displayed.values == [])
        model.send(.field(.type("")))
        #expect(!model.state.hasNoResults && !model.state.isSearching)
    }
}
