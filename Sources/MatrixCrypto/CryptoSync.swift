public import ChatCore
public import Foundation
public import JSONReading

/// What an answer of a sync says to encryption, as it came.
public struct CryptoSync: Equatable, Sendable {
    /// Messages to this device, in the server's order.
    public var events: [JSONValue] = []
    /// Users whose devices have changed.
    public var changed: [ExactText] = []
    /// Users whom no encrypted room is shared with any more.
    public var left: [ExactText] = []
    /// How many one-time keys the server has, by algorithm.
    public var keyCounts: JSONValue?
    /// Of which algorithms it has a fallback key that nobody has used.
    public var unusedFallbackKeys: JSONValue?
    public var kind: KeyUpkeep.Sync
    /// Where the messages end, if the sync has a position of its own for them.
    public var position: String?
    /// Whether it follows on nothing: what has changed before is not known.
    public var isWhole = false

    public init(kind: KeyUpkeep.Sync) { self.kind = kind }
}

/// A room's session: what is read with it can be read now.
public struct SessionID: Hashable, Sendable {
    public let room: ExactText
    public let session: ExactText

    public init(room: ExactText, session: ExactText) {
        self.room = room
        self.session = session
    }
}

/// What came of an answer.
public struct CryptoReceipt: Equatable, Sendable {
    /// Sessions that have come, or that read more than they did, and those whose sender said why not.
    public var sessions: Set<SessionID> = []
    /// Secrets that own devices have sent.
    public var secrets: Set<SecretName> = []
    /// Whether verifications may have changed.
    public var hasVerifications = false
    /// How many messages were refused, by reason; none of them is anybody's secret.
    public var rejected: [Rejection: Int] = [:]

    public init() {}

    public enum Rejection: String, Hashable, Sendable {
        case malformed, repeated, unreadable, recipient, sender, deviceKeys
        /// Not through Olm, where it must be.
        case clear
        /// A key that was passed on by another than its maker.
        case forwarded
        case roomKey
        /// A secret that was not asked for, or is not what it should be.
        case secret
    }
}

/// An encrypted event of a room, as a server has it.
public struct SealedEvent: Equatable, Sendable {
    public let room: ExactText
    public let event: ExactText
    public let sender: ExactText
    public let content: JSONValue

    public init(room: ExactText, event: ExactText, sender: ExactText, content: JSONValue) {
        self.room = room
        self.event = event
        self.sender = sender
        self.content = content
    }
}

/// A request for the caller to make. Its answer is handed to the machine that asked.
public struct CryptoRequest: Equatable, Sendable {
    public enum Action: Equatable, Sendable {
        /// `keys/upload` with this body.
        case upload([UInt8])
        /// `keys/query` for all devices of these users.
        case query(DeviceTracker.Query)
        /// `keys/claim` of one key of each of these devices.
        case claim([KeyClaim])
        case send(DeviceMessage)
        case sendAll(DeviceBatch)
        /// `keys/signatures/upload` with this body.
        case uploadSignatures(Data)
    }

    public let action: Action
    /// An answer counts for the state that asked and no other.
    let epoch: Int
    /// Of what was stored to be sent.
    let number: UInt64?
}

/// A one-time key that is wanted of a device.
public struct KeyClaim: Equatable, Sendable {
    public static let algorithm = "signed_curve25519"
    public let user: ExactText
    public let device: ExactText
    /// Of the repair that wants it; `nil` if a room's key is to be shared.
    let number: UInt64?

    var id: DeviceID { DeviceID(user: user, device: device) }
}
