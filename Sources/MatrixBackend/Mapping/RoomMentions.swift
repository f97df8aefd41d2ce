import ChatCore
import ChatStore
import Composer

/// Names the servers through which mentioned rooms can be joined: IDs of rooms of version 12 name none.
struct RoomMentions: Sendable {
    let store: ChatStore
    let ownUserID: MemberID

    /// Returns the text with the servers of the members of each room that it mentions by its ID and without servers.
    func addingServers(to text: WrittenText) async -> WrittenText {
        var marks = text.marks
        for index in marks.indices {
            guard case .room(let id, let via)? = marks[index].mention, id.hasPrefix("!"), via.isEmpty else { continue }
            // A room that the user is not in stays without servers.
            guard let members = try? await store.members(of: RoomID(id)) else { continue }
            let servers = MatrixLink.servers(of: [ownUserID] + members.filter { !$0.hasLeft }.map(\.id))
            marks[index].content = .mention(.room(id, via: servers))
        }
        return WrittenText(text.source, syntax: text.syntax, marks: marks) ?? text
    }
}
