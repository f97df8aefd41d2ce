import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// Restores all keys of a backup, and goes on with that after an interruption.
///
/// ``KeyBackup`` owns it, and calls it in its isolation.
final class BackupRestore {
    private typealias Found = BackupVersions.Found

    /// The maximum response with keys of a backup, which fits some 400,000.
    private static let maxAnswer = 512 << 20
    /// The number of sessions imported in one transaction.
    private static let importedAtOnce = 100
    /// The number of sessions after which waiting messages are decrypted.
    private static let openedAtOnce = 500
    private static let chunkSize = 64 << 10

    private let machine: CryptoMachine
    private let client: MatrixClient
    private let versions: BackupVersions
    private let folder: URL
    private let didImport: @Sendable (Set<SessionID>) async throws -> Void
    private let feed: ValueFeed<KeyBackup.Standing>

    /// - Parameters:
    ///   - folder: for downloaded responses.
    ///   - didImport: called with sessions that were downloaded.
    init(
        machine: CryptoMachine, client: MatrixClient, versions: BackupVersions, folder: URL,
        didImport: @escaping @Sendable (Set<SessionID>) async throws -> Void, feed: ValueFeed<KeyBackup.Standing>
    ) {
        self.machine = machine
        self.client = client
        self.versions = versions
        self.folder = folder
        self.didImport = didImport
        self.feed = feed
    }

    /// Starts a restore from the beginning, which ``resume(_:)`` performs.
    func begin(_ found: BackupVersions.Found) async throws {
        try await machine.setRestoringBackup(found.version)
        feed.publish { $0.restore = KeyBackup.Progress(restored: 0, total: found.count) }
    }

    /// Continues a restore that was started.
    func resume(_ found: BackupVersions.Found) async throws {
        guard let version = try await machine.restoringBackup() else { return }
        guard version == found.version else {
            // The user may have begun to restore a newer backup than the one found before.
            if versions.isCurrent(found) { try await end(version) }
            return
        }
        // The backup's key comes with the recovery key, or from another device.
        guard let key = try await versions.key(of: found) else { return }
        feed.publish { $0.restore = KeyBackup.Progress(restored: 0, total: found.count) }
        do {
            try await restore(nil, found, key)
        } catch MatrixError.tooLarge {
            for room in try await machine.encryptedRooms() {
                // Keys of a room that exceed the limit are requested message by message, see
                // ``KeyBackup/request(_:areLate:)``.
                do { try await restore(room, found, key) } catch MatrixError.tooLarge { continue }
            }
        }
        try await end(version)
    }

    private func end(_ version: String) async throws {
        guard try await machine.endRestoringBackup(version) else { return }
        feed.publish { $0.restore = nil }
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
        var arrived: Set<SessionID> = []
        do {
            try await read(file, of: room, found, key, &arrived)
        } catch {
            // They are stored, so that the next attempt does not take them for new. A failure is noted for the next sync.
            if !arrived.isEmpty { try? await didImport(arrived) }
            throw error
        }
    }

    /// - Parameter arrived: The sessions whose messages have not been decrypted yet.
    private func read(
        _ file: URL, of room: ExactText?, _ found: Found, _ key: BackupKey, _ arrived: inout Set<SessionID>
    ) async throws {
        let reader = BackupReader(key: key, room: room)
        let stream = JSONStream(receiver: reader)
        let input = try OpenFile(reading: file)
        var waiting: [ExportedSession] = []
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
                try await didImport(arrived)
                arrived = []
            }
            if count == 0 { return }
        }
    }

    private func take(_ sessions: [ExportedSession], from found: Found) async throws -> Set<SessionID> {
        let imported = try await machine.imported(sessions, from: found.version)
        feed.publish { $0.restore?.restored += imported.total }
        return imported.new
    }
}
