import ChatCore
import ChatOutbox
import Foundation
import Synchronization

/// The unencrypted uploads and events under way in each room. They end when the room becomes encrypted.
///
/// None is missed: an attempt is registered before it asks ``RoomEncryption/way(into:)``, and the attempts of a room are
/// ended after that returns that the room is encrypted.
final class ClearAttempts: Sendable {
    enum Kind: Sendable {
        /// Takes long and can be repeated.
        case upload
        /// May have reached the server if it is canceled.
        case event
    }

    private struct Attempt: Sendable {
        let kind: Kind
        let cancel: @Sendable () -> Void
        let end: @Sendable () async -> Void
    }

    /// How long an event may take before the room is encrypted all the same.
    private static let sendTimeout = Duration.seconds(10)

    private let running = Mutex<[RoomID: [UUID: Attempt]]>([:])

    /// Makes an attempt.
    /// - Throws: ``DeliveryError/unreachable`` if it was ended because of the room's encryption.
    func run<Value: Sendable>(
        _ kind: Kind, in room: RoomID, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let id = UUID()
        // Created under the lock: a task that runs must be registered, or nothing would end it.
        let task = running.withLock { running in
            let task = Task { try await work() }
            running[room, default: [:]][id] = Attempt(
                kind: kind, cancel: { task.cancel() }, end: { _ = await task.result })
            return task
        }
        defer { forget(id, in: room) }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError where !Task.isCancelled {
            throw DeliveryError.unreachable
        }
    }

    private func forget(_ id: UUID, in room: RoomID) {
        running.withLock { running in
            running[room]?[id] = nil
            if running[room]?.isEmpty == true { running[room] = nil }
        }
    }

    private func attempts(in room: RoomID) -> [Attempt] { running.withLock { Array(($0[room] ?? [:]).values) } }

    /// Cancels the uploads of a room that has become encrypted.
    func cancelUploads(in room: RoomID) {
        for attempt in attempts(in: room) where attempt.kind == .upload { attempt.cancel() }
    }

    /// Ends all attempts in a room that is about to be encrypted: uploads at once, events when the server has answered,
    /// or has not for a while.
    func end(in room: RoomID, clock: any Clock<Duration>) async {
        let attempts = attempts(in: room)
        guard !attempts.isEmpty else { return }
        for attempt in attempts where attempt.kind == .upload { attempt.cancel() }
        let limit = Task {
            try await clock.sleep(for: Self.sendTimeout, tolerance: nil)
            for attempt in attempts { attempt.cancel() }
        }
        for attempt in attempts { await attempt.end() }
        limit.cancel()
    }
}
