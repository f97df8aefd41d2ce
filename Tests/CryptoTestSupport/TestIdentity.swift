public import ChatCore
public import JSONReading
public import MatrixCrypto
public import Ratchets

/// A user's identity. Its keys are derived from the user ID and a number.
public struct TestIdentity {
    public let user: ExactText
    public let master: SigningKey
    public let selfSigning: SigningKey
    public let userSigning: SigningKey

    /// - Parameters:
    ///   - number: distinguishes several identities of one user.
    ///   - published: the self-signing key of another identity, which anyone can sign; `nil` for one of its own.
    public init(_ user: ExactText, number: Int = 0, selfSigning published: SigningKey? = nil) throws {
        self.user = user
        func key(_ name: String) throws -> SigningKey {
            try SigningKey(seed: KeyMaterial(bytes: SHA256.digest(of: Array("\(user) \(number) \(name)".utf8))))
        }
        (master, selfSigning, userSigning) = (try key("master"), try published ?? key("self"), try key("user"))
    }

    public var secrets: [SecretName: KeyMaterial] {
        get throws {
            [.master: try master.seed, .selfSigning: try selfSigning.seed, .userSigning: try userSigning.seed]
        }
    }

    public func confirming(_ device: [String: JSONValue]) throws -> [String: JSONValue] {
        try SignedJSON.signed(device, by: user, keyID: ExactText("\(selfSigning.publicKey)")) {
            try selfSigning.sign($0)
        }
    }

    private func object(_ key: SigningKey, _ usage: String) -> [String: JSONValue] {
        [
            "user_id": .string(user.text), "usage": [.string(usage)],
            "keys": .object(["ed25519:\(key.publicKey)": .string("\(key.publicKey)")]),
        ]
    }

    private func signed(_ key: SigningKey, _ usage: String) throws -> JSONValue {
        let object = object(key, usage)
        let id = ExactText("\(master.publicKey)")
        return .object(try SignedJSON.signed(object, by: user, keyID: id) { try master.sign($0) })
    }

    /// - Parameter verifier: the identity whose user-signing key signs this one, if any.
    public func masterKey(verifiedBy verifier: TestIdentity? = nil) throws -> JSONValue {
        let object = object(master, "master")
        guard let verifier else { return .object(object) }
        let id = ExactText("\(verifier.userSigning.publicKey)")
        return .object(
            try SignedJSON.signed(object, by: verifier.user, keyID: id) { try verifier.userSigning.sign($0) })
    }

    public var selfSigningKey: JSONValue { get throws { try signed(selfSigning, "self_signing") } }
    public var userSigningKey: JSONValue { get throws { try signed(userSigning, "user_signing") } }

    /// Returns the members of a `keys/query` response with these identities.
    /// - Parameters:
    ///   - ownUser: the requesting user, whose user-signing key is included.
    ///   - verified: the users that the requesting user has verified.
    public static func answer(
        _ identities: [TestIdentity], to ownUser: ExactText? = nil, verified: Set<ExactText> = []
    ) throws -> [String: JSONValue] {
        let own = identities.first { $0.user == ownUser }
        var members: [String: [String: JSONValue]] = ["master_keys": [:], "self_signing_keys": [:]]
        for identity in identities {
            let verifier = verified.contains(identity.user) ? own : nil
            members["master_keys"]?[identity.user.text] = try identity.masterKey(verifiedBy: verifier)
            members["self_signing_keys"]?[identity.user.text] = try identity.selfSigningKey
        }
        if let own { members["user_signing_keys"] = [own.user.text: try own.userSigningKey] }
        return members.mapValues { .object($0) }
    }

    /// Returns the members for the owners of these devices.
    public static func answer(of devices: [TestDevice], to ownUser: ExactText? = nil) throws -> [String: JSONValue] {
        try answer(Set(devices.map(\.user)).map { try TestIdentity($0) }, to: ownUser)
    }
}
