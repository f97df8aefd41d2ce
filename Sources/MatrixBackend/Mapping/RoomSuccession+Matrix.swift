import ChatCore
import JSONReading

extension RoomSuccession {
    /// Kept of a room: a link to where it goes on, what was said of that, and a link to where it comes from.
    static let nextSetting = "matrix.replacement"
    static let reasonSetting = "matrix.replacementReason"
    static let previousSetting = "matrix.predecessor"

    /// A link to a room that an event names.
    /// - Parameter sender: whose server knows of it.
    static func link(_ room: JSONValue?, _ sender: MemberID) -> String? {
        guard let id = MatrixEvent.identifier(room), id.hasPrefix("!") else { return nil }
        return MatrixLink.link(to: RoomID(id), by: [sender])
    }
}
