import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct KeyBackupTests {
    private let server = BackupServer()

    // MARK: Writing

    @Test("A new backup receives all keys, encrypted for its key.") func creation() async throws {
        let device = try await BackedUpDevice(server)
        await device.backup.wake()
        await device.reaches { $0.backup == .off }
        try await device.addSessions(230)
        await device.backup.wake()
        #expect(server.uploads.isEmpty)
        let key = try KeyMaterial()
        try await device.backup.create(with: key)
        await device.isComplete()
        #expect(server.count("1") == 230 && server.uploads.count == 3)
        let post = try #require(server.requests.first { $0.method == .post }?.json)
        #expect(post["algorithm"] == "m.megolm_backup.v1.curve25519-aes-sha2")
        #expect(post["auth_data"]?["public_key"]?.string == "\(try BackupKey(key).publicKey)")
        #expect(post["auth_data"]?["signatures"]?["@me:example.org"]?["ed25519:D"] == "signed")
        #expect(try await device.machine.backupKey(for: BackupKey(key).publicKey)?.isEqual(to: key) == true)
        // Keys that arrive later are uploaded then.
        try await device.addSessions(1)
        await device.backup.wake()
        while server.count("1") < 231 { try await Task.sleep(for: .milliseconds(5)) }
        try await device.backup.noteChoice(isEnabled: true)
        #expect(server.accountData["m.key_backup"] == ["enabled": true])
    }

    /// A device with three keys, whose look for a backup takes a while and finds none.
    private func deviceDuringLook() async throws -> BackedUpDevice {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        let missing: JSONValue = ["status": 404, "errcode": "M_NOT_FOUND"]
        server.fail(
            BackupServer.Failure(method: .get, path: "version", answer: missing, delay: .milliseconds(300)))
        await device.backup.wake()
        while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        return device
    }

    @Test("A response from before the creation does not turn the new backup off.") func lateResponse() async throws {
        let device = try await deviceDuringLook()
        try await device.backup.create(with: KeyMaterial())
        while server.count("1") < 3 { try await Task.sleep(for: .milliseconds(5)) }
        await device.isComplete()
    }

    @Test("A look that is asked for during another one is made after it.") func secondLook() async throws {
        let device = try await deviceDuringLook()
        server.add(try BackupKey(KeyMaterial()), signed: true)
        await device.backup.lookAgain()
        while server.count("1") < 3 { try await Task.sleep(for: .milliseconds(5)) }
        await device.isComplete()
    }

    @Test("A backup whose response was lost is recognized by its key.") func lostAnswer() async throws {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        server.fail(BackupServer.Failure(method: .post, path: "version", arrives: true))
        let key = try KeyMaterial()
        await #expect(throws: MatrixError.self) { try await device.backup.create(with: key) }
        await device.backup.stop()
        let restarted = try await BackedUpDevice(server, restarting: device)
        await restarted.backup.wake()
        await restarted.isComplete()
        #expect(server.count("1") == 3)
        #expect(try await restarted.machine.backupKey(for: BackupKey(key).publicKey) != nil)
    }

    @Test("Nothing is uploaded to an untrusted backup.") func untrusted() async throws {
        server.add(try BackupKey(KeyMaterial()))
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        await device.backup.wake()
        await device.reaches { $0.backup == .untrusted }
        await device.backup.wake()
        await device.backup.lookAgain()
        while server.requests.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(server.requests.allSatisfy { $0.method == .get } && server.count("1") == 0)
        await #expect(throws: EncryptionError.incompleteRecovery) { try await device.backup.restore() }
    }

    @Test("Nothing is uploaded to a backup with an unknown algorithm or without a description.") func malformed()
        async throws
    {
        for (answer, isMalformed): (JSONValue, Bool) in [
            (
                ["version": "1", "algorithm": "other", "auth_data": ["public_key": "x", "signatures": ["x": "y"]]],
                false
            ),
            (
                [
                    "version": "1", "algorithm": .string(ListedBackup.algorithm),
                    "auth_data": ["signatures": ["x": "y"]],
                ], false
            ),
            (["version": "1", "algorithm": .string(ListedBackup.algorithm), "auth_data": []], true),
            (["algorithm": .string(ListedBackup.algorithm), "auth_data": ["signatures": ["x": "y"]]], true),
            ([:], true),
        ] {
            let server = BackupServer()
            server.fail(BackupServer.Failure(method: .get, path: "version", answer: answer, count: 100))
            let device = try await BackedUpDevice(server)
            try await device.addSessions(1)
            await device.backup.wake()
            await device.reaches { standing in
                if isMalformed, case .failing(1, _) = standing.backup { return true }
                return !isMalformed && standing.backup == .untrusted
            }
            #expect(server.uploads.isEmpty)
            await device.backup.stop()
        }
    }

    @Test("Keys are uploaded to a backup signed by a trusted device.") func trusted() async throws {
        server.add(try BackupKey(KeyMaterial()), signed: true)
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        await device.backup.wake()
        await device.isComplete()
        #expect(server.count("1") == 3)
        await #expect(throws: EncryptionError.incompleteRecovery) { try await device.backup.restore() }
    }

    @Test("When another device has created a new backup, all keys are uploaded to it.") func replaced() async throws {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        try await device.backup.create(with: KeyMaterial())
        await device.isComplete()
        server.add(try BackupKey(KeyMaterial()), signed: true)
        try await device.addSessions(1)
        await device.backup.wake()
        await device.clock.waitForSleepers()
        device.pass(5)
        while server.count("2") < 4 { try await Task.sleep(for: .milliseconds(5)) }
        await device.isComplete()
        #expect(server.count("1") == 3)
    }

    @Test("When another device deletes the backup, it is off and keys are counted.") func deletedElsewhere()
        async throws
    {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        try await device.backup.create(with: KeyMaterial())
        await device.isComplete()
        server.removeAll()
        try await device.addSessions(1)
        await device.backup.wake()
        await device.clock.waitForSleepers()
        device.pass(5)
        await device.reaches { $0.backup == .off }
        #expect(try await device.machine.remainingInBackup() == 4)
    }

    @Test("Keys are counted by the backup that the server has now, or not at all.") func countByServer() async throws {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        try await device.backup.create(with: KeyMaterial())
        await device.isComplete()
        #expect(try await device.backup.keysWithoutBackup() == 0)
        // As after a reset on another device.
        server.removeAll()
        server.add(try BackupKey(KeyMaterial()))
        #expect(try await device.backup.keysWithoutBackup() == 3)
        server.removeAll()
        #expect(try await device.backup.keysWithoutBackup() == 3)
        server.fail(BackupServer.Failure(method: .get, path: "/room_keys/version"))
        await #expect(throws: MatrixError.self) { try await device.backup.keysWithoutBackup() }

        let away = BackupServer()
        away.fail(BackupServer.Failure(method: .get, path: "/room_keys/version"))
        let other = try await BackedUpDevice(away)
        #expect(try await other.backup.keysWithoutBackup() == 0, "without any key, there is nothing to ask")
    }

    @Test("A rejection is reported with its reason, and the request is repeated.") func refused() async throws {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        server.fail(
            BackupServer.Failure(
                method: .put, path: "room_keys", answer: ["status": 403, "errcode": "M_FORBIDDEN", "error": "No"]))
        try await device.backup.create(with: KeyMaterial())
        await device.reaches { $0.backup == .failing(remaining: 3, reason: "M_FORBIDDEN") }
        await device.clock.waitForSleepers()
        device.pass(5)
        await device.isComplete()
        #expect(server.count("1") == 3)
    }

    @Test("A lost connection is no rejection, and a lost response only repeats the request.")
    func unreachable() async throws {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        server.fail(BackupServer.Failure(method: .put, path: "room_keys", arrives: true))
        try await device.backup.create(with: KeyMaterial())
        await device.clock.waitForSleepers()
        #expect(device.backup.standing.backup == .on(remaining: 3))
        device.pass(5)
        await device.isComplete()
        #expect(server.count("1") == 3 && server.uploads.count == 2)
    }

    @Test("Requests that are too large are repeated with fewer keys.") func tooLarge() async throws {
        let device = try await BackedUpDevice(server)
        try await device.addSessions(60)
        server.fail(
            BackupServer.Failure(
                method: .put, path: "room_keys", answer: ["status": 413, "errcode": "M_TOO_LARGE"], count: 2))
        try await device.backup.create(with: KeyMaterial())
        for _ in 0..<2 {
            await device.clock.waitForSleepers()
            device.pass(5)
        }
        await device.isComplete()
        // 60 keys, 50, and then 25 per request.
        #expect(server.uploads.count == 5 && server.count("1") == 60)
    }

    @Test("A failed lookup does not count as a missing backup.") func failedLook() async throws {
        server.add(try BackupKey(KeyMaterial()), signed: true)
        for answer: JSONValue in [
            ["status": 502], ["status": 404], ["status": 404, "errcode": "M_UNRECOGNIZED"],
            ["status": 403, "errcode": "M_FORBIDDEN"],
        ] {
            server.fail(BackupServer.Failure(method: .get, path: "version", answer: answer))
            let device = try await BackedUpDevice(server)
            try await device.addSessions(1)
            await device.backup.wake()
            await device.clock.waitForSleepers()
            #expect(device.backup.standing.backup != .off)
            device.pass(5)
            await device.isComplete()
            await device.backup.stop()
        }
    }

    @Test("Deleting the backup removes it from the server and keeps its key, which the recovery key restores.")
    func deletion() async throws {
        server.add(try BackupKey(KeyMaterial()))
        let device = try await BackedUpDevice(server)
        try await device.addSessions(3)
        let key = try KeyMaterial()
        try await device.backup.create(with: key)
        await device.isComplete()
        try await device.backup.delete()
        #expect(server.versions.isEmpty && device.backup.standing == KeyBackup.Standing(backup: .off))
        #expect(try await device.machine.storedSecrets()[.backup]?.isEqual(to: key) == true)
        #expect(try await device.machine.preparedBackupKey() == nil)
        let count = server.uploads.count
        try await device.addSessions(1)
        await device.backup.wake()
        #expect(try await device.machine.remainingInBackup() == 4)
        #expect(server.uploads.count == count)
        try await device.backup.noteChoice(isEnabled: false)
        #expect(server.accountData["m.key_backup"] == ["enabled": false])
    }

    // MARK: Restoring

    /// Creates a backup by another device.
    private func written(_ count: Int) async throws -> KeyMaterial {
        let key = try KeyMaterial()
        let other = try await BackedUpDevice(server)
        try await other.addSessions(count)
        try await other.backup.create(with: key)
        await other.isComplete()
        await other.backup.stop()
        return key
    }

    @Test("All keys of a backup are restored, and not uploaded again.") func restore() async throws {
        let key = try await written(730)
        let uploads = server.uploads.count
        let device = try await BackedUpDevice(server)
        try await device.machine.setBackupKey(key)
        try await device.addSessions(2)
        try await device.backup.restore()
        await device.isComplete()
        #expect(device.arrivals.reduce(into: Set()) { $0.formUnion($1) }.count == 730)
        #expect(device.arrivals.count > 1 && device.arrivals.allSatisfy { $0.count < 800 })
        #expect(server.uploads.count == uploads + 1 && server.count("1") == 732)
        #expect(try await device.machine.restoringBackup() == nil)
        #expect(try await device.machine.exportedSessions(after: nil, limit: 1_000).count == 732)
        // Restoring again imports nothing new.
        let arrivals = device.arrivals.count
        try await device.backup.restore()
        await device.isComplete()
        #expect(device.arrivals.count == arrivals)
    }

    @Test("An interrupted restore is resumed after a restart.") func interruptedRestore() async throws {
        let key = try await written(30)
        for answer: JSONValue in [
            ["status": 502], ["raw": #"{"rooms":{"!r:b":{"sessions":{"#], ["raw": "<html>"],
            ["status": 429, "errcode": "M_LIMIT_EXCEEDED", "retry_after_ms": 1_000],
        ] {
            server.fail(BackupServer.Failure(method: .get, path: "room_keys/keys", answer: answer))
            let device = try await BackedUpDevice(server)
            try await device.machine.setBackupKey(key)
            try await device.backup.restore()
            await device.clock.waitForSleepers()
            #expect(try await device.machine.restoringBackup() == "1" && device.arrivals.isEmpty)
            await device.backup.stop()
            let restarted = try await BackedUpDevice(server, restarting: device)
            await restarted.backup.wake()
            await restarted.reaches { $0.restore?.restored == 0 }
            await restarted.isComplete()
            #expect(restarted.arrivals.map(\.count) == [30])
            await restarted.backup.stop()
        }
    }

    @Test("The restore of a newer backup is not ended by that of the former one, which is still running.")
    func newerRestore() async throws {
        let former = try await written(10)
        let device = try await BackedUpDevice(server)
        try await device.machine.setBackupKey(former)
        server.fail(
            BackupServer.Failure(
                method: .get, path: "room_keys/keys", answer: ["rooms": [:]], delay: .milliseconds(300)))
        try await device.backup.restore()
        while !server.requests.contains(where: { $0.method == .get && $0.url.path.hasSuffix("/room_keys/keys") }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        let secret = try KeyMaterial()
        let key = try BackupKey(secret)
        let version = server.add(key)
        for session in try BackedUpDevice.sessions(5) { try server.add(session, version, key) }
        #expect(try await device.backup.adopt(secret))
        await device.isComplete()
        #expect(device.arrivals.reduce(into: Set()) { $0.formUnion($1) }.count == 5)
        #expect(try await device.machine.restoringBackup() == nil)
    }

    @Test("A key that is not the backup's is not adopted, and the stored one stays.") func otherKey() async throws {
        let key = try await written(3)
        let device = try await BackedUpDevice(server)
        try await device.machine.setBackupKey(key)
        let publicKey = try BackupKey(key).publicKey
        #expect(try await !device.backup.adopt(KeyMaterial()))
        #expect(try await device.machine.backupKey(for: publicKey)?.isEqual(to: key) == true)
        #expect(try await device.machine.restoringBackup() == nil)
        #expect(try await device.backup.adopt(key))
        await device.isComplete()
    }

    @Test("A backup that is too large for one response is restored room by room.") func largeRestore() async throws {
        let key = try await written(30)
        server.fail(BackupServer.Failure(method: .get, path: "room_keys/keys", answer: ["limit": true]))
        let device = try await BackedUpDevice(server)
        try await device.machine.setBackupKey(key)
        let store = device.store
        let rooms = (0..<7).map {
            (ExactText("!\($0):example.org"), JSONValue.object(["algorithm": "m.megolm.v1.aes-sha2"]))
        }
        try await EncryptedRoom.note(rooms.map { (room: $0.0, content: $0.1) }, in: store, at: Fixtures.date)
        try await device.backup.restore()
        await device.isComplete()
        #expect(device.arrivals.reduce(into: Set()) { $0.formUnion($1) }.count == 30)

        // A room that is too large on its own does not prevent restoring the others.
        server.fail(BackupServer.Failure(method: .get, path: "room_keys/keys", answer: ["limit": true], count: 2))
        let other = try await BackedUpDevice(server)
        try await other.machine.setBackupKey(key)
        try await EncryptedRoom.note(rooms.map { (room: $0.0, content: $0.1) }, in: other.store, at: Fixtures.date)
        try await other.backup.restore()
        await other.isComplete()
        #expect(other.arrivals.reduce(into: Set()) { $0.formUnion($1) }.count == 24)
    }

    @Test("Invalid entries are skipped.") func damagedEntries() async throws {
        let key = try await written(10)
        let keys = server.keys("1")
        let room = try #require(keys.keys.sorted().first)
        let sessions = try #require(keys[room])
        let names = sessions.keys.sorted()
        server.set(["session_data": 5], "1", room, names[0])
        server.set(sessions[names[0]] ?? .null, "1", room, names[1])
        for (number, value) in ([5, "x", [], [:], .null] as [JSONValue]).enumerated() {
            server.set(value, "1", room, "extra \(number)")
        }
        let device = try await BackedUpDevice(server)
        try await device.machine.setBackupKey(key)
        try await device.backup.restore()
        await device.isComplete()
        #expect(device.arrivals.reduce(into: Set()) { $0.formUnion($1) }.count == 8)
        for body in ["{}", #"{"rooms":5}"#, #"{"rooms":{"a":[]}}"#, #"{"rooms":{"a":{"sessions":[{}]}},"x":[[1]]}"#] {
            server.fail(
                BackupServer.Failure(method: .get, path: "room_keys/keys", answer: ["raw": .string(body)]))
            try await device.backup.restore()
            await device.isComplete()
        }
    }

    // MARK: Questions

    @Test("A key that is missing for a minute is requested, at most once an hour.") func questions() async throws {
        let key = try await written(10)
        let device = try await BackedUpDevice(server)
        try await device.machine.setBackupKey(key)
        await device.backup.wake()
        await device.isComplete()
        let sessions = server.keys("1").sorted { $0.key < $1.key }.flatMap { room, sessions in
            sessions.keys.sorted().map { SessionID(room: ExactText(room), session: ExactText($0)) }
        }
        let unknown = SessionID(room: "!r:b", session: "none/+")
        await device.backup.request([sessions[0], unknown])
        await device.clock.waitForSleepers()
        let count = server.requests.count
        device.pass(59)
        #expect(server.requests.count == count && device.arrivals.isEmpty)
        // The timer may have started only now.
        while device.arrivals.isEmpty {
            device.pass(2)
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(device.arrivals == [[sessions[0]]])
        #expect(server.requests.count == count + 2)
        // A missing key is requested again only after an hour; a key that has arrived meanwhile is not requested.
        let second = SessionID(room: "!r:b", session: "second")
        await device.backup.request([unknown, sessions[1], second])
        await device.clock.waitForSleepers()
        let other = try await BackedUpDevice(server)
        try await other.machine.setBackupKey(key)
        try await other.backup.restore()
        await other.isComplete()
        let all = try await other.machine.exportedSessions(after: nil, limit: 100)
        _ = try await device.machine.imported(all.filter { $0.id == sessions[1].session }, from: "1")
        let before = questions
        while questions.count == before.count {
            device.pass(61)
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(questions == before + ["second"])
        device.pass(3_600)
        await device.backup.request([unknown])
        await device.clock.waitForSleepers()
        while questions.count < before.count + 3 {
            device.pass(61)
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(Set(questions.suffix(2)) == ["none/+", "second"])
    }

    @Test("After a failure between two sessions, messages are decrypted with the keys that came before it")
    func failedQuestion() async throws {
        let key = try await written(10)
        let device = try await BackedUpDevice(server)
        try await device.machine.setBackupKey(key)
        await device.backup.wake()
        await device.isComplete()
        let sessions = server.keys("1").flatMap { room, sessions in
            sessions.keys.map { SessionID(room: ExactText(room), session: ExactText($0)) }
        }
        for session in sessions.prefix(5) {
            server.fail(BackupServer.Failure(method: .get, path: session.session.text))
        }
        await device.backup.request(Set(sessions))
        while device.arrivals.reduce(into: Set(), { $0.formUnion($1) }).count < sessions.count {
            device.pass(61)
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(device.arrivals.count > 1)
    }

    /// The sessions requested one by one.
    private var questions: [String] {
        server.requests.filter { $0.method == .get && $0.url.path.contains("/room_keys/keys/") }.map {
            $0.url.absoluteString.split(separator: "?")[0].split(separator: "/").last?.removingPercentEncoding ?? ""
        }
    }
}
