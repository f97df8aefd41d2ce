import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend

/// A backup that is deleted while this device works with it.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct CrossedBackupTests {
    private let server = BackupServer()

    @Test("If another device deletes a backup that is being restored, the restore ends.") func restore() async throws {
        let secret = try KeyMaterial()
        let key = try BackupKey(secret)
        let version = server.add(key)
        for session in try BackedUpDevice.sessions(3) { try server.add(session, version, key) }
        let missing: JSONValue = ["status": 404, "errcode": "M_NOT_FOUND"]
        server.fail(BackupServer.Failure(method: .get, path: "room_keys/keys", answer: missing))
        let device = try await BackedUpDevice(server)
        #expect(try await device.backup.adopt(secret))
        await device.clock.waitForSleepers()
        #expect(device.backup.standing.restore != nil)
        server.removeAll()
        device.pass(5)
        let standing = await device.reaches { $0.backup == .off }
        #expect(standing?.restore == nil)
        await device.backup.stop()
    }

    @Test("A backup that another device creates during a deletion is found after it.") func creation() async throws {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        try await device.backup.create(with: KeyMaterial())
        await device.isComplete()
        server.removeAll()
        let missing: JSONValue = ["status": 404, "errcode": "M_NOT_FOUND"]
        server.fail(
            BackupServer.Failure(
                method: .get, path: "/room_keys/version", answer: missing, count: 2, delay: .milliseconds(300)))
        func looks() -> Int {
            server.requests.count { $0.method == .get && $0.url.path.hasSuffix("/room_keys/version") }
        }
        let before = looks()
        let deletion = Task { try await device.backup.delete() }
        // The second one shows that there is nothing left to delete.
        while looks() < before + 2 { try await Task.sleep(for: .milliseconds(5)) }
        let version = server.add(try BackupKey(KeyMaterial()), signed: true)
        await device.backup.lookAgain()
        try await deletion.value
        while server.count(version) < 3 { try await Task.sleep(for: .milliseconds(5)) }
        await device.isComplete()
        await device.backup.stop()
    }

    @Test("Keys that are damaged, and so cannot be uploaded, do not remain.", arguments: [0, 1])
    func damagedKeys(intact: Int) async throws {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        for record in try await device.store.cryptoRecords(.inboundGroupSession, owner: nil).dropFirst(intact) {
            try await device.store.commit(CryptoChange(put: [CryptoRecord(record.key, value: Data([0]))]))
        }
        try await device.backup.create(with: KeyMaterial())
        await device.isComplete()
        #expect(server.count("1") == intact)
        await device.backup.stop()
    }
}
