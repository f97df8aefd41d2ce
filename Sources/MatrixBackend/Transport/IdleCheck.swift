/// Finds out when a transfer has been without data for too long.
///
/// libcurl's own limit (`CURLOPT_LOW_SPEED_TIME`) wakes its thread every second, also while a server delays the response to
/// a long poll. This looks twice in the time that is allowed, so that a transfer ends up to half of that later.
struct IdleCheck {
    private let limit: Duration
    private var count: Int?
    private var since: SuspendingClock.Instant
    /// When to look next.
    private(set) var next: SuspendingClock.Instant

    /// - Parameter limit: The longest time without data.
    init(limit: Duration, at now: SuspendingClock.Instant) {
        self.limit = limit
        since = now
        next = now + limit / 2
    }

    /// - Parameter count: Returns the number of bytes that have been sent and received; `nil` before the request is sent,
    ///   as while it waits for a connection.
    /// - Returns: Whether there were no data for the longest time.
    mutating func isIdle(at now: SuspendingClock.Instant, _ count: () -> Int?) -> Bool {
        guard now >= next else { return false }
        next = now + limit / 2
        let current = count()
        if current == nil || current != self.count {
            self.count = current
            since = now
        }
        return now - since >= limit
    }
}
