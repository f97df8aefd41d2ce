import ChatCore
import ChatOutbox
import ChatStore
import Foundation
import Synchronization

/// What a former device of the account may have brought to the server without learning of it. Servers report the
/// transactions of a device to that device alone, so the next one recognizes these messages by their content.
final class FormerAttempts: Sendable {
    private static let deviceSetting = "matrix.device"
    /// When the session of that device ended, in milliseconds since 1970.
    private static let endSetting = "matrix.deviceEnd"
    private static let roomSetting = "matrix.formerAttempts"

    /// Those of a room.
    private struct Record: Codable {
        /// When the former device could last send, in milliseconds since 1970.
        var end: Int64
        /// The transactions of the requests that have not been looked for, or not found yet.
        var requests: Set<String>
        /// The events that were found, by their transactions.
        var events: [String: String] = [:]
    }

    /// A request of a former device.
    struct Attempt {
        /// When the former device could last send; `nil` if its events are not to be looked for any more.
        var end: Date?
        /// The events of the request that were found.
        var events: [TransactionID: MessageID]
        /// The events of all requests.
        var claimed: Set<MessageID>
    }

    private let store: ChatStore
    /// The device that could not be recorded yet.
    private let unrecorded = Mutex<(device: String, time: Date)?>(nil)

    init(store: ChatStore) { self.store = store }

    /// Records that the server has ended the session of the device. Without it, what the user has sent elsewhere since
    /// could be mistaken for what this device has sent.
    func noteEnd(at now: Date) async throws {
        guard try await end() == nil else { return }
        try await store.setSetting("\(Self.milliseconds(now))", for: Self.endSetting)
    }

    /// Records that the server accepts the session of the device, which may have ended softly before.
    func noteBegun() async throws {
        if try await end() != nil { try await store.setSetting("", for: Self.endSetting) }
    }

    /// Records the device that sends from now on, and what its predecessor has attempted. Call it before the first
    /// attempt of the device. If it fails, nothing is sent until it has succeeded.
    func note(_ device: String, at now: Date) async throws {
        guard !device.isEmpty else { return }
        unrecorded.withLock { $0 = (device, now) }
        let end = try await end()
        let former = try await store.setting(Self.deviceSetting)
        if let former, former != device {
            try await record(await attempts(until: end), until: end ?? Self.milliseconds(now))
        }
        // Last: a failure before has the next attempt or start record it.
        if former != device {
            try await store.setSetting(device, for: Self.deviceSetting)
            if end != nil { try await store.setSetting("", for: Self.endSetting) }
        }
        unrecorded.withLock { if $0?.device == device { $0 = nil } }
    }

    /// The requests that the server may have.
    private func attempts(until end: Int64?) async throws -> [OutboxRequest] {
        try await store.outboxRequests().filter { request in
            guard case .send = request.action, request.wasAttempted else { return false }
            if let end, Self.milliseconds(request.queuedAt) > end { return false }
            // What the server has rejected, it does not have. Another failure may follow an unanswered attempt.
            return request.failure.map { SendFailure.isAnswer(reason: $0) } != true
        }
    }

    private func record(_ attempted: [OutboxRequest], until end: Int64) async throws {
        for (room, requests) in Dictionary(grouping: attempted, by: \.room) {
            do {
                var record = Record(end: 0, requests: [])
                do { record = try await self.record(of: room) ?? record } catch is DecodingError {}
                record.end = end
                record.requests.formUnion(requests.map(\.id.rawValue))
                try await set(record, of: room)
            } catch ChatError.notFound {
                // The room was left.
            }
        }
    }

    private func end() async throws -> Int64? { try await store.setting(Self.endSetting).flatMap { Int64($0) } }

    private static func milliseconds(_ time: Date) -> Int64 { Int64(time.timeIntervalSince1970 * 1000) }

    /// - Parameter transactions: All transactions of the request.
    /// - Returns: `nil` if no former device has attempted it.
    /// - Throws: ``DeliveryError/unreachable`` if the device cannot be recorded; ``DeliveryReason/mayBeSent`` if the
    ///   record of the room was damaged, once.
    func attempt(of request: OutboxRequest, _ transactions: [TransactionID]) async throws -> Attempt? {
        if let (device, time) = unrecorded.withLock({ $0 }) {
            do { try await note(device, at: time) } catch { throw DeliveryError.unreachable }
        }
        let found: Record?
        do {
            found = try await record(of: request.room)
        } catch is DecodingError {
            try await store.set("", for: Self.roomSetting, of: request.room)
            throw DeliveryReason.mayBeSent.error
        }
        guard let record = found else { return nil }
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
