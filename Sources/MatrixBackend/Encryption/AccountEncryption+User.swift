import ChatCore
import ChatStore
import JSONReading
import MatrixCrypto

/// What the user sees of encryption, and their actions.
extension AccountEncryption {
    /// Publishes a value of the machine, read again whenever it may have changed, and has the machine make the requests
    /// that reading adds.
    /// - Parameter unknown: The value without keys.
    nonisolated func observing<Value: Equatable & Sendable>(
        _ unknown: Value, _ read: @escaping @Sendable (CryptoMachine) async throws -> Value
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            var last: Value?
            for await _ in revisions.values() {
                var value = unknown
                if let machine = await machine {
                    // After a failed read, keep the last value.
                    guard let found = try? await read(machine) else { continue }
                    value = found
                    await requests?.wake()
                }
                guard value != last else { continue }
                continuation.yield(value)
                last = value
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    func trust(of room: RoomID, by machine: CryptoMachine, in store: ChatStore) async throws -> RoomTrust {
        guard try await isEncrypted(room) else { return RoomTrust() }
        return try await machine.trust(in: ExactText(room.rawValue)) {
            try await store.members(of: room).filter { !$0.hasLeft }.map { ExactText($0.id.rawValue) }
        }
    }

    /// Makes the machine's requests, of which one was added.
    func wakeRequests() async { await requests?.wake() }

    /// Marks the user's device list as outdated, before the sync reports the change.
    func outdateOwnDevices() async {
        // Harmless if it fails: the next sync reports the change as well.
        try? await encrypting { try await $0.outdateOwnDevices() }
    }

    /// Performs an action of the user.
    /// - Throws: ``EncryptionError``.
    func encrypting<Result: Sendable>(
        _ body: @Sendable (CryptoMachine) async throws -> Result
    ) async throws -> Result {
        guard let machine else { throw EncryptionError.unavailable(condition.problem) }
        do {
            let result = try await body(machine)
            await requests?.wake()
            noteChange()
            return result
        } catch let error as CancellationError {
            throw error
        } catch {
            throw EncryptionError.translated(error)
        }
    }

    /// The number of room keys that are in no backup. Counts locked keys, too.
    /// - Throws: If this cannot be read, so that an error is never taken for zero.
    func keysWithoutBackup() async throws -> Int {
        if let backup, isOnline { return try await backup.keysWithoutBackup() }
        if let machine { return try await machine.remainingInBackup() }
        guard let storage = try await roomStorage() else { return 0 }
        return try await CryptoMachine.remainingInBackup(in: storage)
    }
}
