import ChatCore

/// Changes the user's notification settings. The sync delivers the changed rules, also to other devices.
struct NotificationRules: Sendable {
    let client: MatrixClient
    let context: AccountContext
    /// Serializes changes, since each depends on the current rules.
    private let gate = SerialGate()

    init(client: MatrixClient, context: AccountContext) {
        self.client = client
        self.context = context
    }

    func set(_ rule: RoomNotificationRule?, of room: RoomID) async throws {
        try await apply { $0.changes(to: rule, of: room) }
    }

    func add(_ keyword: String) async throws {
        let keyword = keyword.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !keyword.isEmpty else { throw ChatError.invalidName }
        try await apply { $0.changes(adding: keyword) }
    }

    func remove(_ keyword: String) async throws {
        try await apply { $0.changes(removing: keyword) }
    }

    private func apply(_ changes: (PushRuleSettings) -> [PushRuleSettings.Change]) async throws {
        try await asking {
            try await gate.run {
                // Another device may have changed the rules since the last sync.
                for change in changes(try await client.pushRules()) { try await client.change(change) }
            }
        }
    }
}
