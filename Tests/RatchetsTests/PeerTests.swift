import Foundation
import Ratchets
import Testing
import ToolSupport

/// Interoperability with vodozemac through another binding, and with libolm: each side reads what the other writes.
/// `build-aux/test` starts these peers where available (`build-aux/ratchets-peers`), and lists them in
/// PARLANCE_RATCHETS_PEERS.
@Suite(.enabled(if: !Peer.commands.isEmpty, "no peers: build-aux/ratchets-peers installs them"), .serialized)
struct PeerTests {
    // What is missing is no argument of the other tests, which would not say so.
    @Test(
        "vodozemac's other binding takes part",
        .enabled(if: Peer.commands["vodozemac"] != nil, "no vodozemac: build-aux/ratchets-peers says why"))
    func vodozemac() throws { _ = try Peer("vodozemac").identity() }

    @Test(
        "libolm takes part",
        .enabled(if: Peer.commands["olm"] != nil, "no libolm: build-aux/ratchets-peers says why"))
    func libolm() throws { _ = try Peer("olm").identity() }

    @Test(arguments: Peer.commands.keys.sorted())
    func olmThatWeBegin(name: String) throws {
        let peer = try Peer(name)
        let account = try OlmAccount()
        let session = try account.session(
            with: peer.identity(), oneTimeKey: Curve25519Key(base64: peer.ask("one_time_key")))
        let first = try session.encrypt(Array("first".utf8))
        #expect(try peer.ask("receive", "\(account.identityKey)", Base64.encoded(first.bytes)) == "first")
        try talk(session, peer)
    }

    @Test(arguments: Peer.commands.keys.sorted())
    func olmThatTheyBegin(name: String) throws {
        let peer = try Peer(name)
        let account = try OlmAccount()
        try account.generateOneTimeKeys(1)
        try peer.perform("begin", "\(account.identityKey)", "\(account.unpublishedOneTimeKeys[0].key)")
        let first = try peer.message("first")
        #expect(first.kind == .beginning)
        let (session, plaintext) = try account.session(from: first.bytes, of: peer.identity())
        #expect(plaintext == Array("first".utf8))
        try talk(session, peer)
    }

    private func talk(_ session: OlmSession, _ peer: Peer) throws {
        for round in 0..<10 {
            let text = "message \(round), größer"
            #expect(try session.decrypt(peer.message(text)) == Array(text.utf8))
            let message = try session.encrypt(Array(text.utf8))
            #expect(try peer.ask("decrypt", Int(message.kind.rawValue), Base64.encoded(message.bytes)) == text)
        }
    }

    @Test(arguments: Peer.commands.keys.sorted())
    func megolmBothWays(name: String) throws {
        let peer = try Peer(name)
        let out = try OutboundGroupSession()
        try peer.perform("group_in", Base64.encoded(out.sessionKey))
        for index in 0..<10 {
            let answer: [Any] = try peer.ask("group_decrypt", Base64.encoded(out.encrypt(Array("text \(index)".utf8))))
            #expect(answer.first as? String == "text \(index)" && answer.last as? Int == index)
        }
        let theirs: [String: String] = try peer.ask("group_out")
        let session = try InboundGroupSession(sessionKey: Base64.decoded(theirs["key"] ?? ""))
        #expect(try session.id == theirs["id"])
        for index in UInt32(0)..<10 {
            let read = try session.decrypt(Base64.decoded(peer.ask("group_encrypt", "text \(index)")))
            #expect(read.plaintext == Array("text \(index)".utf8) && read.index == index)
        }
        // Exports.
        let ours = try InboundGroupSession(sessionKey: out.sessionKey)
        try peer.perform("group_import", Base64.encoded(ours.exported(at: ours.firstKnownIndex)))
        let next: [Any] = try peer.ask("group_decrypt", Base64.encoded(out.encrypt([0x78])))
        #expect(next.first as? String == "x")
        let imported = try InboundGroupSession(exported: Base64.decoded(peer.ask("group_export", 11)))
        #expect(try imported.firstKnownIndex == 11)
        #expect(try imported.decrypt(out.encrypt([0x79])).plaintext == [0x79])
    }

    @Test(arguments: Peer.commands.keys.sorted())
    func theSameEmojiAndCodes(name: String) throws {
        let peer = try Peer(name)
        let ours = try ShortAuthentication()
        try ours.agree(with: Curve25519Key(base64: peer.ask("sas")))
        try peer.perform("sas_agree", "\(ours.publicKey)")
        let theirs: [String: [Int]] = try peer.ask("sas_bytes", "info")
        #expect(try ours.emoji(info: "info") == theirs["emoji"])
        #expect(try ours.numbers(info: "info") == theirs["numbers"])
        try ours.verify(mac: peer.ask("sas_mac", "key", "info"), of: "key", info: "info")
        try ours.verify(oldMAC: peer.ask("sas_old_mac", "key", "info"), of: "key", info: "info")
        // Peers compare the MAC that they get with the one that they calculate.
        for input in ["key", "ed25519:DEVICE,ed25519:größer"] {
            let mac: String = try peer.ask("sas_mac", input, "info")
            #expect(try ours.mac(of: input, info: "info") == mac)
            let oldMAC: String = try peer.ask("sas_old_mac", input, "info")
            #expect(try ours.oldMAC(of: input, info: "info") == oldMAC)
        }
    }

    @Test(arguments: Peer.commands.keys.sorted())
    func backupBothWays(name: String) throws {
        let peer = try Peer(name)
        let theirs = try BackedUpData(Array("a key".utf8), for: Curve25519Key(base64: peer.ask("backup")))
        #expect(
            try peer.ask(
                "backup_decrypt", "\(theirs.ephemeralKey)", Base64.encoded(theirs.mac),
                Base64.encoded(theirs.ciphertext)) == "a key")
        let backup = try BackupKey(KeyMaterial())
        let made: [String] = try peer.ask("backup_encrypt", "\(backup.publicKey)", "another key")
        let data = try BackedUpData(
            ephemeralKey: Curve25519Key(base64: made[0]), mac: Base64.decoded(made[1]),
            ciphertext: Base64.decoded(made[2]))
        #expect(try backup.decrypt(data) == Array("another key".utf8))
    }

    @Test(arguments: Peer.commands.keys.sorted())
    func signaturesAndDerivedKeys(name: String) throws {
        let peer = try Peer(name)
        let keys: [String: String] = try peer.ask("account")
        let signature: String = try peer.ask("sign", "text")
        try Ed25519Key(base64: keys["ed25519"] ?? "").verify(Signature(base64: signature), of: Array("text".utf8))
        let key = try SigningKey()
        let verified: Bool = try peer.ask("verify", "\(key.publicKey)", "text", "\(key.sign(Array("text".utf8)))")
        #expect(verified)
        let derived = try KeyDerivation.pbkdf2SHA512(passphrase: "pässword", salt: [1, 2], rounds: 1_000, count: 64)
        #expect(try peer.ask("pbkdf2", "pässword", "0102", 1_000) == derived.hex)
        #expect(try peer.ask("hmac", "0102", "0304") == KeyDerivation.hmacSHA256(of: [3, 4], key: [1, 2]).hex)
    }
}

/// A process of build-aux/ratchets_peer.py.
private final class Peer {
    /// Commands by peer name.
    static let commands: [String: [String]] = {
        let lines = ProcessInfo.processInfo.environment["PARLANCE_RATCHETS_PEERS"]?.split(separator: "\n") ?? []
        let words = lines.map { $0.split(separator: " ").map(String.init) }.filter { $0.count > 1 }
        return Dictionary(words.map { ($0[0], Array($0.dropFirst())) }, uniquingKeysWith: { $1 })
    }()

    struct Failure: Error {
        let said: String
    }

    private let process: PeerProcess

    init(_ name: String) throws {
        process = try PeerProcess(Self.commands[name] ?? [])
    }

    func perform(_ name: String, _ arguments: Any...) throws { _ = try said(by: [name] + arguments) }

    func ask<Answer>(_ name: String, _ arguments: Any...) throws -> Answer {
        let answer = try said(by: [name] + arguments)
        guard let answer = answer as? Answer else { throw Failure(said: "\(name): \(answer)") }
        return answer
    }

    func identity() throws -> Curve25519Key {
        let keys: [String: String] = try ask("account")
        return try Curve25519Key(base64: keys["curve25519"] ?? "")
    }

    func message(_ text: String) throws -> OlmMessage {
        let answer: [Any] = try ask("encrypt", text)
        guard let number = answer.first as? Int, let kind = OlmMessage.Kind(rawValue: UInt32(number)),
            let bytes = answer.last as? String
        else { throw Failure(said: "\(answer)") }
        return OlmMessage(kind: kind, bytes: try Base64.decoded(bytes))
    }

    private func said(by question: [Any]) throws -> Any {
        let text = try String(decoding: JSONSerialization.data(withJSONObject: question), as: UTF8.self)
        let line = try process.blockingAnswer(to: text)
        let answer = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        if let error = answer["error"] { throw Failure(said: "\(question[0]): \(error)") }
        return answer["answer"] ?? NSNull()
    }
}
