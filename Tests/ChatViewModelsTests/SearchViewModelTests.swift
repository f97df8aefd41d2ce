import ChatCore
import ChatStore
import ChatTestSupport
import ComposerSessions
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10))) struct SearchViewModelTests {
    private let service = FakeChatService()
    private let displayed = Recorder<SearchResult.ID>()
    private let clock = ManualClock()

    private func open() -> SearchViewModel { open(over: service) }

    private func open(over service: any SearchService) -> SearchViewModel {
        let row = RoomListViewModel.Row(
            id: RoomID("room"), name: "Plans", kind: .group, preview: .empty, lastActivity: Fixtures.date, day: .today,
            unreadCount: 0)
        let model = SearchViewModel(
            service: service, time: Timekeeper(clock), now: { Fixtures.date }, rooms: { [row] },
            onShow: { [displayed] in displayed.record($0) })
        model.send(.field(.open))
        return model
    }

    private func provideMatches(_ positions: ClosedRange<Int64>) {
        service.searchPages = { query in
            let rest = positions.reversed().drop { position in query.after.map { position >= $0.rawValue } ?? false }
            let page = rest.prefix(query.limit)
            return SearchPage(
                messages: page.map { Fixtures.message($0, by: Fixtures.other) },
                senders: [Fixtures.other.id: Fixtures.other],
                next: page.count < rest.count ? page.last.map { SearchCursor(rawValue: $0) } : nil)
        }
    }

    @Test func resultsShowRoomSenderAndMatches() async throws {
        provideMatches(3...3)
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        let result = try #require(model.state.results.first)
        #expect(result.roomName == "Plans")
        #expect(result.senderName == "Alex")
        #expect(!result.isOwn)
        #expect(result.snippet == "Message 3")
        #expect(result.matches == [0..<4])
        model.send(.choose(result.id))
        #expect(displayed.values == [result.id])
    }

    @Test("What the timeline warns of is found behind its warning, also by a screen reader")
    func doubtfulMessages() async throws {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let trusts: [MessageTrust?] = [nil, .unproven, .notEncrypted, .changedIdentity]
        let events = trusts.enumerated().map { number, trust -> TimelineEvent in
            let found = Fixtures.message(Int64(number), by: Fixtures.other, text: "not soup \(number)")
            var message = NewMessage(id: found.id, sender: found.sender, text: found.text, sentAt: found.sentAt)
            message.trust = trust
            return .message(message)
        }
        let batch = RoomBatch(
            id: RoomID("room"), name: "Plans", createdAt: Fixtures.date, members: [Fixtures.own, Fixtures.other],
            events: events)
        _ = try await store.apply(SyncBatch(rooms: [batch]))
        let model = open(over: store)
        model.send(.field(.type("not")))
        await eventually { !model.state.isSearching }
        let lines = model.state.results.map { $0.line(.untranslated) }
        #expect(
            lines.map(\.text) == [
                "Alex: Identity changed: not soup 3", "Alex: Not encrypted: not soup 2", "Alex: not soup 1",
                "Alex: not soup 0",
            ])
        let matches = lines.map { line in
            line.matches.map { String(decoding: Array(line.text.utf8)[$0], as: UTF8.self) }
        }
        #expect(matches == Array(repeating: ["not"], count: 4), "the warning is no match")
        #expect(
            model.state.results.first?.accessibleText(time: "noon", .untranslated)
                == "Plans, noon, Alex: Identity changed: not soup 3")
        await store.close()
    }

    @Test func pagesAreLoadedOnRequest() async {
        provideMatches(1...120)
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        #expect(model.state.results.count == 50 && model.state.hasMore)
        model.send(.loadMore)
        model.send(.loadMore)
        await eventually { !model.state.isSearching }
        #expect(model.state.results.count == 100)
        model.send(.loadMore)
        await eventually { !model.state.isSearching }
        #expect(model.state.results.count == 120 && !model.state.hasMore)
        #expect(Set(model.state.results.map(\.id)).count == 120)
        model.send(.loadMore)
        #expect(!model.state.isSearching)
    }

    @Test(
        "Results stay when further ones cannot be loaded, which scrolling tries again after a delay, the user at once",
        arguments: [false, true])
    func furtherResultsFail(isUser: Bool) async {
        provideMatches(1...60)
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        service.before = { if case .search = $0 { throw ChatError.storage(reason: "test") } }
        model.send(.loadMore)
        await eventually { model.state.error == .storage(reason: "test") }
        #expect(model.state.results.count == 50 && model.state.isCurrent && model.state.hasMore)
        #expect(model.state.canRetry)
        service.before = { _ in }
        clock.advance(by: SearchViewModel.retryDelay - .milliseconds(1))
        model.send(.loadMore)
        #expect(!model.state.isSearching)
        if isUser {
            model.send(.retry)
        } else {
            clock.advance(by: .milliseconds(1))
            model.send(.loadMore)
        }
        #expect(model.state.isSearching)
        await eventually { model.state.results.count == 60 }
        #expect(model.state.error == nil && !model.state.hasMore && !model.state.isSearching)
        #expect(!model.state.canRetry)
    }

    @Test("The delay after a failure concerns no other search")
    func otherSearchAfterFailure() async {
        provideMatches(1...60)
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        service.before = { if case .search = $0 { throw ChatError.storage(reason: "test") } }
        model.send(.loadMore)
        await eventually { model.state.canRetry }
        service.before = { _ in }
        model.send(.field(.type("messa")))
        await eventually { !model.state.isSearching }
        #expect(model.state.results.count == 50)
        model.send(.loadMore)
        await eventually { model.state.results.count == 60 }
    }

    @Test("The results of an earlier query do not stay when a search fails")
    func searchFails() async {
        provideMatches(1...3)
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { model.state.results.count == 3 }
        service.before = { if case .search = $0 { throw ChatError.storage(reason: "test") } }
        model.send(.field(.type("messa")))
        await eventually { model.state.error == .storage(reason: "test") }
        #expect(model.state.results.isEmpty && !model.state.isSearching && !model.state.hasNoResults)
        service.before = { _ in }
        model.send(.retry)
        #expect(model.state.isSearching && !model.state.canRetry)
        await eventually { model.state.results.count == 3 }
        #expect(model.state.error == nil)
        let calls = service.calls.count
        model.send(.retry)
        #expect(!model.state.isSearching && service.calls.count == calls, "nothing has failed")
    }

    @Test func resultsStayUntilTheNextOnesArrive() async {
        provideMatches(1...3)
        let model = open()
        model.send(.field(.type("mess")))
        await eventually { !model.state.isSearching }
        provideMatches(7...7)
        model.send(.field(.type("messa")))
        #expect(model.state.results.count == 3 && !model.state.isCurrent)
        await eventually { !model.state.isSearching }
        #expect(model.state.results.map(\.id.message) == [Fixtures.message(7).id])
        model.send(.field(.type("from:")))
        #expect(model.state.results.isEmpty && model.state.problems == [.missingValue("from")])
    }

    @Test func roomsAreFilteredByName() async {
        provideMatches(1...1)
        let model = open()
        model.send(.field(.type("in:pla x")))
        await eventually { !model.state.isSearching }
        guard case .search(let query)? = service.calls.last else {
            Issue.record("not asked")
            return
        }
        #expect(query.rooms == [RoomID("room")])
        model.send(.field(.type("in:lans x")))
        await eventually { !model.state.isSearching }
        #expect(model.state.problems == [.unknownRoom("lans")])
        #expect(model.state.results.isEmpty)
    }

    @Test func emptyPagesAreSkipped() async {
        let asked = Recorder<Int64?>()
        service.searchPages = { query in
            asked.record(query.after?.rawValue)
            let next = (query.after?.rawValue ?? 10) - 1
            return SearchPage(
                messages: next == 5 ? [Fixtures.message(5)] : [], next: next > 4 ? SearchCursor(rawValue: next) : nil)
        }
        let model = open()
        model.send(.field(.type("rare")))
        await eventually { !model.state.isSearching }
        #expect(model.state.results.count == 1 && model.state.hasMore)
        #expect(asked.values == [nil, 9, 8, 7, 6])
        model.send(.loadMore)
        await eventually { !model.state.isSearching }
        #expect(!model.state.hasMore && model.state.results.count == 1)
    }

    @Test(arguments: [
        ("short match", "match", "short match", 6),
        ("a\n\n b   c match", "match", "a b c match", 6),
        (String(repeating: "word ", count: 20) + "match", "match", "…word word word word match", 23),
        (String(repeating: "x", count: 100) + "match", "match", "…" + String(repeating: "x", count: 24) + "match", 27),
        ("nothing", "match", "nothing", nil),
    ])
    func snippetsContainTheFirstMatch(_ text: String, _ terms: String, _ snippet: String, _ place: Int?) {
        let made = SearchResult.snippet(of: text, SearchTerms(terms))
        #expect(made == snippet)
        #expect(SearchTerms(terms).ranges(in: made).first?.lowerBound == place)
    }
}
