/// When a changed draft is due to be written: soon after the last change, and before too long after the first (SLK-39).
struct DraftSchedule: Sendable, Equatable {
    private var due: Duration?
    private var latest: Duration?

    var deadline: Duration? { due }

    /// - Returns: whether the draft is due at once, which it is without a delay.
    mutating func changed(at now: Duration, delay: Duration) -> Bool {
        guard delay > .zero else { return true }
        let latest = latest ?? now + delay * 6
        self.latest = latest
        due = min(now + delay, latest)
        return false
    }

    mutating func expire(at now: Duration) -> Bool {
        guard let due, due <= now else { return false }
        return settle()
    }

    /// The draft is written for another reason.
    ///
    /// - Returns: whether something was due.
    @discardableResult
    mutating func settle() -> Bool {
        defer {
            due = nil
            latest = nil
        }
        return due != nil
    }
}
