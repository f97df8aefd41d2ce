import ChatCore
import ChatStore
import Foundation
import JSONReading

/// The parts of the user's account data that affect how rooms are shown.
struct AccountData: Equatable, Sendable {
    private(set) var pushRules = PushRules.standard
    /// The push rules' settings for rooms and keywords.
    private(set) var notificationSettings = NotificationSettings()
    /// The direct chats, as the server lists them.
    var listedDirectRooms = DirectRooms() { didSet { updateDirectRooms() } }
    /// How often a sync has brought ``listedDirectRooms``.
    private(set) var directRoomsVersion = 0
    /// Those that the server does not list yet (``DirectRoomList``).
    var unlistedDirectRooms = DirectRooms() { didSet { updateDirectRooms() } }
    /// Both.
    private(set) var directRooms = DirectRooms()
    /// ``DirectRooms/partners`` of both. Each new room of a sync is looked up here.
    private(set) var directPartners: [RoomID: MemberID] = [:]
    private(set) var ignoredUsers = IgnoredUsers()

    init() {}

    /// Reads what an earlier sync stored. Text that is not JSON was damaged; the next sync delivers it again.
    init(from store: ChatStore) async throws {
        func stored(_ setting: String) async throws -> JSONValue? {
            try await store.setting(setting).flatMap { try? JSONValue(parsing: Data($0.utf8)) }
        }
        if let rules = try await stored(PushRules.setting) { read(rules) }
        listedDirectRooms = DirectRooms(try await stored(DirectRooms.setting) ?? [:])
        unlistedDirectRooms = DirectRooms(try await stored(DirectRooms.unlistedSetting) ?? [:])
        // An initializer does not call the observers.
        updateDirectRooms()
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
            listedDirectRooms = DirectRooms(direct)
            directRoomsVersion += 1
            batch.directRooms = Set(directPartners.keys)
        }
        if let content = update.ignoredUsers, let ignored = IgnoredUsers(content), let text = content.text {
            batch.settings[IgnoredUsers.setting] = text
            batch.ignoredUsers = ignored.users
            ignoredUsers = ignored
        }
    }

    private mutating func updateDirectRooms() {
        directRooms = listedDirectRooms.adding(unlistedDirectRooms)
        directPartners = directRooms.partners
    }

    private mutating func read(_ rules: JSONValue) {
        pushRules = PushRules(rules)
        notificationSettings = PushRuleSettings(rules).settings
    }
}
