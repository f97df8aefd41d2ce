import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// A server's response about the identities of the user and of another user.
struct IdentityFuzz: CryptoFuzz {
    private static let own: ExactText = "@me:b"
    private static let other: ExactText = "@a:b"

    private let machine: CryptoMachine
    private let answer: JSONValue
    private let damage: JSONDamage
    private var now = Date(timeIntervalSince1970: 1_000_000)
    private var calls = 0

    init() async throws {
        machine = try await CryptoMachine.begun(
            user: Self.own, device: "ME", in: MemoryCryptoStorage(), key: KeyMaterial(), at: now)
        let identities = [try TestIdentity(Self.own), try TestIdentity(Self.other)]
        var members = try TestIdentity.answer(identities, to: Self.own)
        members["device_keys"] = [Self.own.text: [:], Self.other.text: [:]]
        answer = .object(members)
        let keys = identities.flatMap { [$0.master, $0.selfSigning, $0.userSigning] }.map { "\($0.publicKey)" }
        damage = JSONDamage(
            keys + keys.map { "ed25519:\($0)" } + [
                Self.own.text, Self.other.text, "ME", "master", "self_signing", "user_signing", "signatures", "usage",
                "b",
            ])
        try await machine.track([Self.own, Self.other])
        try await answerQuery(with: answer)
        _ = try await machine.adopt(identities[0].secrets)
        try await answerQuery(with: answer)
    }

    /// Makes the machine query again, and answers the query.
    private mutating func answerQuery(with answer: JSONValue) async throws {
        // Beyond all retry delays.
        now.addTimeInterval(86_400)
        var sync = CryptoSync(kind: .sliding)
        sync.changed = [Self.own, Self.other]
        _ = try await machine.received(sync, at: now)
        for _ in 0..<10 {
            guard let request = try await machine.nextRequest(at: now) else { return }
            let isQuery = if case .query = request.action { true } else { false }
            try await machine.answered(request, with: isQuery ? answer : [:], at: now)
        }
    }

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        try await answerQuery(with: damage.applied(to: answer, by: &input))
        if try await machine.identity(of: Self.other) == .verified { return "somebody is verified by nobody" }
        switch try await machine.ownIdentity() {
        case .none, .unknown: return "the own identity is forgotten"
        case .confirmed, .unconfirmed, .replaced: break
        }
        calls += 1
        guard calls.isMultiple(of: 16) else { return nil }
        try await answerQuery(with: answer)
        if try await machine.identity(of: Self.other) != .unverified { return "somebody does not come back" }
        return try await machine.ownIdentity() == .replaced ? "the own identity does not come back" : nil
    }
}
