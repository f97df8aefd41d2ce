/// Schedules saving a changed draft: a fixed delay after the first unsaved change (SLK-39).
///
/// Later changes don't postpone it, which bounds the loss, and key presses don't save individually.
struct DraftSchedule: Sendable, Equatable {
    private(set) var deadline: Duration?

    /// - Returns: whether to save immediately, which is the case without a delay.
    mutating func changed(at now: Duration, delay: Duration) -> Bool {
        guard delay > .zero else { return true }
        if deadline == nil { deadline = now + delay }
        return false
    }

    mutating func expire(at now: Duration) -> Bool {
        guard let deadline, deadline <= now else { return false }
        return flush()
    }

    /// Cancels the deadline because the draft is saved for another reason.
    ///
    /// - Returns: whether a save was pending.
    @discardableResult
    mutating func flush() -> Bool {
        defer { deadline = nil }
        return deadline != nil
    }
}
