import Foundation
import MatrixCrypto

/// Which sessions to request from the backup, and when.
struct BackupQuestions {
    /// A room key often arrives right after the message.
    private static let delay: TimeInterval = 60
    private static let interval: TimeInterval = 3_600
    /// Limits the requests per hour that a sender who invents session IDs can cause.
    private static let maxSessions = 1_000

    private var waiting: [SessionID: Date] = [:]
    private var answered: [SessionID: Date] = [:]
    /// Those whose key is known, but begins too late.
    private var late: Set<SessionID> = []

    /// - Parameter areLate: Whether their keys are known, but begin too late.
    /// - Returns: Whether any of them is new.
    mutating func add(_ sessions: Set<SessionID>, areLate: Bool = false, at time: Date) -> Bool {
        answered = answered.filter { abs(time.timeIntervalSince($0.value)) < Self.interval }
        var isChanged = false
        for session in sessions where waiting[session] == nil && answered[session] == nil {
            guard waiting.count + answered.count < Self.maxSessions else { break }
            waiting[session] = time + Self.delay
            isChanged = true
        }
        if areLate { late.formUnion(sessions.filter { waiting[$0] != nil }) }
        return isChanged
    }

    func due(at time: Date) -> Set<SessionID> { Set(waiting.filter { $0.value <= time }.keys) }

    func next(after time: Date) -> Date? { waiting.values.filter { $0 > time }.min() }

    mutating func asked(_ session: SessionID, at time: Date) {
        waiting[session] = nil
        late.remove(session)
        answered[session] = time
    }

    /// Removes sessions whose keys are known, unless they begin too late.
    mutating func removeKnown(_ sessions: Set<SessionID>) {
        for session in sessions.subtracting(late) { waiting[session] = nil }
    }
}
