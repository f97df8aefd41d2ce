public import ChatCore
import Foundation
public import JSONReading
public import MatrixCrypto
public import Ratchets

/// A device that decrypts what a machine sends.
public final class ReadingDevice {
    /// A to-device message that is not for this device, or not as it has to be.
    public struct Mismatch: Error {}

    public let device: TestDevice
    public let oneTimeKeys: Bool
    /// The key that it publishes in place of its one-time keys, if any.
    public var publishedOneTimeKey: Curve25519Key?
    private var olm: [OlmSession] = []
    /// Inbound sessions by session ID.
    public private(set) var sessions: [String: InboundGroupSession] = [:]
    /// The contents of the room keys received.
    public private(set) var contents: [JSONValue] = []

    public init(_ user: ExactText, _ id: ExactText, oneTimeKeys: Bool = true) throws {
        device = try TestDevice(user, id)
        self.oneTimeKeys = oneTimeKeys
    }

    public init(_ device: TestDevice) {
        self.device = device
        oneTimeKeys = true
    }

    public var id: DeviceID { DeviceID(user: device.user, device: device.device) }

    /// One of its one-time keys, as a server returns it for a claim.
    public func claimed() throws -> JSONValue {
        try device.account.generateOneTimeKeys(1)
        guard let key = try device.account.unpublishedOneTimeKeys.first else { throw Mismatch() }
        try device.account.markAsPublished()
        let signed = try SignedJSON.signed(
            ["key": .string("\(publishedOneTimeKey ?? key.key)")], by: device.user, keyID: device.device
        ) { try device.account.sign($0) }
        return ["signed_curve25519:\(key.id)": .object(signed)]
    }

    /// Processes a to-device message.
    public func receive(_ content: JSONValue) throws {
        guard let ours = content["ciphertext"]?.object?["\(device.account.identityKey)"],
            let type = ours["type"]?.integer,
            let kind = UInt32(exactly: type).flatMap({ OlmMessage.Kind(rawValue: $0) })
        else { throw Mismatch() }
        let senderKey = try Curve25519Key(base64: content["sender_key"]?.string ?? "")
        let message = OlmMessage(kind: kind, bytes: try Base64.decoded(ours["body"]?.string ?? ""))
        let payload = try JSONValue(parsing: Data(try plaintext(of: message, from: senderKey)))
        guard payload["recipient"]?.string == device.user.text,
            payload["recipient_keys"]?["ed25519"]?.string == "\(device.account.signingKey)",
            payload["sender_device_keys"]?["keys"]?.object?.isEmpty == false
        else { throw Mismatch() }
        guard payload["type"]?.string == "m.room_key", let key = payload["content"] else { return }
        contents.append(key)
        let session = try InboundGroupSession(sessionKey: Base64.decoded(key["session_key"]?.string ?? ""))
        sessions[key["session_id"]?.string ?? ""] = session
    }

    private func plaintext(of message: OlmMessage, from senderKey: Curve25519Key) throws -> [UInt8] {
        for session in olm {
            if let plaintext = try? session.decrypt(message) { return plaintext }
        }
        let (session, plaintext) = try device.account.session(from: message.bytes, of: senderKey)
        olm.append(session)
        return plaintext
    }

    /// Decrypts an event; `nil` without the key for it.
    public func read(_ sealed: JSONValue) throws -> (text: String, index: UInt32)? {
        guard let session = sessions[sealed["session_id"]?.string ?? ""] else { return nil }
        let bytes = try Base64.decoded(sealed["ciphertext"]?.string ?? "")
        do throws(RatchetError) {
            let (plaintext, index) = try session.decrypt(bytes)
            let payload = try? JSONValue(parsing: Data(plaintext))
            return (payload?["content"]?["body"]?.string ?? "?", index)
        } catch {
            if error == .unknownIndex { return nil }
            throw error
        }
    }
}
