import ChatCore
import Foundation
import Glibc
import MatrixCrypto
import Ratchets

/// Exports this device's room keys to a file, and imports those of one.
struct KeyFileTransfer: Sendable {
    /// The number of sessions in memory at once.
    private static let limit = 100

    let machine: CryptoMachine
    /// Called with imported sessions.
    let didImport: @Sendable (Set<SessionID>) async throws -> Void

    /// - Returns: The number of exported keys.
    /// - Throws: ``EncryptionError``. An existing file is then unchanged.
    func write(to file: URL, passphrase: String) async throws -> Int {
        try await Self.asking {
            let writer = try KeyFileWriter(file, with: try await KeyFileSeal(passphrase: passphrase))
            var last: SessionID?
            while true {
                try Task.checkCancellation()
                let sessions = try await machine.exportedSessions(after: last, limit: Self.limit)
                try writer.append(sessions)
                guard sessions.count == Self.limit, let end = sessions.last else { return try writer.finish() }
                last = SessionID(room: end.room, session: end.id)
            }
        }
    }

    /// - Throws: ``EncryptionError``. Keys imported before the error stay.
    func read(from file: URL, passphrase: String) async throws -> ImportedKeyCount {
        try await Self.asking {
            let reader = try KeyFileReader(try await OpenedKeyFile(file, passphrase: passphrase))
            var count = ImportedKeyCount(total: 0, new: 0)
            while let sessions = try reader.next() {
                try Task.checkCancellation()
                let imported = try await machine.imported(sessions)
                count.total += imported.total
                count.new += imported.new.count
                count.rejected += imported.rejected
                if !imported.new.isEmpty { try await didImport(imported.new) }
            }
            count.rejected += reader.rejected
            return count
        }
    }

    private static func asking<Value>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let failure as KeyFile.Failure {
            throw error(failure)
        } catch {
            throw EncryptionError.translated(error)
        }
    }

    private static func error(_ failure: KeyFile.Failure) -> EncryptionError {
        switch failure {
        case .wrongPassphrase: .wrongPassphrase
        case .damaged, .rounds, .library: .damagedFile
        case .tooLarge: .file(reason: "larger than \(KeyFile.maxBytes >> 20) MiB")
        case .file(let code): .file(reason: String(cString: strerror(code)))
        }
    }
}
