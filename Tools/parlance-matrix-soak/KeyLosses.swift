import Synchronization

/// What users whose process was killed have lost, found before the end of a run.
final class KeyLosses: Sendable {
    private let noted = Mutex(0)

    var count: Int { noted.withLock { $0 } }

    func note(_ loss: String) {
        print("lost:", loss)
        noted.withLock { $0 += 1 }
    }

    /// Notes each text that a user should read and does not.
    func note(_ missing: Set<String>, of user: String) {
        for text in missing.sorted() { note("\(user) cannot read \(text)") }
    }
}
