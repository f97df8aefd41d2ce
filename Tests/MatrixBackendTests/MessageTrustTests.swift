import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing
import ToolSupport

@testable import MatrixBackend

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(5))) struct MessageTrustTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()

    @Test("Unencrypted messages are marked, except those from before the room was known to be encrypted")
    func clearMessage() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        let ann = try await account.peer()
        let known = Int64(Fixtures.date.timeIntervalSince1970 * 1000)
        let body: JSONValue = ["msgtype": "m.text", "body": "x"]
        try await account.sync(
            [
                Events.event("$1", "m.room.message", body, by: "@ann:example.org", at: known - 1),
                Events.event("$2", "m.room.message", body, by: "@ann:example.org", at: known + 1),
                try ann.event("$3", body, at: known + 2),
            ], toDevice: [ann.key()])
        #expect(try await account.messages.map(\.trust) == [nil, .notEncrypted, nil])
        await account.close()
    }

    @Test("Retrying hidden messages waits for the write in progress, which may be about to store another one")
    @MainActor func hiddenMessageBeingStored() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        let (backend, gate, finished) = (account.backend, Gate(), Recorder<Bool>())
        let writing = Task { await backend.writer.serialized { await gate.pass() } }
        await eventually { gate.waiting == 1 }
        let retrying = Task {
            try await backend.sealed.openConfirmed(of: ["@ann:example.org"])
            finished.record(true)
        }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(finished.values.isEmpty)
        gate.open()
        await writing.value
        try await retrying.value
        await account.close()
    }

    @Test("Before a sign-out, keys missing from the backup are counted, even while they cannot be opened")
    func keysWithoutBackup() async throws {
        var account = try await EncryptedAccount.start(in: folder, credentials)
        #expect(try await account.backend.keys.keysWithoutBackup() == 0)
        let ann = try await account.peer()
        try await account.sync([try ann.text("$1", "x")], toDevice: [try ann.key()])
        #expect(try await account.backend.keys.keysWithoutBackup() == 1)
        await account.close()
        account = try await EncryptedAccount.start(in: folder, nil)
        #expect(try await account.backend.keys.keysWithoutBackup() == 1)
        await account.close()
        let file = account.store.folder.appending(path: "keys.sqlite")
        for suffix in ["", "-wal", "-shm"] {
            // SQLite removes the write-ahead log with the last connection, so it may be missing.
            try? FileManager.default.removeItem(atPath: file.path + suffix)
        }
        account = try await EncryptedAccount.start(in: folder, nil)
        await #expect(throws: (any Error).self) { try await account.backend.keys.keysWithoutBackup() }
        await account.close()
    }
}
