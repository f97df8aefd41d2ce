import ChatCore
import Foundation
import JSONReading
import Ratchets

/// The payload of an Olm message, checked to be addressed to this device and to come from the stated sender.
struct OlmPayload: Equatable, Sendable {
    let type: String
    let content: JSONValue
    let owner: InboundSession.Owner
    /// The keys of the sending device, as it states and signs them itself; its owner may have signed them, too.
    let deviceKeys: [JSONValue]

    enum Failure: Error, Hashable, Sendable {
        case malformed
        /// It was encrypted for another user or device, and forwarded by someone who could read it.
        case recipient
        /// It names another sender than the server does.
        case sender
        /// The device keys in it are not those of the sending device.
        case deviceKeys
    }

    /// - Parameters:
    ///   - sender: The sender according to the server.
    ///   - senderKey: The identity key of the session that decrypted the message.
    init(
        plaintext: [UInt8], sender: ExactText, senderKey: Curve25519Key, recipient: ExactText,
        recipientKey: Ed25519Key
    ) throws(Failure) {
        guard let value = try? JSONValue(parsing: Data(plaintext)), let type = value["type"]?.string,
            let content = value["content"], content.object != nil
        else { throw .malformed }
        guard value["recipient"]?.exactText == recipient,
            let ours = value["recipient_keys"]?["ed25519"]?.string,
            let key = try? Ed25519Key(base64: ours), key == recipientKey
        else { throw .recipient }
        guard value["sender"]?.exactText == sender, let theirs = value["keys"]?["ed25519"]?.string,
            let signingKey = try? Ed25519Key(base64: theirs)
        else { throw .sender }
        var stated: [JSONValue] = []
        for name in ["sender_device_keys", "org.matrix.msc4147.device_keys"] {
            guard let json = value[name], json != .null else { continue }
            guard let device = json["device_id"]?.exactText,
                let keys = try? DeviceKeys(json, of: sender, device: device), keys.identityKey == senderKey,
                keys.signingKey == signingKey
            else { throw .deviceKeys }
            stated.append(json)
        }
        deviceKeys = stated
        self.type = type
        self.content = content
        owner = InboundSession.Owner(user: sender, identityKey: senderKey, signingKey: signingKey)
    }
}
