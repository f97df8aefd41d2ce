import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// Sessions as other clients export them. The values are from matrix-js-sdk's tests.
@Suite(.enabled(if: EncryptionSetting.isOn)) struct ExportedSessionTests {
    static let session: [String: JSONValue] = [
        "algorithm": "m.megolm.v1.aes-sha2", "room_id": "!room:id",
        "sender_key": "WimPd2udAU/1S/+YBpPbmr9L+0H5H+BnAVHSwDxlPGc",
        "session_id": "ipdI6Zs/7DzFTEhiA2iGaMDfHkIYCleqXT6L+5e1/co",
        "session_key":
            "AQAAAABXGO+Z9jlQJhIL6ByhXrv2BwCIxkhh7MXpKLsYmXkJcWrQlirmXmD79ga1zo+I4DCtEZzyGSpDWXBC6G7ez3H4gDMBam1RE3Jm5tc+oTlIri32UkYgSL0kBkcEnttqmIXBlK8tAfJo3cJnlh7F4ltEOAqrdME6dU0zXTkqXmURqYqXSOmbP+w8xUxIYgNohmjA3x5CGApXql0+i/uXtf3K",
        "sender_claimed_keys": ["ed25519": "Bhbpt6hqMZlSH4sJV7xiEEEiPVeTWz4Vkujl1EMdIPI"],
        "forwarding_curve25519_key_chain": [],
    ]
    private static let event: JSONValue = [
        "algorithm": "m.megolm.v1.aes-sha2", "sender_key": "WimPd2udAU/1S/+YBpPbmr9L+0H5H+BnAVHSwDxlPGc",
        "ciphertext":
            "AwgAEnAkBmciEAyhh1j6DCk29UXJ7kv/kvayUNfuNT0iAioLxcXjFXOZ5ho3jF1/wrytlt0Lb298uMM67OxdVMi+/mMfYpwlvi07P9cIH6CMSj8tyhYoWl0SrKY6tkPf5GWOlRSRRKbziXa96FHXvnA3V2FCAIGtAe3G4ei5RPbhkmKAFBLAen33/D6MjJVqU8Ojr5vTkgls5eyirarlVpsmnH06alDaxO8avrU0NL+Vsw26xvlUQgEMOnUJ",
        "session_id": "ipdI6Zs/7DzFTEhiA2iGaMDfHkIYCleqXT6L+5e1/co", "device_id": "TEST_DEVICE",
    ]
    static let backupKey = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo="
    private static let publicKey = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo"
    static let backedUp: [String: JSONValue] = [
        "ciphertext":
            "r6HRk2/Im2yJe5cLP8R81aVjFWjYWPHpw7TVxphiSK1cdIDZTTK57r6MfU+0i/mTPn+/PosT74OvYwCnehy2d1BPGxhDl8AhPcBu3//Kzlq2o5CssPsw+88gRehkAsPg9Zp5G9sL9to6giltvTWTbsaQpmvv3HLmBOYSFIxvyZrOT/Ffqu325f0IEsKcyV2BdIkw8Ob9Xt+VWoe4MYEGG6y1T8W125zeFgKWI4Ow76uput64H9zZjIo+Cc+hCTO9Ea4EnosSjizCotevkNck7C/zGgfhBikiohROb6SbaZgxicSsEDZ+f7brnri9yP3iXS3PMDHHpa1+XzG2VOG/Y9OQZpkPq+pbLrCC+NWJeJPslDAK5i+RURwzjnPmaHKCRHTq86CwhFyiCDf61MGwCY3xjrmBJg44BCdxWqCx0YJvwsvVqqnl4vTieUfrwThNPsQ81aVkDHvlmrgrTt8icDa8jTJhu34jem+pbRSEM5aJikV4B+zYiLz+dH/v6UpYA2eG8ReOvwpPXp6CAcIlplRPpWbMBeLFVcPkT4KAXTp9exFpB4on4pf8OsaDomlt4qAA0rhAZmhPWPKcU/A0Tz4gyMu54OivVtw1SPj+5Iq+YDQ8jB6Po3ApzMf6fwF9x/FjevbboFB05X2Jr0NrbFqXMOUwXHMgDAGiIWX8+gkmmbaiNWqg2etjN94pobQSGZelb18XGN7kuwMk+Zwk7A",
        "ephemeral": "q+P1WdRtEiPIEtNuuGrRcueZxUbLnSKdsuTAkxewXgU", "mac": "OibmACbORhI",
    ]

    private func read(_ session: InboundSession, by sender: ExactText) throws -> GroupMessageReader.Payload {
        let envelope = try GroupMessageReader.Envelope(
            content: Self.event, room: "!room:id", event: "$event1", sender: sender)
        return try GroupMessageReader.read(envelope, with: session) { _ in nil }
    }

    @Test("A session from another client's file decrypts that client's messages.") func knownSession() throws {
        let exported = try ExportedSession(.object(Self.session))
        let session = try InboundSession(exported)
        #expect(session.source == .imported && session.room == "!room:id" && !session.isSharedHistory)
        let payload = try read(session, by: "@alice:localhost")
        #expect(payload.content["body"] == "Hello world" && payload.source == .imported)
        // The owner is only the server's claim.
        #expect(payload.owner.user == "@alice:localhost")
        #expect(try payload.owner.identityKey == Base64.decoded("WimPd2udAU/1S/+YBpPbmr9L+0H5H+BnAVHSwDxlPGc"))
        // Another client can read it from our export.
        var written = try ExportedSession(session).json.object ?? [:]
        #expect(written["shared_history"] == false)
        written["shared_history"] = nil
        #expect(written == Self.session)
    }

    @Test("A session in another client's backup is decrypted only by the backup's key.") func knownBackup() throws {
        let key = try BackupKey(KeyMaterial(bytes: Base64.decoded(Self.backupKey)))
        #expect("\(key.publicKey)" == Self.publicKey)
        let json: JSONValue = ["session_data": .object(Self.backedUp)]
        let id: ExactText = "ipdI6Zs/7DzFTEhiA2iGaMDfHkIYCleqXT6L+5e1/co"
        let exported = try ExportedSession(backedUp: json, room: "!room:id", id: id, key: key)
        #expect(try exported == ExportedSession(.object(Self.session)))
        #expect(try read(InboundSession(exported), by: "@alice:localhost").content["body"] == "Hello world")
        #expect(throws: RatchetError.self) {
            try ExportedSession(backedUp: json, room: "!room:id", id: id, key: BackupKey(KeyMaterial()))
        }
        // Under another session's ID.
        let misplaced = try ExportedSession(backedUp: json, room: "!room:id", id: "other", key: key)
        #expect(throws: InboundSession.Rejection.mismatch) { try InboundSession(misplaced) }
    }

    @Test("Each field of a session in a backup is validated strictly.") func damagedBackup() throws {
        let key = try BackupKey(KeyMaterial(bytes: Base64.decoded(Self.backupKey)))
        for name in Self.backedUp.keys {
            for value: JSONValue in [
                .null, 5, "", "!", "AAAA", [:], .string(String(repeating: "A", count: 200_000)),
                "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            ] {
                let data = Self.backedUp.merging([name: value]) { $1 }
                #expect(throws: (any Error).self, "\(name)") {
                    try ExportedSession(
                        backedUp: ["session_data": .object(data)], room: "!room:id", id: "x", key: key)
                }
            }
        }
        for json: JSONValue in [.null, [], [:], ["session_data": []]] {
            #expect(throws: InboundSession.Rejection.malformed) {
                try ExportedSession(backedUp: json, room: "!room:id", id: "x", key: key)
            }
        }
    }

    @Test("Each field of a session in a file is validated strictly.") func damaged() throws {
        let needed = ["algorithm", "room_id", "session_id", "session_key", "sender_key"]
        for name in needed {
            for value: JSONValue? in [
                nil, .null, 5, "", [:], .string(String(repeating: "A", count: 100_000)), "AAAA",
            ] {
                // Any text is a valid room ID, whereas a session ID must match the key.
                if value == "AAAA", name == "room_id" { continue }
                var json = Self.session
                json[name] = value
                #expect(throws: InboundSession.Rejection.self, "\(name)") {
                    try InboundSession(ExportedSession(.object(json)))
                }
            }
        }
        // The owner's claimed keys may be missing.
        for value: JSONValue? in [nil, .null, 5, [:], ["ed25519": 5], ["ed25519": "AAAA"]] {
            var json = Self.session
            json["sender_claimed_keys"] = value
            let session = try InboundSession(ExportedSession(.object(json)))
            #expect(session.owner.signingKey.isEmpty)
            #expect(try ExportedSession(session).json["sender_claimed_keys"] == [:])
        }
        #expect(throws: InboundSession.Rejection.self) { try ExportedSession([]) }
    }

    @Test("A session's key is never printed.") func hidden() throws {
        let exported = try ExportedSession(.object(Self.session))
        var dumped = ""
        dump(exported, to: &dumped)
        for text in ["\(exported)", String(reflecting: exported), dumped] {
            #expect(!text.contains("AQAAAABXGO") && !text.contains("87, 24, 239"))
        }
    }
}
