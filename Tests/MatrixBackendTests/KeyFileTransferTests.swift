import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct KeyFileTransferTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.path("keys.txt") }

    @Test("Keys of one device are imported by another, with the right passphrase.") func roundTrip() async throws {
        let one = try await BackedUpDevice(BackupServer())
        let sessions = try await one.addSessions(230)
        let export = KeyFileTransfer(machine: one.machine) { _ in }
        #expect(try await export.write(to: file, passphrase: "Größe") == 230)
        let text = try String(contentsOf: file, encoding: .utf8)
        for session in sessions { #expect(!text.contains(session.id.text)) }

        let other = try await BackedUpDevice(BackupServer())
        let imported = MutexBox<Set<SessionID>>([])
        let read = KeyFileTransfer(machine: other.machine) { new in imported.lock.withLock { $0.formUnion(new) } }
        await #expect(throws: EncryptionError.wrongPassphrase) {
            try await read.read(from: file, passphrase: "Grösse")
        }
        #expect(try await read.read(from: file, passphrase: "Größe") == ImportedKeyCount(total: 230, new: 230))
        #expect(imported.lock.withLock { $0.count } == 230)
        #expect(try await read.read(from: file, passphrase: "Größe") == ImportedKeyCount(total: 230, new: 0))
        // Imported keys are not in the backup yet.
        #expect(try await other.machine.remainingInBackup() == 230)
        try text.dropLast(50).write(to: file, atomically: true, encoding: .utf8)
        await #expect(throws: EncryptionError.damagedFile) { try await read.read(from: file, passphrase: "Größe") }
        await #expect(throws: EncryptionError.file(reason: "No such file or directory")) {
            try await read.read(from: folder.path("none"), passphrase: "x")
        }
        await #expect(throws: EncryptionError.file(reason: "No such file or directory")) {
            try await export.write(to: folder.path("none").appending(path: "keys"), passphrase: "x")
        }
    }

    @Test("Keys of a file that cannot be read are counted.") func rejected() async throws {
        let out = try OutboundGroupSession()
        let key = Base64.encoded(try InboundGroupSession(sessionKey: out.sessionKey).exported(at: 0))
        func session(_ key: String) throws -> ExportedSession {
            try ExportedSession([
                "algorithm": "m.megolm.v1.aes-sha2", "room_id": "!r:b", "session_id": .string(try out.id),
                "sender_key": .string("\(OlmAccount().identityKey)"), "session_key": .string(key),
            ])
        }
        let writer = try KeyFileWriter(file, with: try await KeyFileSeal(passphrase: "x"))
        try writer.append([try session(key), try session("AAAA")])
        _ = try writer.finish()
        let device = try await BackedUpDevice(BackupServer())
        let transfer = KeyFileTransfer(machine: device.machine) { _ in }
        #expect(
            try await transfer.read(from: file, passphrase: "x") == ImportedKeyCount(total: 1, new: 1, rejected: 1))
    }

    @Test("A device without keys writes a file without keys.") func none() async throws {
        let device = try await BackedUpDevice(BackupServer())
        let transfer = KeyFileTransfer(machine: device.machine) { _ in }
        #expect(try await transfer.write(to: file, passphrase: "x") == 0)
        #expect(try await transfer.read(from: file, passphrase: "x") == ImportedKeyCount(total: 0, new: 0))
    }
}
