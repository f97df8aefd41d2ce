import ChatCore
import JSONReading
import MatrixCrypto

/// What the user asks of encryption, and is shown of it.
extension AccountEncryption {
    /// Reads something again whenever it may have changed, and asks the server for what it needs.
    /// - Parameter unknown: What there is without keys.
    nonisolated func observing<Value: Equatable & Sendable>(
        _ unknown: Value, _ read: @escaping @Sendable (CryptoMachine) async throws -> Value
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            var last: Value?
            for await _ in revisions.values() {
                var value = unknown
                if let machine = await machine {
                    // What cannot be read now stays what it was.
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

    /// Devices of the user have changed, as the server will say.
    func outdateOwnDevices() async {
        // The server says so as well, with the next sync.
        try? await encrypting { try await $0.outdateOwnDevices() }
    }

    /// Does what the user asks for.
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

    /// How many room keys are in no backup. It is counted without what opens them, too.
    /// - Throws: If that cannot be read, which is never taken for none.
    func keysWithoutBackup() async throws -> Int {
        if let machine { return try await machine.remainingInBackup() }
        guard let storage = try await roomStorage() else { return 0 }
        return try await CryptoMachine.remainingInBackup(in: storage)
    }
}
