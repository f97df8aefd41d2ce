import ChatCore
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
        // Nothing is made before the server has said what it has.
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

    /// A lost answer, and a restart before it: the same bytes go again.
    @Test func anUploadWithoutAnswerIsRepeatedByteForByte() throws {
        let upkeep = try KeyUpkeep(user: "@a:b", device: "D")
        received(upkeep, 3, fallback: false)
        let upload = try upkeep.nextUpload()
        #expect(try upkeep.nextUpload() == upload)
        received(upkeep, 1, fallback: false)
        #expect(try upkeep.nextUpload() == upload)
        let (change, revision) = try #require(try upkeep.unsavedChange(key: key))
        // The disk was full: it is still unsaved.
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
        // The device has not arrived either.
        #expect(second["device_keys"] != nil)
        for member in ["one_time_keys", "fallback_keys"] {
            let ids = (Set((first[member]?.object ?? [:]).keys), Set((second[member]?.object ?? [:]).keys))
            #expect(!ids.0.isEmpty && !ids.1.isEmpty && ids.0.isDisjoint(with: ids.1))
        }
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

    /// In a plain sync what is not named is 0; in a sliding one it is unchanged, and so is what is no count.
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
