import ChatCore
import JSONReading

/// The users whose messages are hidden (`m.ignored_user_list`): they neither notify nor count as unread.
struct IgnoredUsers: Equatable, Sendable {
    /// The type of the account data.
    static let type = "m.ignored_user_list"
    /// The setting that stores its content.
    static let setting = "matrix.ignoredUsers"

    let users: Set<MemberID>

    init(_ users: Set<MemberID> = []) { self.users = users }

    /// - Returns: `nil` if the list is malformed, which says nothing of anybody. Other content has none.
    init?(_ content: JSONValue) {
        let list = content["ignored_users"] ?? [:]
        guard let members = list.object else { return nil }
        let valid = members.keys.compactMap { MatrixEvent.identifier(.string($0)) }.filter { $0.hasPrefix("@") }
        users = Set(valid.map { MemberID($0) })
    }

    func contains(_ user: MemberID) -> Bool { users.contains(user) }
}
