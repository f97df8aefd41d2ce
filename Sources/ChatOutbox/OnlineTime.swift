/// How long the network has been available, as measured by a stopwatch.
struct OnlineTime {
    private var earlier = Duration.zero
    /// When the network became available; `nil` while it is not.
    private var since: Duration?

    /// The stopwatch has just started.
    init(isOnline: Bool) { since = isOnline ? .zero : nil }

    var isOnline: Bool { since != nil }

    mutating func set(_ isOnline: Bool, at now: Duration) {
        earlier = total(at: now)
        since = isOnline ? now : nil
    }

    func total(at now: Duration) -> Duration { earlier + (since.map { now - $0 } ?? .zero) }
}
