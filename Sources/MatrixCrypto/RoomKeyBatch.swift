public import ChatCore
public import Foundation
import JSONReading
import Ratchets

/// A device, identified by user ID and device ID.
public struct DeviceID: Codable, Hashable, Comparable, Sendable {
    public let user: ExactText
    public let device: ExactText

    public init(user: ExactText, device: ExactText) {
        self.user = user
        self.device = device
    }

    public init(from decoder: any Decoder) throws {
        var names = try decoder.unkeyedContainer()
        user = ExactText(try names.decode(String.self))
        device = ExactText(try names.decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var names = encoder.unkeyedContainer()
        try names.encode(user.text)
        try names.encode(device.text)
    }

    public static func < (one: DeviceID, other: DeviceID) -> Bool {
        (one.user, one.device) < (other.user, other.device)
    }
}

/// To-device messages of one type for several devices, in one request.
public struct DeviceBatch: Codable, Equatable, Sendable {
    public let type: String
    /// The transaction ID, the same for each attempt.
    public let transaction: String
    /// The contents by user ID and device ID, as JSON.
    public let messages: Data
    /// The room key in the messages, if any, and the devices that receive it.
    let share: RoomKeyBatch.Share?
}

/// Builds the Olm payloads and messages for other devices.
struct DeviceWriter {
    let user: ExactText
    let upkeep: KeyUpkeep
    private let deviceKeys: Result<[String: JSONValue], any Error>

    init(user: ExactText, upkeep: KeyUpkeep) {
        self.user = user
        self.upkeep = upkeep
        // Signed once for all messages.
        deviceKeys = Result { try upkeep.deviceKeys() }
    }

    func payload(_ type: String, _ content: JSONValue, to device: DeviceKeys) throws -> [UInt8] {
        let signingKey = upkeep.account.signingKey
        let payload: JSONValue = [
            "type": .string(type), "content": content, "sender": .string(user.text),
            "recipient": .string(device.user.text), "recipient_keys": ["ed25519": .string("\(device.signingKey)")],
            "keys": ["ed25519": .string("\(signingKey)")], "sender_device_keys": .object(try deviceKeys.get()),
        ]
        return try CanonicalJSON.bytes(of: payload)
    }

    func content(of message: OlmMessage, to device: DeviceKeys) -> JSONValue {
        let body: JSONValue = [
            "type": .integer(Int64(message.kind.rawValue)), "body": .string(Base64.encoded(message.bytes)),
        ]
        return [
            "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": .string("\(upkeep.account.identityKey)"),
            "ciphertext": .object(["\(device.identityKey)": body]),
        ]
    }

    /// A random transaction ID that needs no escaping in a URL path.
    static func transaction() throws -> String {
        Base64.encoded(try Randomness.bytes(16)).filter { $0 != "/" && $0 != "+" }
    }
}

/// Messages that share a room key with several devices.
struct RoomKeyBatch {
    struct Share: Codable, Equatable, Sendable {
        private let names: [String]
        let readers: [DeviceID]

        init(room: ExactText, session: ExactText, readers: [DeviceID]) {
            names = [room.text, session.text]
            self.readers = readers
        }

        var room: ExactText { ExactText(names.first ?? "") }
        var session: ExactText { ExactText(names.last ?? "") }
    }

    /// Recipients per request.
    static let maxRecipients = 250

    let writer: DeviceWriter
    private var messages: [(reader: DeviceID, content: JSONValue)] = []

    init(writer: DeviceWriter) { self.writer = writer }

    /// - Parameter peer: Must have a session; the caller stores the peer with the batch.
    mutating func add(_ type: String, _ content: JSONValue, to device: DeviceKeys, _ peer: inout OlmPeer) throws {
        let message = try peer.encrypt(try writer.payload(type, content, to: device))
        let reader = DeviceID(user: device.user, device: device.device)
        messages.append((reader, writer.content(of: message, to: device)))
    }

    /// - Parameter limits: The maximum size of a batch with a device, where it is less than ``maxRecipients``.
    func items(of room: ExactText, session: ExactText, limits: [DeviceID: Int]) throws -> [DeviceBatch] {
        let groups = Dictionary(grouping: messages) { limits[$0.reader] ?? Self.maxRecipients }
        return try groups.sorted { $0.key > $1.key }.flatMap { group in
            try Self.batches("m.room.encrypted", group.value, limit: group.key) {
                Share(room: room, session: session, readers: $0.map(\.reader))
            }
        }
    }

    /// Splits messages into requests of at most so many.
    static func batches(
        _ type: String, _ messages: [(reader: DeviceID, content: JSONValue)], limit: Int = RoomKeyBatch.maxRecipients,
        share: (ArraySlice<(reader: DeviceID, content: JSONValue)>) -> Share? = { _ in nil }
    ) throws -> [DeviceBatch] {
        try stride(from: 0, to: messages.count, by: limit).map { start in
            let part = messages[start...].prefix(limit)
            return try batch(type, Array(part), share: share(part))
        }
    }

    static func batch(
        _ type: String, _ messages: [(reader: DeviceID, content: JSONValue)], share: Share? = nil
    ) throws -> DeviceBatch {
        let values = try messages.map { (id: $0.reader, value: try CanonicalJSON.bytes(of: $0.content)) }
        return DeviceBatch(
            type: type, transaction: try DeviceWriter.transaction(),
            messages: Data(ExactObject(byDevice: values).bytes),
            share: share)
    }
}
