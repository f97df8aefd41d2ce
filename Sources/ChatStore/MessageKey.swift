import GRDB

/// A message's key in the database: the room's key in the upper 23 bits, the position in the room in the lower 40, so
/// that a room's messages lie in the order of their positions, beside one another.
struct MessageKey: Equatable {
    static let positions: ClosedRange<Int64> = -(1 << 39)...(1 << 39) - 1

    let raw: Int64

    /// The position is brought into ``positions``.
    init(room: Int64, position: Int64) {
        let bounded = min(max(position, Self.positions.lowerBound), Self.positions.upperBound)
        raw = (room << 40) + (1 << 39) + bounded
    }

    init(raw: Int64) {
        self.raw = raw
    }

    var position: Int64 { (raw & ((1 << 40) - 1)) - (1 << 39) }
    var room: Int64 { raw >> 40 }

    static func all(in room: Int64) -> ClosedRange<Int64> {
        MessageKey(room: room, position: positions.lowerBound)
            .raw...MessageKey(
                room: room, position: positions.upperBound
            ).raw
    }
}
