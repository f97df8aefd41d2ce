import GtkKit

/// Decides when to restore the order of a list's children after changes that left them out of order.
///
/// When a child is moved or hidden, GTK restyles all later siblings and their descendants. During a scroll, that would
/// be every row in each frame, for an order that is not visible.
final class ChildOrder {
    /// The number of rest times after which it is restored anyway.
    private static let maxRests = 5

    /// How long the children must stay unchanged before the order is restored.
    var restTime = Duration.milliseconds(200)
    /// Called from the main loop to restore the order.
    var onRest: (() -> Void)?
    private var timeout: Timeout?
    private var rests = 0
    private var isDisturbed = false

    /// Whether restoring the order is pending.
    var isPending: Bool { timeout?.isPending == true }

    /// Call this when the children are no longer in order.
    func disturb() {
        isDisturbed = true
        guard !isPending else { return }
        rests = 0
        wait()
    }

    func stop() {
        timeout?.cancel()
        onRest = nil
    }

    private func wait() {
        isDisturbed = false
        timeout = Timeout(after: restTime) { [weak self] in self?.waited() }
    }

    private func waited() {
        rests += 1
        if isDisturbed, rests < Self.maxRests { wait() } else { onRest?() }
    }

    /// Returns which of `positions` stay if as few as possible are moved into ascending order.
    static func staying(_ positions: [Int]) -> [Bool] {
        // For each length, the index of the lowest end of an ascending subsequence of that length.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: positions.count)
        for (index, position) in positions.enumerated() {
            let length = ends.firstIndex { positions[$0] > position } ?? ends.count
            previous[index] = length > 0 ? ends[length - 1] : nil
            if length == ends.count { ends.append(index) } else { ends[length] = index }
        }
        var stays = [Bool](repeating: false, count: positions.count)
        var next = ends.last
        while let index = next {
            stays[index] = true
            next = previous[index]
        }
        return stays
    }
}
