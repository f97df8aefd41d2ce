import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// The reader against honest and dishonest senders and servers. Each rejection tests for a vulnerability that other
/// programs had.
@Suite(.enabled(if: EncryptionSetting.isOn)) struct GroupMessageReaderTests {
    private let owner: InboundSession.Owner
    private let out: OutboundGroupSession
    private let session: InboundSession

    init() throws {
        let account = try OlmAccount()
        owner = InboundSession.Owner(user: "@a:b", identityKey: account.identityKey, signingKey: account.signingKey)
        out = try OutboundGroupSession()
        session = try InboundSession(roomKey: Self.roomKey(of: out), from: owner)
    }

    private static func roomKey(of out: OutboundGroupSession, room: String = "!r:b") throws -> JSONValue {
        [
            "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string(room), "session_id": .string(try out.id),
            "session_key": .string(Base64.encoded(try out.sessionKey)), "shared_history": true,
        ]
    }

    private static let hello = #"{"type":"m.room.message","content":{"body":"hello"},"room_id":"!r:b"}"#

    private func sealed(_ payload: String = hello) throws -> JSONValue {
        [
            "algorithm": "m.megolm.v1.aes-sha2", "session_id": .string(try out.id), "sender_key": "anything",
            "device_id": 5, "ciphertext": .string(Base64.encoded(try out.encrypt(Array(payload.utf8)))),
        ]
    }

    private func read(
        _ content: JSONValue, event: ExactText = "$e", sender: ExactText = "@a:b", room: ExactText = "!r:b",
        with other: InboundSession? = nil, earlier: [GroupMessage: ExactText] = [:]
    ) throws -> GroupMessageReader.Payload {
        let envelope = try GroupMessageReader.Envelope(content: content, room: room, event: event, sender: sender)
        return try GroupMessageReader.read(envelope, with: other ?? session) { earlier[$0] }
    }

    @Test func anHonestMessageIsRead() throws {
        let payload = try read(sealed())
        #expect(payload.type == "m.room.message" && payload.content == ["body": "hello"])
        #expect(payload.message == GroupMessage(session: session.id, index: 0))
        #expect(payload.owner == owner && payload.source == .direct && session.isSharedHistory)
    }

    @Test func theServerCannotNameAnotherSender() throws {
        #expect(throws: GroupMessageReader.Seal.sender) { try read(sealed(), sender: "@c:b") }
    }

    @Test func aMessageOfAnotherRoomIsRefused() throws {
        let content = try sealed()
        #expect(throws: GroupMessageReader.Seal.replay) { try read(content, room: "!other:b") }
        let elsewhere = #"{"type":"m.room.message","content":{},"room_id":"!other:b"}"#
        #expect(throws: GroupMessageReader.Seal.replay) { try read(sealed(elsewhere)) }
        #expect(throws: GroupMessageReader.Seal.replay) { try read(sealed(#"{"type":"x","content":{}}"#)) }
    }

    @Test func aMessageIsReadFromOneEvent() throws {
        let content = try sealed()
        let message = try read(content).message
        // The server may deliver the same event twice.
        _ = try read(content, earlier: [message: "$e"])
        #expect(throws: GroupMessageReader.Seal.replay) { try read(content, event: "$f", earlier: [message: "$e"]) }
        struct Full: Error {}
        let envelope = try GroupMessageReader.Envelope(content: content, room: "!r:b", event: "$e", sender: "@a:b")
        #expect(throws: Full.self) { try GroupMessageReader.read(envelope, with: session) { _ in throw Full() } }
    }

    @Test func aRelationInsideIsIgnored() throws {
        let payload = try read(
            sealed(#"{"type":"t","content":{"a":1,"m.relates_to":{"rel_type":"m.replace"}},"room_id":"!r:b"}"#))
        #expect(payload.content == ["a": 1])
    }

    @Test func withoutKeyItSaysWhy() throws {
        let envelope = try GroupMessageReader.Envelope(content: sealed(), room: "!r:b", event: "$e", sender: "@a:b")
        #expect(throws: GroupMessageReader.Seal.noKey) {
            try GroupMessageReader.read(envelope, with: nil) { _ in nil }
        }
        #expect(throws: GroupMessageReader.Seal.withheld(.unverified)) {
            try GroupMessageReader.read(envelope, with: nil, withheld: .unverified) { _ in nil }
        }
        _ = try out.encrypt([])
        let late = try InboundSession(roomKey: Self.roomKey(of: out), from: owner)
        let payload = try GroupMessageReader.Envelope(content: sealed(), room: "!r:b", event: "$f", sender: "@a:b")
        _ = try GroupMessageReader.read(payload, with: late) { _ in nil }
        #expect(throws: GroupMessageReader.Seal.beforeKey) {
            try GroupMessageReader.read(envelope, with: late) { _ in nil }
        }
    }

    @Test func anythingElseIsSealedByName() throws {
        let whole = try #require(try sealed().object)
        for other: JSONValue in [.null, 5, [], [:], "", "%", "AwgA", "AAAA"] {
            for name in ["algorithm", "session_id", "ciphertext"] {
                var content = whole
                content[name] = other
                #expect(throws: GroupMessageReader.Seal.self, "\(name)") { try read(.object(content)) }
            }
        }
        for payload in [
            "", "[]", "null", #"{"type":5,"content":{},"room_id":"!r:b"}"#, #"{"type":"x","room_id":"!r:b"}"#,
        ] {
            #expect(throws: GroupMessageReader.Seal.self) { try read(sealed(payload)) }
        }
        #expect(throws: GroupMessageReader.Seal.algorithm) { try read(["algorithm": "m.other"]) }
        var random = SystemRandomNumberGenerator()
        var content = whole
        for _ in 0..<500 {
            var bytes = try Base64.decoded(whole["ciphertext"]?.string ?? "")
            bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            content["ciphertext"] = .string(Base64.encoded(bytes))
            if let payload = try? read(.object(content)) { #expect(payload.content == ["body": "hello"]) }
        }
    }

    @Test func aRoomKeyIsWhatItSays() throws {
        let whole = try #require(try Self.roomKey(of: out).object)
        for name in ["algorithm", "room_id", "session_id", "session_key"] {
            // Any text is a valid room ID.
            for other: JSONValue in [.null, 5, "", "AAAA", [:]] where !(name == "room_id" && other == "AAAA") {
                var content = whole
                content[name] = other
                #expect(throws: InboundSession.Rejection.self, "\(name)") {
                    try InboundSession(roomKey: .object(content), from: owner)
                }
            }
        }
        var content = whole
        content["session_id"] = .string(try OutboundGroupSession().id)
        #expect(throws: InboundSession.Rejection.mismatch) {
            try InboundSession(roomKey: .object(content), from: owner)
        }
    }

    @Test func aSessionIsReplacedByAnEarlierOneOfItsOwnOnly() throws {
        _ = try out.encrypt([])
        let later = try InboundSession(roomKey: Self.roomKey(of: out), from: owner)
        #expect(try session.merged(with: later)?.session.firstKnownIndex == 0)
        #expect(try later.merged(with: session) == nil && session.merged(with: session) == nil)
        let other = try InboundSession(roomKey: Self.roomKey(of: OutboundGroupSession()), from: owner)
        #expect(try other.merged(with: session) == nil)
        let stranger = InboundSession.Owner(
            user: "@c:b", identityKey: try OlmAccount().identityKey, signingKey: try OlmAccount().signingKey)
        let claimed = try InboundSession(roomKey: Self.roomKey(of: out), from: stranger).merged(with: later)
        #expect(claimed?.owner == owner)
        let elsewhere = try InboundSession(roomKey: Self.roomKey(of: out, room: "!other:b"), from: owner)
        #expect(try elsewhere.merged(with: later) == nil)
    }

    @Test("An imported session extends one that its creator sent, in either order, and changes nothing of its origin.")
    func anImportedSessionExtendsADirectOne() throws {
        let imported = try InboundSession(ExportedSession(session))
        _ = try out.encrypt([])
        let direct = try InboundSession(roomKey: Self.roomKey(of: out), from: owner)
        for (new, known) in [(imported, direct), (direct, imported)] {
            let merged = try #require(try new.merged(with: known))
            #expect(try merged.session.firstKnownIndex == 0)
            #expect(merged.source == .direct && merged.owner == owner)
        }
        // Who shares the key on as their own takes nothing over.
        let stranger = InboundSession.Owner(
            user: "@c:b", identityKey: try OlmAccount().identityKey, signingKey: try OlmAccount().signingKey)
        #expect(try InboundSession(roomKey: Self.roomKey(of: out), from: stranger).merged(with: imported) == nil)
    }

    @Test func whatIsStoredComesBack() throws {
        let key = try KeyMaterial()
        let record = try session.record(key: key)
        let restored = try InboundSession(record: record, key: key)
        #expect(restored.owner == owner && restored.room == "!r:b" && restored.isSharedHistory)
        #expect(try read(sealed(), with: restored).content == ["body": "hello"])
        #expect(throws: RatchetError.pickle) { try InboundSession(record: record, key: KeyMaterial()) }
        let misplaced = CryptoRecord(
            CryptoRecord.Key(.inboundGroupSession, owner: "!r:b", id: "x"), value: record.value)
        #expect(throws: InboundSession.Rejection.mismatch) { try InboundSession(record: misplaced, key: key) }
    }

    @Test func reasonsForWithheldKeysAreRead() {
        let content: JSONValue = [
            "algorithm": "m.megolm.v1.aes-sha2", "code": "m.unverified", "room_id": "!r:b", "session_id": "s",
        ]
        #expect(Withheld.reason(in: content)?.reason == .unverified)
        #expect(Withheld.reason(in: content)?.session == CryptoRecord.Key(.withheldSession, owner: "!r:b", id: "s"))
        for other: JSONValue in [.null, [], ["code": 5], ["code": "m.no_olm", "algorithm": "m.megolm.v1.aes-sha2"]] {
            #expect(Withheld.reason(in: other) == nil)
        }
    }
}
