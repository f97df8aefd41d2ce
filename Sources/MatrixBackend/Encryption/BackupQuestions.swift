import Foundation
import MatrixCrypto

/// Which sessions to request from the backup, and when.
struct BackupQuestions {
    private struct Question {
        var time: Date
        /// How often the backup did not have the key.
        var failures = 0
        /// Whether its key is known, but begins too late.
        var isLate = false
    }

    /// A room key often arrives right after the message.
    private static let delay: TimeInterval = 60
    private static let interval: TimeInterval = 3_600
    /// Another device of the user, which has the key, may be switched off for a while before it uploads it.
    private static let repetitions: [TimeInterval] = [interval, 8 * interval, 24 * interval]
    /// Limits the requests per hour that a sender who invents session IDs can cause, and the repeated ones.
    private static let maxSessions = 1_000

    private var waiting: [SessionID: Question] = [:]
    /// Those requested in the last ``interval``.
    private var requested: [SessionID: Date] = [:]

    /// - Parameter areLate: Whether their keys are known, but begin too late.
    /// - Returns: Whether any of them is requested earlier than before.
    mutating func add(_ sessions: Set<SessionID>, areLate: Bool = false, at time: Date) -> Bool {
        requested = requested.filter { abs(time.timeIntervalSince($0.value)) < Self.interval }
        var fresh = waiting.values.count { $0.failures == 0 }
        var isChanged = false
        for session in sessions where requested[session] == nil {
            // There is another message: the key may have come to the backup since.
            let isRepeated = waiting[session].map { $0.failures > 0 && $0.time > time + Self.delay }
            guard isRepeated != false else { continue }
            guard fresh + requested.count < Self.maxSessions else { break }
            waiting[session] = Question(time: time + Self.delay, isLate: waiting[session]?.isLate ?? false)
            fresh += 1
            isChanged = true
        }
        if areLate { for session in sessions { waiting[session]?.isLate = true } }
        return isChanged
    }

    func due(at time: Date) -> Set<SessionID> { Set(waiting.filter { $0.value.time <= time }.keys) }

    func next(after time: Date) -> Date? { waiting.values.map(\.time).filter { $0 > time }.min() }

    /// Notes a request. A key that the backup did not have is requested again, more rarely each time.
    mutating func asked(_ session: SessionID, isFound: Bool, at time: Date) {
        requested[session] = time
        guard var question = waiting.removeValue(forKey: session), !isFound,
            question.failures < Self.repetitions.count, repeated < Self.maxSessions
        else { return }
        question.time = time + Self.repetitions[question.failures]
        question.failures += 1
        waiting[session] = question
    }

    private var repeated: Int { waiting.values.count { $0.failures > 0 } }

    /// Removes sessions whose keys are known, unless they begin too late.
    mutating func removeKnown(_ sessions: Set<SessionID>) {
        for session in sessions where waiting[session]?.isLate == false { waiting[session] = nil }
    }
}
