import ChatCore
import ChatTestSupport
import Foundation
import MatrixCrypto
import Testing

@testable import MatrixBackend

/// When the backup is asked for single keys.
@Suite(.timeLimit(.minutes(10))) struct BackupQuestionsTests {
    @Test("Made-up sessions cause a limited number of requests.") func manyQuestions() {
        var questions = BackupQuestions()
        let now = Fixtures.date
        let sessions = Set((0..<5_000).map { SessionID(room: "!r:b", session: ExactText("\($0)")) })
        var isAdded = questions.add(sessions, at: now)
        #expect(isAdded)
        #expect(questions.due(at: now).isEmpty && questions.due(at: now + 60).count == 1_000)
        for session in questions.due(at: now + 60) { questions.asked(session, isFound: false, at: now + 60) }
        isAdded = questions.add(sessions, at: now + 61)
        #expect(!isAdded && questions.next(after: now) == now + 3_660)
        isAdded = questions.add(sessions, at: now + 3_700)
        #expect(isAdded)
    }

    @Test("A key that the backup does not have is requested again, ever more rarely, or when another message needs it.")
    func repeatedQuestions() {
        var questions = BackupQuestions()
        let session = SessionID(room: "!r:b", session: "s")
        var time = Fixtures.date
        _ = questions.add([session], at: time)
        for wait: TimeInterval in [60, 3_600, 8 * 3_600, 24 * 3_600] {
            #expect(questions.next(after: time) == time + wait)
            time += wait
            #expect(questions.due(at: time) == [session])
            questions.asked(session, isFound: false, at: time)
        }
        #expect(questions.next(after: .distantPast) == nil)
        time += 3_600
        _ = questions.add([session], at: time)
        questions.asked(session, isFound: false, at: time + 60)
        questions.asked(session, isFound: false, at: time + 3_660)
        time += 10_000
        let isEarlier = questions.add([session], at: time)
        #expect(isEarlier && questions.next(after: time) == time + 60)
        questions.asked(session, isFound: true, at: time + 60)
        #expect(questions.next(after: .distantPast) == nil)
    }
}
