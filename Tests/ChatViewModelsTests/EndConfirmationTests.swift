import ChatTestSupport
import Observation
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct EndConfirmationTests {
    /// What an end finds, one search after another; each waits until it is answered.
    @MainActor @Observable
    final class Searches {
        private(set) var areWaitingForWork: [Bool] = []
        private var gates: [Gate] = []
        private var obstacles: [EndObstacle?] = []

        func find(_ waitsForWork: Bool) async -> EndObstacle? {
            let index = gates.count
            let gate = Gate()
            areWaitingForWork.append(waitsForWork)
            gates.append(gate)
            obstacles.append(nil)
            await gate.pass()
            return obstacles[index]
        }

        /// Ends a search, the last one by default.
        func answer(_ obstacle: EndObstacle?, _ index: Int? = nil) {
            let index = index ?? gates.count - 1
            obstacles[index] = obstacle
            gates[index].open()
        }
    }

    @MainActor @Observable
    final class FakeView: EndQuestionView {
        var isOpen = true
        private(set) var presentations = 0
        func present() { presentations += 1 }
        func close() { isOpen = false }
    }

    /// What was done with the requests, by their names.
    @MainActor @Observable
    final class Log {
        var ended: [String] = []
        var questions: [EndQuestion] = []
    }

    private let searches = Searches()
    private let log = Log()
    private let confirmation: EndConfirmation

    init() {
        confirmation = EndConfirmation { [searches] in await searches.find($0) }
    }

    private func request(_ name: String = "quit", showingIn view: FakeView? = nil) {
        confirmation.request({ [log] in log.ended.append(name) }) { [log] question in
            log.questions.append(question)
            if let view { question.show(in: view) }
        }
    }

    private func waitForSearches(_ count: Int) async {
        await eventually { searches.areWaitingForWork.count == count }
    }

    private func waitForQuestions(_ count: Int) async {
        await eventually { log.questions.count == count }
    }

    @Test("Where nothing would be lost, nobody is asked.")
    func noObstacle() async {
        request()
        await waitForSearches(1)
        #expect(log.ended.isEmpty)
        searches.answer(nil)
        await eventually { log.ended == ["quit"] }
        #expect(log.questions.isEmpty && searches.areWaitingForWork == [true])
    }

    @Test("A second request while the first one waits asks at once, however often the key repeats it.")
    func impatience() async {
        let view = FakeView()
        request()
        await waitForSearches(1)
        request(showingIn: view)
        await waitForSearches(2)
        request(showingIn: view)
        request(showingIn: view)
        searches.answer(.work)
        await waitForQuestions(1)
        #expect(searches.areWaitingForWork == [true, false])
        // The first search was given up.
        searches.answer(nil, 0)
        log.questions.first?.agree()
        view.close()
        request()
        await waitForSearches(3)
        #expect(log.ended == ["quit"])
        searches.answer(nil)
    }

    @Test("The last request counts: quitting while the last window waits to be closed quits.")
    func quitWhileClosing() async {
        request("close")
        await waitForSearches(1)
        request("quit")
        await waitForSearches(2)
        searches.answer(nil, 0)
        searches.answer(nil)
        await eventually { !log.ended.isEmpty }
        #expect(log.ended == ["quit"])
    }

    @Test("A request while the question is open brings it to the front, or ends once nothing would be lost any more.")
    func openQuestion() async {
        let view = FakeView()
        request(showingIn: view)
        await waitForSearches(1)
        searches.answer(.work)
        await waitForQuestions(1)
        request(showingIn: view)
        await waitForSearches(2)
        searches.answer(.work)
        await eventually { view.presentations == 1 }
        #expect(log.questions.count == 1 && view.isOpen)
        request(showingIn: view)
        await waitForSearches(3)
        searches.answer(nil)
        await eventually { log.ended == ["quit"] }
        #expect(!view.isOpen && searches.areWaitingForWork == [true, false, false])
    }

    @Test("An open question gives way to one about something else.")
    func otherQuestion() async {
        let views = [FakeView(), FakeView()]
        request(showingIn: views[0])
        await waitForSearches(1)
        searches.answer(.work)
        await waitForQuestions(1)
        request(showingIn: views[1])
        await waitForSearches(2)
        searches.answer(.drafts)
        await waitForQuestions(2)
        #expect(log.questions.map(\.obstacle) == [.work, .drafts])
        #expect(views.map(\.isOpen) == [false, true] && log.ended.isEmpty)
    }

    @Test("After a question whose window was closed with it, a request asks again.")
    func lostQuestion() async {
        let view = FakeView()
        request(showingIn: view)
        await waitForSearches(1)
        searches.answer(.drafts)
        await waitForQuestions(1)
        view.isOpen = false
        request()
        await waitForSearches(2)
        searches.answer(.drafts)
        await waitForQuestions(2)
        #expect(searches.areWaitingForWork == [true, true])
    }

    @Test("Going on with the program gives up what waits.")
    func cancellation() async {
        request()
        await waitForSearches(1)
        confirmation.cancel()
        searches.answer(nil)
        request("again")
        await waitForSearches(2)
        #expect(log.ended.isEmpty && searches.areWaitingForWork == [true, true])
        searches.answer(nil)
        await eventually { log.ended == ["again"] }
    }

    @Test("A question whose window is being opened is asked once, and not if the user goes on with the program.")
    func awaitedQuestion() async {
        request()
        await waitForSearches(1)
        searches.answer(.drafts)
        await waitForQuestions(1)
        request()
        confirmation.cancel()
        #expect(log.questions.map(\.isAwaited) == [false])
        request()
        await waitForSearches(2)
        #expect(log.ended.isEmpty && searches.areWaitingForWork == [true, true])
        searches.answer(nil)
    }
}
