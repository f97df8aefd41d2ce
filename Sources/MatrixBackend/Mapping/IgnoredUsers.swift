import ChatCore
import JSONReading

/// The users whose messages neither notify nor count as unread (`m.ignored_user_list`).
struct IgnoredUsers: Equatable, Sendable {
    /// The type of the account data.
    static let type = "m.ignored_user_list"
    /// The setting that stores its content.
    static let setting = "matrix.ignoredUsers"

    private let users: Set<MemberID>

    init(_ content: JSONValue = [:]) {
        users = Set((content["ignored_users"]?.object ?? [:]).keys.map { MemberID($0) })
    }

    func contains(_ user: MemberID) -> Bool { users.contains(user) }
}
