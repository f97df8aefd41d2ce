import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// Restores all keys of a backup.
extension KeyBackup {
    /// The maximum response with keys of a backup, which fits some 400,000.
    private static let maxAnswer = 512 << 20
    /// The number of sessions imported in one transaction.
    private static let importedAtOnce = 100
    /// The number of sessions after which waiting messages are decrypted.
    private static let openedAtOnce = 500
    private static let chunkSize = 64 << 10

    /// Continues a restore that was started.
    func restorePending(_ found: Found) async throws {
        guard let version = try await machine.restoringBackup() else { return }
        guard version == found.version else {
            // The user may have begun to restore a newer backup than the one found before.
            if isCurrent(found) { try await end(version) }
            return
        }
        // The backup's key comes with the recovery key, or from another device.
        guard let key = try await key(of: found) else { return }
        publish { $0.restore = Progress(restored: 0, total: found.count) }
        do {
            try await restore(nil, found, key)
        } catch MatrixError.tooLarge {
            for room in try await machine.encryptedRooms() {
                // A room's keys that exceed the limit are requested message by message (``request(_:)``).
                do { try await restore(room, found, key) } catch MatrixError.tooLarge { continue }
            }
        }
        try await end(version)
    }

    private func end(_ version: String) async throws {
        guard try await machine.endRestoringBackup(version) else { return }
        publish { $0.restore = nil }
    }

    private func restore(_ room: ExactText?, _ found: Found, _ key: BackupKey) async throws {
        let file = folder.appending(path: "backup.part", directoryHint: .notDirectory)
        // Overwrites the file of a process that ended early. If it cannot be removed now, the next restore removes it.
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try await client.fetchBackedUpKeys(of: room, version: found.version, to: file, limit: Self.maxAnswer)
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) where room != nil {
            return
        }
        let reader = BackupReader(key: key, room: room)
        let stream = JSONStream(receiver: reader)
        let input = try OpenFile(reading: file)
        var waiting: [ExportedSession] = []
        var arrived: Set<SessionID> = []
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            try Task.checkCancellation()
            let count = try input.read(into: buffer)
            do {
                if count == 0 { try stream.finish() } else { try stream.feed(Data(buffer[..<count])) }
            } catch {
                throw MatrixError.malformed(reason: "a backup: \(error)")
            }
            waiting += reader.takeSessions()
            if waiting.count >= Self.importedAtOnce || count == 0 {
                arrived.formUnion(try await take(waiting, from: found))
                waiting = []
            }
            if arrived.count >= Self.openedAtOnce || count == 0, !arrived.isEmpty {
                try await hooks.didImport(arrived)
                arrived = []
            }
            if count == 0 { return }
        }
    }

    private func take(_ sessions: [ExportedSession], from found: Found) async throws -> Set<SessionID> {
        let imported = try await machine.imported(sessions, from: found.version)
        publish { $0.restore?.restored += imported.total }
        return imported.new
    }
}
