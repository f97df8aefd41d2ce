import ChatCore
import GRDB

/// The latest of what was found so far, at most so many.
struct LatestMatches {
    private let limit: Int
    private var found: [(key: Int64, place: SearchPosition)] = []
    /// Whether there may be more than those, which are not as late.
    var hasMore = false

    /// - Parameter limit: at least 1.
    init(limit: Int) {
        self.limit = limit
    }

    /// The latest first.
    var keys: [Int64] { found.map(\.key) }
    var last: SearchPosition? { found.last?.place }
    var isFull: Bool { found.count >= limit }
    /// What something has to be later than; nil while there is room.
    var worst: SearchPosition? { isFull ? last : nil }

    /// Whether there is a place for it, if it matches.
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

/// How late the messages are that arrived up to some time: the table `arrivalBlock` has it for each 1,024 of them.
struct ArrivalBounds {
    static let shift: Int64 = 10
    private var blocks: [(block: Int64, latest: Int64)]?

    /// Milliseconds since 1970 that no message of this arrival or an earlier one goes beyond.
    mutating func latest(upTo arrival: Int64, in db: Database) throws -> Int64 {
        let blocks = try self.blocks ?? Self.read(db)
        self.blocks = blocks
        // The first block beyond it.
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
