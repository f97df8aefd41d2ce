/// Which messages of a room notify.
public enum RoomNotificationRule: String, CaseIterable, Equatable, Sendable {
    case all
    /// Only messages that mention the user or contain a keyword.
    case mentions
    case nothing
}

/// The user's notification settings, which apply to all of their devices.
public struct NotificationSettings: Equatable, Sendable {
    /// The rooms with a rule of their own; all others follow the account's defaults.
    public var rooms: [RoomID: RoomNotificationRule]
    /// Words that notify like a mention, in the order in which they are checked.
    public var keywords: [String]

    public init(rooms: [RoomID: RoomNotificationRule] = [:], keywords: [String] = []) {
        self.rooms = rooms
        self.keywords = keywords
    }
}

/// The user's notification settings. Methods throw ``ChatError/notPermitted`` without
/// ``BackendCapabilities/notificationSettings``.
public protocol NotificationSettingsService: Sendable {
    /// The current settings, then each change, including those made on other devices.
    func notificationSettings() -> AsyncStream<NotificationSettings>
    /// Sets a room's rule; with `nil` it follows the account's defaults.
    func setNotificationRule(_ rule: RoomNotificationRule?, of room: RoomID) async throws
    /// Adds a keyword unless an equal one exists, ignoring case.
    /// - Throws: ``ChatError/invalidName`` for a blank one.
    func addKeyword(_ keyword: String) async throws
    func removeKeyword(_ keyword: String) async throws
}

extension NotificationSettingsService {
    public func notificationSettings() -> AsyncStream<NotificationSettings> { AsyncStream { $0.finish() } }
    public func setNotificationRule(_ rule: RoomNotificationRule?, of room: RoomID) async throws {
        throw ChatError.notPermitted
    }
    public func addKeyword(_ keyword: String) async throws { throw ChatError.notPermitted }
    public func removeKeyword(_ keyword: String) async throws { throw ChatError.notPermitted }
}
