import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct CanonicalJSONTests {
    private func canonical(_ json: String) throws -> String {
        String(decoding: try CanonicalJSON.bytes(of: JSONValue(parsing: Data(json.utf8))), as: UTF8.self)
    }

    // The specification's examples, and further cases of its grammar.
    @Test(arguments: [
        ("{}", "{}"),
        (#"{"one": 1, "two": "Two"}"#, #"{"one":1,"two":"Two"}"#),
        (#"{"b": "2", "a": "1"}"#, #"{"a":"1","b":"2"}"#),
        (#"{"a": "日本語"}"#, #"{"a":"日本語"}"#),
        (#"{"本": 2, "日": 1}"#, #"{"日":1,"本":2}"#),
        (#"{"a": "\u65E5"}"#, #"{"a":"日"}"#),
        (#"{"a": null, "b": [true, false, []]}"#, #"{"a":null,"b":[true,false,[]]}"#),
        (#"["\/\u007f\u0000\u001F\b\t\n\f\r\"\\"]"#, "[\"/\u{7F}\\u0000\\u001f\\b\\t\\n\\f\\r\\\"\\\\\"]"),
        (#"[9007199254740991, -9007199254740991, 0]"#, "[9007199254740991,-9007199254740991,0]"),
        // By code point: the private-use character precedes the emoji. In UTF-16 it would follow.
        ("{\"😀\": 1, \"\u{E000}\": 2}", "{\"\u{E000}\":2,\"😀\":1}"),
    ])
    func asTheSpecificationHasIt(json: String, canonical expected: String) throws {
        // Compared by bytes, as Swift's == treats canonically equivalent strings as equal.
        #expect(Array(try canonical(json).utf8) == Array(expected.utf8))
    }

    /// Text is written in runs up to what needs an escape, which are looked for eight bytes at a time.
    @Test func anEscapeIsWrittenAtAnyPosition() throws {
        let escapes = [
            ("\"", #"\""#), ("\\", #"\\"#), ("\n", #"\n"#), ("\u{1}", #"\u0001"#), ("\u{1F}", #"\u001f"#),
            ("\u{7F}", "\u{7F}"),
        ]
        for (text, escape) in escapes {
            for count in 0...17 {
                for position in 0...count {
                    let (before, after) = (
                        String(repeating: "é", count: position), String(repeating: "b", count: count - position)
                    )
                    let json = try CanonicalJSON.bytes(of: [
                        "\(before)\(text)\(after)": .string("\(after)\(text)\(text)\(before)")
                    ])
                    let expected = "{\"\(before)\(escape)\(after)\":\"\(after)\(escape)\(escape)\(before)\"}"
                    #expect(json == Array(expected.utf8))
                }
            }
        }
    }

    @Test(arguments: ["1.5", "1e3", "1.0", "9007199254740992", "-9007199254740992", "1e400"])
    func numbersThatOthersRoundAreRefused(json: String) throws {
        #expect(throws: (any Error).self) { try canonical("[\(json)]") }
    }

    @Test func nestingIsBounded() throws {
        var value: JSONValue = .integer(1)
        for _ in 0..<5_000 { value = .array([value]) }
        #expect(throws: CanonicalJSON.Failure.tooDeep) { try CanonicalJSON.bytes(of: value) }
    }

    // The specification's test vectors. The seed is in bytes, as its base64 has trailing bits that our decoder rejects.
    @Test func signaturesAreThoseOfTheSpecification() throws {
        let seed: [UInt8] = [
            0x60, 0x90, 0xC1, 0x03, 0xD5, 0xE7, 0xAF, 0x6B, 0x15, 0xA9, 0x70, 0xFD, 0x56, 0x3E, 0xD7, 0x55, 0x49, 0xE6,
            0x15, 0x97, 0x19, 0xAE, 0x5C, 0x3C, 0x31, 0xDE, 0xE4, 0x31, 0x6F, 0xB7, 0x5C, 0x0D,
        ]
        let key = try SigningKey(seed: KeyMaterial(bytes: seed))
        let vectors: [([String: JSONValue], String)] = [
            ([:], "K8280/U9SSy9IVtjBuVeLr+HpOB4BQFWbg+UZaADMtTdGYI7Geitb76LTrr5QV/7Xg4ahLwYGYZzuHGZKM5ZAQ"),
            (
                ["one": 1, "two": "Two"],
                "KqmLSbO39/Bzb0QIYE82zqLwsA+PDzYIpIRA2sRQ4sL53+sN6/fpNSoqE7BP7vBZhG6kYdD13EIMJpvhJI+6Bw"
            ),
        ]
        for (object, signature) in vectors {
            let signed = try SignedJSON.signed(object, by: "domain", keyID: "1") { try key.sign($0) }
            #expect(signed["signatures"] == ["domain": ["ed25519:1": .string(signature)]])
            try SignedJSON.verify(signed, by: "domain", keyID: "1", key: key.publicKey)
        }
    }

    @Test func whatIsNotSignedMayChangeAndNothingElse() throws {
        let key = try SigningKey()
        var object: [String: JSONValue] = ["a": 1, "unsigned": ["age": 5]]
        object = try SignedJSON.signed(object, by: "@a:b", keyID: "D") { try key.sign($0) }
        object = try SignedJSON.signed(object, by: "@b:b", keyID: "E") { try SigningKey().sign($0) }
        func verify(_ object: [String: JSONValue], by user: ExactText = "@a:b", keyID: ExactText = "D") throws {
            try SignedJSON.verify(object, by: user, keyID: keyID, key: key.publicKey)
        }
        try verify(object)
        var changed = object
        changed["unsigned"] = nil
        try verify(changed)
        changed["b"] = .null
        #expect(throws: SignedJSON.Failure.invalid) { try verify(changed) }
        changed["b"] = .number(0.5)
        #expect(throws: SignedJSON.Failure.unsignable) { try verify(changed) }
        #expect(throws: SignedJSON.Failure.invalid) { try verify(object, by: "@b:b", keyID: "E") }
        #expect(throws: SignedJSON.Failure.unsigned) { try verify(object, keyID: "E") }
        for signatures: JSONValue in [.null, [], ["@a:b": "x"], ["@a:b": ["ed25519:D": 5]]] {
            changed = object
            changed["signatures"] = signatures
            #expect(throws: SignedJSON.Failure.unsigned) { try verify(changed) }
        }
        for signature: JSONValue in ["", "AAAA", "%%%"] {
            changed["signatures"] = ["@a:b": ["ed25519:D": signature]]
            changed["unsigned"] = nil
            #expect(throws: SignedJSON.Failure.invalid) { try verify(changed) }
        }
    }

    /// é as one scalar and as two are two users: a signature by one is no signature by the other.
    @Test func usersAreComparedByTheirBytes() throws {
        let key = try SigningKey()
        let object = try SignedJSON.signed(["a": 1], by: "@\u{E9}:b", keyID: "D") { try key.sign($0) }
        try SignedJSON.verify(object, by: "@\u{E9}:b", keyID: "D", key: key.publicKey)
        #expect(throws: SignedJSON.Failure.unsigned) {
            try SignedJSON.verify(object, by: "@e\u{301}:b", keyID: "D", key: key.publicKey)
        }
    }
}
