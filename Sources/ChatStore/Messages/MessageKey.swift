import GRDB

/// The primary key of a message: the room's key in the upper 23 bits and the position in the lower 40. This clusters
/// the messages of a room in timeline order.
struct MessageKey: Equatable {
    static let positions: ClosedRange<Int64> = -(1 << 39)...(1 << 39) - 1

    let raw: Int64

    /// Clamps the position to ``positions``.
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
