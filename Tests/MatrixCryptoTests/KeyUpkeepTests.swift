import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct KeyUpkeepTests {
    private let key: KeyMaterial

    init() throws { key = try KeyMaterial() }

    private func parsed(_ upload: Data?) throws -> JSONValue { try JSONValue(parsing: #require(upload)) }
    private func count(_ upload: JSONValue, _ member: String) -> Int { upload[member]?.object?.count ?? 0 }
    private func received(_ upkeep: KeyUpkeep, _ count: Int64, fallback: Bool = true) {
        upkeep.received(
            counts: ["signed_curve25519": .integer(count)],
            unusedFallbackKeys: fallback ? ["signed_curve25519"] : [], in: .sliding)
    }

    @Test func aNewDeviceUploadsItselfAndThenItsKeys() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        let first = try parsed(upkeep.nextUpload())
        let keys = try DeviceKeys(#require(first["device_keys"]), of: "@a:b", device: "D")
        #expect(keys.identityKey == upkeep.account.identityKey && keys.readsRooms)
        // Generates nothing before the server has reported what it has.
        #expect(count(first, "one_time_keys") == 0 && first["fallback_keys"] == nil)
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 0]])
        received(upkeep, 0, fallback: false)
        let second = try parsed(upkeep.nextUpload())
        #expect(second["device_keys"] == nil)
        #expect(count(second, "one_time_keys") == 25 && count(second, "fallback_keys") == 1)
        for member in ["one_time_keys", "fallback_keys"] {
            for (id, value) in second[member]?.object ?? [:] {
                #expect(id.hasPrefix("signed_curve25519:"))
                let object = try #require(value.object)
                try SignedJSON.verify(object, by: "@a:b", keyID: "D", key: upkeep.account.signingKey)
                #expect((object["fallback"] == true) == (member == "fallback_keys"))
                _ = try Curve25519Key(base64: object["key"]?.string ?? "")
            }
        }
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 25]])
        #expect(try upkeep.nextUpload() == nil)
    }

    @Test("A sync that was under way during the upload does not replace the fallback key once more")
    func lateSync() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        received(upkeep, 50, fallback: false)
        #expect(count(try parsed(upkeep.nextUpload()), "fallback_keys") == 1)
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 50]])
        received(upkeep, 50, fallback: false)
        #expect(try upkeep.nextUpload() == nil)
        received(upkeep, 50)
        #expect(try upkeep.nextUpload() == nil)
        received(upkeep, 50, fallback: false)
        #expect(count(try parsed(upkeep.nextUpload()), "fallback_keys") == 1, "it was used")
    }

    /// After a lost response, and a restart before it, the same bytes are sent again.
    @Test func anUploadWithoutAnswerIsRepeatedByteForByte() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        received(upkeep, 3, fallback: false)
        let upload = try upkeep.nextUpload()
        #expect(try upkeep.nextUpload() == upload)
        received(upkeep, 1, fallback: false)
        #expect(try upkeep.nextUpload() == upload)
        let (change, revision) = try #require(try upkeep.unsavedChange(key: key))
        // The disk was full: the change is still unsaved.
        #expect(try upkeep.unsavedChange(key: key)?.revision == revision)
        upkeep.saved(revision)
        #expect(try upkeep.unsavedChange(key: key) == nil)
        upkeep.accountChanged()
        #expect(try upkeep.unsavedChange(key: key) != nil)
        let restored = try #require(try KeyUpkeep(user: "@a:b", device: "D", records: change.put, key: key))
        #expect(try restored.nextUpload() == upload)
        try restored.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 25]])
        received(restored, 25)
        #expect(try restored.nextUpload() == nil)
        #expect(try restored.account.unpublishedOneTimeKeys.isEmpty)
    }

    @Test func whatWasRefusedIsNotRepeatedAndItsIdentifiersNeverReturn() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        received(upkeep, 0, fallback: false)
        let first = try parsed(upkeep.nextUpload())
        try upkeep.refused()
        received(upkeep, 0, fallback: false)
        let second = try parsed(upkeep.nextUpload())
        // The device keys have not been accepted either.
        #expect(second["device_keys"] != nil)
        for member in ["one_time_keys", "fallback_keys"] {
            let ids = (Set((first[member]?.object ?? [:]).keys), Set((second[member]?.object ?? [:]).keys))
            #expect(!ids.0.isEmpty && !ids.1.isEmpty && ids.0.isDisjoint(with: ids.1))
        }
    }

    @Test("A device that the server has deleted is uploaded again, with other one-time keys")
    func deletedDevice() throws {
        var upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        received(upkeep, 0, fallback: false)
        let first = try parsed(upkeep.nextUpload())
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 25]])
        received(upkeep, 25)
        #expect(try upkeep.nextUpload() == nil)
        upkeep.uploadAgain()
        upkeep = try restarted(upkeep)
        let again = try parsed(upkeep.nextUpload())
        #expect(again["device_keys"] == first["device_keys"] && again["device_keys"] != nil)
        #expect(count(again, "one_time_keys") == 25 && count(again, "fallback_keys") == 1)
        let names = [first, again].map { Set(($0["one_time_keys"]?.object ?? [:]).keys) }
        #expect(names[0].isDisjoint(with: names[1]))
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 25]])
        #expect(upkeep.isDeviceUploaded)
        #expect(try upkeep.nextUpload() == nil)
    }

    @Test("An upload under way when the server turns out to have deleted the device does not stand for its keys")
    func deletedDeviceDuringAnUpload() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        _ = try upkeep.nextUpload()
        try upkeep.uploaded(answer: [:])
        received(upkeep, 3)
        let pending = try upkeep.nextUpload()
        #expect(try parsed(pending)["device_keys"] == nil)
        upkeep.uploadAgain()
        #expect(try upkeep.nextUpload() == pending)
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 22]])
        #expect(!upkeep.isDeviceUploaded)
        #expect(try parsed(upkeep.nextUpload())["device_keys"] != nil)
    }

    @Test func keysAreRefilledBelowHalf() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        _ = try upkeep.nextUpload()
        try upkeep.uploaded(answer: [:])
        for (at, made) in [(Int64(25), 0), (50, 0), (.max, 0), (24, 1), (10, 15), (0, 25), (-5, 25)] {
            received(upkeep, at)
            let upload = try upkeep.nextUpload()
            #expect(try upload.map { count(try parsed($0), "one_time_keys") } ?? 0 == made, "\(at)")
            if upload != nil { try upkeep.uploaded(answer: [:]) }
        }
    }

    /// Missing counts are 0 in a plain sync. In a sliding sync, missing and malformed counts change nothing.
    @Test func countsThatAreMissing() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        _ = try upkeep.nextUpload()
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 25]])
        upkeep.received(counts: nil, unusedFallbackKeys: nil, in: .sliding)
        #expect(try upkeep.nextUpload() == nil)
        upkeep.received(counts: .null, unusedFallbackKeys: 5, in: .sliding)
        #expect(try upkeep.nextUpload() == nil)
        upkeep.received(counts: nil, unusedFallbackKeys: nil, in: .plain)
        #expect(try count(parsed(upkeep.nextUpload()), "one_time_keys") == 25)
    }

    @Test func aUsedFallbackKeyIsReplacedOnce() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        received(upkeep, 25, fallback: false)
        let first = try parsed(upkeep.nextUpload())
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 25]])
        received(upkeep, 25, fallback: true)
        #expect(try upkeep.nextUpload() == nil)
        received(upkeep, 25, fallback: false)
        let second = try parsed(upkeep.nextUpload())
        #expect(first["fallback_keys"] != second["fallback_keys"] && count(second, "one_time_keys") == 0)
    }

    /// Generates and publishes a fallback key, and returns it.
    private func published(_ upkeep: KeyUpkeep) throws -> Curve25519Key {
        received(upkeep, 25, fallback: false)
        let upload = try parsed(upkeep.nextUpload())
        try upkeep.uploaded(answer: ["one_time_key_counts": ["signed_curve25519": 25]])
        received(upkeep, 25, fallback: true)
        let key = try #require(upload["fallback_keys"]?.object?.values.first?["key"]?.string)
        return try Curve25519Key(base64: key)
    }

    /// Establishes a session from another device with one of the account's keys.
    private func begin(_ upkeep: KeyUpkeep, with key: Curve25519Key, at now: Date) throws {
        let other = try OlmAccount()
        let message = try other.session(with: upkeep.account.identityKey, oneTimeKey: key).encrypt(Array("x".utf8))
        #expect(message.oneTimeKey == key)
        _ = try upkeep.account.session(from: message.bytes, of: other.identityKey)
        upkeep.accountChanged(by: message.oneTimeKey, at: now)
    }

    private func restarted(_ upkeep: KeyUpkeep) throws -> KeyUpkeep {
        let change = try #require(try upkeep.unsavedChange(key: key)).change
        return try #require(try KeyUpkeep(user: "@a:b", device: "D", records: change.put, key: key))
    }

    @Test("The former fallback key is discarded an hour after the first message that used the new one")
    func formerFallbackKey() throws {
        let start = Date(timeIntervalSince1970: 1_000_000)
        var upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        let first = try published(upkeep)
        let second = try published(upkeep)
        #expect(first != second)
        // The former key stays as long as the new one is not used.
        try begin(upkeep, with: first, at: start)
        #expect(upkeep.formerFallbackKeyEnd == nil)
        try upkeep.forgetFormerFallbackKey(at: start + 1_000_000)
        try begin(upkeep, with: first, at: start)
        try begin(upkeep, with: second, at: start)
        #expect(upkeep.formerFallbackKeyEnd == start + 3600)
        upkeep = try restarted(upkeep)
        // Later messages do not postpone it.
        try begin(upkeep, with: second, at: start + 3000)
        try upkeep.forgetFormerFallbackKey(at: start + 3599)
        try begin(upkeep, with: first, at: start + 3599)
        try upkeep.forgetFormerFallbackKey(at: start + 3600)
        #expect(throws: (any Error).self) { try begin(upkeep, with: first, at: start + 3600) }
        try begin(upkeep, with: second, at: start + 3600)
        #expect(upkeep.formerFallbackKeyEnd == nil)
        // It is gone from the storage as well, and the next one follows the same rule.
        upkeep = try restarted(upkeep)
        #expect(throws: (any Error).self) { try begin(upkeep, with: first, at: start + 3600) }
        let third = try published(upkeep)
        try begin(upkeep, with: second, at: start + 7200)
        try begin(upkeep, with: third, at: start + 7200)
        // A clock that was set back does not prolong its lifetime.
        try upkeep.forgetFormerFallbackKey(at: start)
        #expect(upkeep.formerFallbackKeyEnd == start + 3600)
    }

    @Test("The former fallback key is discarded in time, even if nothing else happens")
    func formerFallbackKey() async throws {
        var fixture = try await MachineFixture()
        let target = try await fixture.published().device
        var keys: [Curve25519Key] = []
        // A sync after an upload may be from before it.
        for _ in 0..<4 {
            var sync = CryptoSync(kind: .sliding)
            (sync.keyCounts, sync.unusedFallbackKeys) = (["signed_curve25519": 50], [])
            _ = try await fixture.machine.received(sync, at: fixture.start)
            for case .upload(let body) in try await fixture.answerAll() {
                let upload = try JSONValue(parsing: Data(body))["fallback_keys"]?.object ?? [:]
                keys += try upload.values.map { try Curve25519Key(base64: $0["key"]?.string ?? "") }
            }
        }
        #expect(keys.count == 2)
        func share(_ key: Curve25519Key, _ device: ExactText) throws -> JSONValue {
            try TestPeer("@a:b", device, to: target, with: key).share(OutboundGroupSession())
        }
        let (former, newest) = (keys[0], keys[1])
        #expect(try await fixture.receive([share(former, "A"), share(newest, "B")]).sessions.count == 2)
        try await fixture.answerAll()
        try await fixture.restart()
        #expect(try await fixture.machine.nextAttempt(after: fixture.start) == fixture.start + 3600)
        try await fixture.answerAll(at: fixture.start + 3600)
        let late = try await fixture.receive([share(former, "C"), share(newest, "D")])
        #expect(late.sessions.count == 1 && late.rejected == [.unreadable: 1])
    }

    @Test("A message that begins no session names no one-time key")
    func oddMessages() throws {
        let message = try OlmAccount().session(with: OlmAccount().identityKey, oneTimeKey: OlmAccount().identityKey)
            .encrypt(Array("x".utf8))
        #expect(OlmMessage(kind: .following, bytes: message.bytes).oneTimeKey == nil)
        for count in 0..<36 {
            #expect(
                OlmMessage(kind: .beginning, bytes: Array(message.bytes.prefix(count))).oneTimeKey == nil || count >= 35
            )
        }
        for bytes: [UInt8] in [[3, 0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [3, 0x0A, 31], [3, 0x08, 1], [4, 0x0A, 0]] {
            #expect(OlmMessage(kind: .beginning, bytes: bytes).oneTimeKey == nil)
        }
    }

    @Test func aStateThatCannotBeReadIsNoNewDevice() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        let records = try #require(try upkeep.unsavedChange(key: key)).change.put
        #expect(records.count == 2)
        #expect(try KeyUpkeep(user: "@a:b", device: "D", records: [], key: key) == nil)
        for number in 0..<2 {
            #expect(throws: KeyUpkeep.Failure.state) {
                try KeyUpkeep(user: "@a:b", device: "D", records: [records[number]], key: key)
            }
        }
        #expect(throws: KeyUpkeep.Failure.rejected(.pickle)) {
            try KeyUpkeep(user: "@a:b", device: "D", records: records, key: KeyMaterial())
        }
        // No private key is stored in the clear.
        let state = String(decoding: records[1].value, as: UTF8.self)
        #expect(!state.contains("private"))
    }
}
