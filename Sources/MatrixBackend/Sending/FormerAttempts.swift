import ChatCore
import ChatStore
import Foundation

/// What a former device of the account may have brought to the server without learning of it. Servers report the
/// transactions of a device to that device alone, so the next one recognizes these messages by their content.
struct FormerAttempts: Sendable {
    private static let deviceSetting = "matrix.device"
    private static let roomSetting = "matrix.formerAttempts"

    /// Those of a room.
    private struct Record: Codable {
        /// When another device took the place of the former one, in milliseconds since 1970.
        var end: Int64
        /// The transactions of the requests that have not been looked for, or not found yet.
        var requests: Set<String>
        /// The events that were found, by their transactions.
        var events: [String: String] = [:]
    }

    /// A request of a former device.
    struct Attempt {
        /// When the former device was replaced; `nil` if its events are not to be looked for any more.
        var end: Date?
        /// The events of the request that were found.
        var events: [TransactionID: MessageID]
        /// The events of all requests.
        var claimed: Set<MessageID>
    }

    let store: ChatStore

    /// Records the device that sends from now on, and what its predecessor has attempted. Call it before the first
    /// attempt of the device.
    func note(_ device: String, at now: Date) async throws {
        guard !device.isEmpty else { return }
        let former = try await store.setting(Self.deviceSetting)
        guard former != device else { return }
        if former != nil {
            // What was rejected, the server does not have.
            let attempted = try await store.outboxRequests().filter { request in
                guard case .send = request.action else { return false }
                return request.wasAttempted && request.failure == nil
            }
            for (room, requests) in Dictionary(grouping: attempted, by: \.room) {
                do {
                    var record = try await record(of: room) ?? Record(end: 0, requests: [])
                    record.end = Int64(now.timeIntervalSince1970 * 1000)
                    record.requests.formUnion(requests.map(\.id.rawValue))
                    try await set(record, of: room)
                } catch ChatError.notFound {
                    // The room was left.
                }
            }
        }
        // Last: a failure before has the next start record it.
        try await store.setSetting(device, for: Self.deviceSetting)
    }

    /// - Parameter transactions: All transactions of the request.
    /// - Returns: `nil` if no former device has attempted it.
    func attempt(of request: OutboxRequest, _ transactions: [TransactionID]) async throws -> Attempt? {
        guard let record = try await record(of: request.room) else { return nil }
        var attempt = Attempt(events: [:], claimed: Set(record.events.values.map { MessageID($0) }))
        for transaction in transactions {
            attempt.events[transaction] = record.events[transaction.rawValue].map { MessageID($0) }
        }
        if record.requests.contains(request.id.rawValue) {
            attempt.end = Date(timeIntervalSince1970: Double(record.end) / 1000)
        }
        return attempt.end == nil && attempt.events.isEmpty ? nil : attempt
    }

    /// Records events that were found, before the request counts as sent, so that no other request is taken for them.
    /// - Parameter isOver: Whether to look for no others.
    func note(_ events: [TransactionID: MessageID], of request: OutboxRequest, isOver: Bool) async throws {
        guard var record = try await record(of: request.room) else { return }
        for (transaction, event) in events { record.events[transaction.rawValue] = event.rawValue }
        if isOver { record.requests.remove(request.id.rawValue) }
        try await set(record, of: request.room)
    }

    private func record(of room: RoomID) async throws -> Record? {
        guard let text = try await store.setting(Self.roomSetting, of: room), !text.isEmpty else { return nil }
        return try JSONDecoder().decode(Record.self, from: Data(text.utf8))
    }

    private func set(_ record: Record, of room: RoomID) async throws {
        let data = try JSONEncoder().encode(record)
        try await store.set(String(decoding: data, as: UTF8.self), for: Self.roomSetting, of: room)
    }
}
