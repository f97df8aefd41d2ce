import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// Responses to key uploads and claims, and the key counts of a sync.
struct KeyAnswerFuzz: CryptoFuzz {
    /// Low, because each call generates keys: the stored account would grow to thousands of them.
    static let lifetime = 8

    private static let own: ExactText = "@me:b"
    private static let room: ExactText = "!r:b"
    private static let maxRecords = 1_000

    private let key: KeyMaterial
    private var storage = MemoryCryptoStorage()
    private var machine: CryptoMachine
    private let peer: TestDevice
    private let claimed: JSONValue
    private let devices: JSONValue
    private let damage: JSONDamage
    private var now = Date(timeIntervalSince1970: 1_000_000)

    init() async throws {
        key = try KeyMaterial()
        machine = try await CryptoMachine.begun(user: Self.own, device: "ME", in: storage, key: key, at: now)
        peer = try TestDevice("@a:b", "PEER")
        try peer.account.generateOneTimeKeys(1)
        guard let oneTimeKey = try peer.account.unpublishedOneTimeKeys.first else { throw RatchetError.argument }
        let object: [String: JSONValue] = ["key": .string("\(oneTimeKey.key)")]
        let account = peer.account
        let signed = try SignedJSON.signed(object, by: peer.user, keyID: peer.device) { try account.sign($0) }
        claimed = [
            "one_time_keys": ["@a:b": ["PEER": ["signed_curve25519:AAAAAQ": .object(signed)]]], "failures": [:],
        ]
        var members = try TestIdentity.answer([TestIdentity("@a:b"), TestIdentity(Self.own)], to: Self.own)
        members["device_keys"] = ["@a:b": ["PEER": try peer.json()], Self.own.text: [:]]
        devices = .object(members)
        damage = JSONDamage([
            "PEER", "\(oneTimeKey.key)", "\(peer.account.identityKey)", "signed_curve25519", "signed_curve25519:AAAAAQ",
            "one_time_keys", "one_time_key_counts", "failures", "b", "signatures", "key", "ed25519:PEER",
        ])
        try await machine.track(["@a:b"])
        try await EncryptedRoom.note(
            [(room: Self.room, content: ["algorithm": "m.megolm.v1.aes-sha2"])], in: storage, at: now)
        var none = FuzzInput([])
        for _ in 0..<8 { _ = try await answerNext(&none) }
        _ = try await machine.adopt(TestIdentity(Self.own).secrets)
        for _ in 0..<8 { _ = try await answerNext(&none) }
        guard case .needsMembers(let version) = try await seal() else { throw RatchetError.argument }
        let members2: [ExactText: String] = [Self.own: "join", "@a:b": "join"]
        guard try await machine.setMembers(members2, visibility: nil, of: Self.room, since: version) else {
            throw RatchetError.argument
        }
    }

    private func seal() async throws -> CryptoMachine.Sealing {
        try await machine.seal("m.room.message", ["body": "x"], in: Self.room, at: now)
    }

    func renewed() async throws -> Self {
        var other = self
        other.storage = await MemoryCryptoStorage(copying: storage)
        other.machine = try await CryptoMachine(user: Self.own, device: "ME", storage: other.storage, key: key)
        return other
    }

    /// - Returns: Whether there was a request.
    private func answerNext(_ input: inout FuzzInput) async throws -> Bool {
        guard let request = try await machine.nextRequest(at: now) else { return false }
        let whole: JSONValue =
            switch request.action {
            case .upload: ["one_time_key_counts": ["signed_curve25519": 25]]
            case .claim: claimed
            case .query: devices
            case .send, .sendAll, .uploadSignatures: [:]
            }
        input.steps += 1
        let answer = damage.applied(to: whole, by: &input)
        if case .query = request.action {
            try await machine.answered(request, with: devices, at: now)
        } else if answer != whole, input.flag() {
            try await machine.refused(request, at: now)
        } else {
            try await machine.answered(request, with: answer, at: now)
        }
        return true
    }

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        now.addTimeInterval(3_600)
        var sync = CryptoSync(kind: input.flag() ? .sliding : .plain)
        let counts = damage.applied(
            // One less than the target, so that each missing key is generated.
            to: ["counts": ["signed_curve25519": 24], "unused": ["signed_curve25519"]], by: &input)
        sync.keyCounts = counts["counts"]
        sync.unusedFallbackKeys = counts["unused"]
        _ = try await machine.received(sync, at: now)
        _ = try await seal()
        var requests = 0
        while try await answerNext(&input) {
            requests += 1
            if requests > 20 { return "the machine asks without an end" }
        }
        if try await machine.isReplaced() { return "keys are taken for replaced" }
        let count = await storage.count
        return count > Self.maxRecords ? "\(count) records are kept" : nil
    }
}
