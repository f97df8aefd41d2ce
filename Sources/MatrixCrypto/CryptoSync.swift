public import ChatCore
public import Foundation
public import JSONReading

/// The parts of a sync response that concern encryption, as received.
public struct CryptoSync: Equatable, Sendable {
    /// To-device messages, in the server's order.
    public var events: [JSONValue] = []
    /// Whether there are as many messages as one response has at most. The server may then have further ones.
    public var isFull = false
    /// Users whose device lists have changed.
    public var changed: [ExactText] = []
    /// Users with whom no encrypted room is shared any more.
    public var left: [ExactText] = []
    /// The number of one-time keys on the server, by algorithm.
    public var keyCounts: JSONValue?
    /// The algorithms for which the server has an unused fallback key.
    public var unusedFallbackKeys: JSONValue?
    public var kind: KeyUpkeep.Sync
    /// The position after these messages, if the sync has a separate one for them.
    public var position: String?
    /// Whether the sync has no predecessor, so that earlier changes are unknown.
    public var isWhole = false

    public init(kind: KeyUpkeep.Sync) { self.kind = kind }
}

/// Identifies a Megolm session of a room.
public struct SessionID: Hashable, Sendable {
    public let room: ExactText
    public let session: ExactText

    public init(room: ExactText, session: ExactText) {
        self.room = room
        self.session = session
    }
}

/// The outcome of processing a sync response.
public struct CryptoReceipt: Equatable, Sendable {
    /// Sessions that arrived or now begin earlier, and sessions that their sender reported as withheld.
    public var sessions: Set<SessionID> = []
    /// Secrets received from the user's other devices.
    public var secrets: Set<SecretName> = []
    /// Whether verifications may have changed.
    public var hasVerifications = false
    /// The number of rejected messages by reason; contains nothing secret.
    public var rejected: [Rejection: Int] = [:]

    public init() {}

    public enum Rejection: String, Hashable, Sendable {
        case malformed, repeated, unreadable, recipient, sender, deviceKeys
        /// Sent in the clear where Olm is required.
        case clear
        /// A key forwarded by a device other than its creator.
        case forwarded
        case roomKey
        /// A secret that was not requested, or does not match its public key.
        case secret
    }
}

/// An encrypted room event, as received from the server.
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

/// A request for the caller to send. Its response goes to the machine that issued it.
public struct CryptoRequest: Equatable, Sendable {
    public enum Action: Equatable, Sendable {
        /// `keys/upload` with this body.
        case upload([UInt8])
        /// `keys/query` for all devices of these users.
        case query(DeviceTracker.Query)
        /// `keys/claim` for one key of each of these devices.
        case claim([KeyClaim])
        case send(DeviceMessage)
        case sendAll(DeviceBatch)
        /// `keys/signatures/upload` with this body.
        case uploadSignatures(Data)

        public var kind: Kind {
            switch self {
            case .upload: .upload
            case .query: .query
            case .claim: .claim
            case .send, .sendAll: .send
            case .uploadSignatures: .uploadSignatures
            }
        }
    }

    /// The kinds of requests that may fail independently of each other.
    public enum Kind: Hashable, Sendable {
        case upload, query, claim
        /// To-device messages, which are sent in order.
        case send
        case uploadSignatures
    }

    public let action: Action
    /// A response applies only to the state that issued the request.
    let epoch: Int
    /// The number of the queued item that the request sends; `nil` for other requests.
    let number: UInt64?

    /// How many users or devices the request concerns, if smaller ones take its place once it is rejected; `nil` for
    /// all others.
    public var divisibleSize: Int? {
        switch action {
        case .query(let query): query.users.count
        case .claim(let claims): claims.count
        case .sendAll(let batch): batch.share?.readers.count
        case .upload, .send, .uploadSignatures: nil
        }
    }
}

/// A claim for a one-time key of a device.
public struct KeyClaim: Equatable, Sendable {
    public static let algorithm = "signed_curve25519"
    public let user: ExactText
    public let device: ExactText
    /// The queued repair that needs the key; `nil` if it serves to share a room key.
    let number: UInt64?

    var id: DeviceID { DeviceID(user: user, device: device) }
}
