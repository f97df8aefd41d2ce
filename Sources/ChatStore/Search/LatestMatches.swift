import ChatCore
import GRDB

/// Collects the latest matches, up to a limit.
struct LatestMatches {
    private let limit: Int
    private var found: [(key: Int64, place: SearchPosition)] = []
    /// Whether older matches may have been dropped.
    var hasMore = false

    /// Creates an empty collection.
    /// - Parameter limit: At least 1.
    init(limit: Int) {
        self.limit = limit
    }

    /// The keys, latest first.
    var keys: [Int64] { found.map(\.key) }
    var last: SearchPosition? { found.last?.place }
    var isFull: Bool { found.count >= limit }
    /// The position that further matches have to exceed, or `nil` until the limit is reached.
    var worst: SearchPosition? { isFull ? last : nil }

    /// Whether a match at this position would be retained.
    mutating func accepts(_ position: SearchPosition) -> Bool {
        guard let worst, position < worst else { return true }
        hasMore = true
        return false
    }

    mutating func insert(_ key: Int64, at position: SearchPosition) {
        let index = found.lastIndex { $0.place > position }.map { $0 + 1 } ?? 0
        found.insert((key, position), at: index)
        guard found.count > limit else { return }
        found.removeLast()
        hasMore = true
    }
}

/// The latest send times by arrival, from the table `arrivalBlock`, which has one row for 1,024 messages.
struct ArrivalBounds {
    static let shift: Int64 = 10
    private var blocks: [(block: Int64, latest: Int64)]?

    /// Returns an upper bound of the send times up to this arrival, in milliseconds since 1970.
    mutating func latest(upTo arrival: Int64, in db: Database) throws -> Int64 {
        let blocks = try self.blocks ?? Self.read(db)
        self.blocks = blocks
        // Binary search for the first block after it.
        var (low, high) = (0, blocks.count)
        while low < high {
            let middle = (low + high) / 2
            if blocks[middle].block <= arrival >> Self.shift { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? blocks[low - 1].latest : .min
    }

    private static func read(_ db: Database) throws -> [(block: Int64, latest: Int64)] {
        var blocks: [(block: Int64, latest: Int64)] = []
        let rows = try Row.fetchCursor(
            db.cachedStatement(sql: "SELECT block, latest FROM arrivalBlock ORDER BY block"))
        while let row = try rows.next() {
            let latest: Int64 = try row.value("latest")
            blocks.append((try row.value("block"), max(latest, blocks.last?.latest ?? .min)))
        }
        return blocks
    }
}
