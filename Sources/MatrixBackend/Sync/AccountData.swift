import ChatCore
import ChatStore
import Foundation
import JSONReading

/// The parts of the user's account data that affect how rooms are shown.
struct AccountData: Equatable, Sendable {
    private(set) var pushRules = PushRules.standard
    /// The push rules' settings for rooms and keywords.
    private(set) var notificationSettings = NotificationSettings()
    var directRooms = DirectRooms()
    private(set) var ignoredUsers = IgnoredUsers()

    init() {}

    /// Reads what an earlier sync stored. Text that is not JSON was damaged; the next sync delivers it again.
    init(from store: ChatStore) async throws {
        func stored(_ setting: String) async throws -> JSONValue? {
            try await store.setting(setting).flatMap { try? JSONValue(parsing: Data($0.utf8)) }
        }
        if let rules = try await stored(PushRules.setting) { read(rules) }
        directRooms = DirectRooms(try await stored(DirectRooms.setting) ?? [:])
        if let list = try await stored(IgnoredUsers.setting).flatMap({ IgnoredUsers($0) }) {
            ignoredUsers = list
        } else {
            // What is hidden stays so if only the list was lost: the server does not send it again until it changes.
            ignoredUsers = IgnoredUsers(try await store.ignoredUsers())
        }
    }

    /// Applies the account data of an update and adds it to what is to be stored. Content that cannot be encoded,
    /// such as a number out of range, is ignored, because the failure would recur with each sync.
    mutating func apply(_ update: SyncUpdate, storing batch: inout SyncBatch) {
        if let rules = update.pushRules, let text = rules.text {
            batch.settings[PushRules.setting] = text
            read(rules)
        }
        if let direct = update.direct, let text = direct.text {
            batch.settings[DirectRooms.setting] = text
            directRooms = DirectRooms(direct)
            batch.directRooms = Set(directRooms.partners.keys)
        }
        if let content = update.ignoredUsers, let ignored = IgnoredUsers(content), let text = content.text {
            batch.settings[IgnoredUsers.setting] = text
            batch.ignoredUsers = ignored.users
            ignoredUsers = ignored
        }
    }

    private mutating func read(_ rules: JSONValue) {
        pushRules = PushRules(rules)
        notificationSettings = PushRuleSettings(rules).settings
    }
}
