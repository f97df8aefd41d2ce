import GtkKit

/// Leaves the rows below the window empty until the list is drawn for the first time, and then fills them in idle time.
final class RoomRowFilling {
    /// Called to fill a row that waited.
    var onFill: ((Widget) -> Void)?

    /// The minimum height of a row, in pixels.
    private static let minHeight = 48
    /// The time budget of one idle iteration, in microseconds: two fit into a frame besides drawing.
    private static let budget: Int64 = 3000

    /// The number of rows that do not wait: at least as many as the window shows.
    private let firstRows: Int
    private var isDrawn = false
    private var first: [Widget] = []
    private var waiting: [Widget] = []
    private var waitingIdentities: Set<ObjectIdentity> = []
    /// The height of a filled row, in pixels.
    private lazy var rowHeight = first.first?.measure(.vertical).natural
    private var timeout: Timeout?

    /// - Parameter height: The window's height in pixels, or `nil` if it is not known.
    init(height: Int?) {
        firstRows = max(10, (height ?? 1600) / Self.minHeight)
    }

    /// Returns whether the row has to wait; it is as high as the others meanwhile.
    func defers(_ row: Widget) -> Bool {
        if waitingIdentities.contains(row.identity) { return true }
        guard !isDrawn, !first.contains(where: { $0.isSame(as: row) }) else { return false }
        guard first.count == firstRows else {
            first.append(row)
            return false
        }
        row.setSizeRequest(height: rowHeight)
        waiting.append(row)
        waitingIdentities.insert(row.identity)
        return true
    }

    /// Fills the waiting rows.
    func listWasDrawn() {
        guard !isDrawn else { return }
        isDrawn = true
        first = []
        schedule()
    }

    private func schedule() {
        guard !waiting.isEmpty else { return }
        timeout = Timeout(whenIdle: { [weak self] in self?.fill() })
    }

    private func fill() {
        let deadline = MonotonicClock.microseconds + Self.budget
        while !waiting.isEmpty, MonotonicClock.microseconds < deadline {
            let row = waiting.removeFirst()
            waitingIdentities.remove(row.identity)
            row.setSizeRequest()
            onFill?(row)
        }
        schedule()
    }
}
