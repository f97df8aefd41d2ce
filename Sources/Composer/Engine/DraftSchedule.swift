/// When a changed draft is due to be written: a set time after the first change that was not written (SLK-39).
///
/// Later changes don't put it off, so what is stored is never further behind than that, and no key press writes by
/// itself.
struct DraftSchedule: Sendable, Equatable {
    private(set) var deadline: Duration?

    /// - Returns: whether the draft is due at once, which it is without a delay.
    mutating func changed(at now: Duration, delay: Duration) -> Bool {
        guard delay > .zero else { return true }
        if deadline == nil { deadline = now + delay }
        return false
    }

    mutating func expire(at now: Duration) -> Bool {
        guard let deadline, deadline <= now else { return false }
        return flush()
    }

    /// The draft is written for another reason.
    ///
    /// - Returns: whether something was due.
    @discardableResult
    mutating func flush() -> Bool {
        defer { deadline = nil }
        return deadline != nil
    }
}
