public import ChatCore
public import JSONReading
import MatrixCrypto
public import Ratchets

/// A device that signs its own keys.
public struct TestDevice {
    public let user: ExactText
    public let device: ExactText
    public let account: OlmAccount
    /// Whether its owner's identity has signed it.
    public var isConfirmed = true
    /// The identity key that it publishes; `nil` for its own.
    public var publishedIdentityKey: Curve25519Key?

    public init(_ user: ExactText, _ device: ExactText) throws {
        self.init(user, device, account: try OlmAccount())
    }

    public init(_ user: ExactText, _ device: ExactText, account: OlmAccount) {
        self.user = user
        self.device = device
        self.account = account
    }

    public func json() throws -> JSONValue {
        let object: [String: JSONValue] = [
            "user_id": .string(user.text), "device_id": .string(device.text),
            "algorithms": ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
            "keys": .object([
                "curve25519:\(device.text)": .string("\(publishedIdentityKey ?? account.identityKey)"),
                "ed25519:\(device.text)": .string("\(account.signingKey)"),
            ]),
            "unsigned": ["device_display_name": "laptop"],
        ]
        let signed = try SignedJSON.signed(object, by: user, keyID: device) { try account.sign($0) }
        return .object(isConfirmed ? try TestIdentity(user).confirming(signed) : signed)
    }
}
