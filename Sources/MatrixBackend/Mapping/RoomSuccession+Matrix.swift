import ChatCore
import JSONReading

extension RoomSuccession {
    /// Returns a link to the room that an event names.
    /// - Parameter sender: The event's sender, whose server is assumed to be in the room.
    static func link(_ room: JSONValue?, _ sender: MemberID) -> String? {
        guard let id = MatrixEvent.identifier(room), id.hasPrefix("!") else { return nil }
        return MatrixLink.link(to: RoomID(id), by: [sender])
    }
}
