public import ChatCore
import Foundation
public import JSONReading
import Ratchets

/// Decrypts room events, as a pure function of the event, the session and what was read before.
public enum GroupMessageReader {
    /// The cleartext fields of an encrypted event.
    public struct Envelope: Equatable, Sendable {
        public let room: ExactText
        public let event: ExactText
        /// The sender according to the server.
        public let sender: ExactText
        public let session: ExactText
        let ciphertext: String

        /// - Throws: ``Seal/algorithm`` or ``Seal/malformed``.
        public init(content: JSONValue, room: ExactText, event: ExactText, sender: ExactText) throws(Seal) {
            guard let algorithm = content["algorithm"]?.string else { throw .malformed }
            guard algorithm == InboundSession.algorithm else { throw .algorithm }
            guard let session = content["session_id"]?.exactText, let ciphertext = content["ciphertext"]?.string else {
                throw .malformed
            }
            self.room = room
            self.event = event
            self.sender = sender
            self.session = session
            self.ciphertext = ciphertext
        }
    }

    /// The decrypted payload.
    public struct Payload: Equatable, Sendable {
        public let type: String
        public let content: [String: JSONValue]
        /// Must be stored as read from this event, together with the results.
        public let message: GroupMessage
        /// The session's owner; if the session names no user (``InboundSession/Source/imported``), the sender according
        /// to the server.
        public let owner: InboundSession.Owner
        public let source: InboundSession.Source
        /// The warning to show about the sender, if any.
        public internal(set) var trust: MessageTrust?
    }

    /// Why an event stays sealed.
    public enum Seal: Error, Hashable, Sendable {
        /// The algorithm is not supported.
        case algorithm
        case malformed
        /// The room key has not arrived.
        case noKey
        /// The room key was withheld for this reason.
        case withheld(Withheld)
        /// The message precedes the first index that the room key can decrypt.
        case beforeKey
        /// The ciphertext is damaged, its signature is invalid, or the stored room key is damaged.
        case damaged
        /// The sender according to the server is not the one who encrypted it.
        case sender
        /// The sending device is unknown, or its owner has not confirmed it.
        case unconfirmedSender
        /// The sender's device list is being queried.
        case unknownSender
        /// It belongs to another room, or repeats another message.
        case replay
    }

    /// Decrypts an event.
    /// - Parameters:
    ///   - session: The session with the envelope's room and session ID, if known.
    ///   - withheld: The owner's reason for withholding the session, if it is not known.
    ///   - earlier: Returns the event that a message of the session was read from (``CryptoStorage/event(readFrom:)``).
    ///     Called once the index is known.
    public static func read(
        _ envelope: Envelope, with session: InboundSession?, withheld: Withheld? = nil,
        earlier: (GroupMessage) throws -> ExactText?
    ) throws -> Payload {
        guard let session else { throw withheld.map(Seal.withheld) ?? .noKey }
        guard session.room == envelope.room, session.id == envelope.session else { throw Seal.replay }
        guard session.isAnybodys || ExactText(session.owner.user) == envelope.sender else { throw Seal.sender }
        let (plaintext, index) = try decrypted(envelope, with: session)
        let message = GroupMessage(session: session.id, index: index)
        if let earlier = try earlier(message), earlier != envelope.event { throw Seal.replay }
        guard let value = try? JSONValue(parsing: Data(plaintext)), let type = value["type"]?.string,
            var content = value["content"]?.object
        else { throw Seal.malformed }
        // A server may move the message to another room.
        guard value["room_id"]?.exactText == envelope.room else { throw Seal.replay }
        // A relation counts only outside the ciphertext, so that servers and clients see the same one.
        content["m.relates_to"] = nil
        let owner = session.isAnybodys ? session.owner.claimed(by: envelope.sender) : session.owner
        return Payload(type: type, content: content, message: message, owner: owner, source: session.source)
    }

    /// The message as the storage records it once it is read. The record names the sender as well: another member may
    /// send a copy, which must not use up the index of the genuine message.
    static func recorded(_ message: GroupMessage, from sender: ExactText) -> GroupMessage {
        var bytes = message.session.bytes
        bytes.reserveCapacity(bytes.count + 1 + sender.bytes.count)
        // Session IDs are base64, so the separator ends them.
        bytes.append(0)
        bytes += sender.bytes
        return GroupMessage(session: ExactText(bytes: bytes), index: message.index)
    }

    private static func decrypted(
        _ envelope: Envelope, with session: InboundSession
    ) throws(Seal) -> (plaintext: [UInt8], index: UInt32) {
        do throws(RatchetError) {
            return try session.session.decrypt(Base64.decoded(envelope.ciphertext))
        } catch {
            switch error {
            case .unknownIndex: throw .beforeKey
            case .malformed: throw .malformed
            default: throw .damaged
            }
        }
    }
}

/// Why a room key is withheld, as stated in `m.room_key.withheld`.
public enum Withheld: String, Hashable, Sendable {
    case blocked = "m.blacklisted"
    case unverified = "m.unverified"
    case unauthorized = "m.unauthorised"
    case unavailable = "m.unavailable"
    case noOlm = "m.no_olm"
    case historyNotShared = "m.history_not_shared"
    /// An unknown code.
    case other = ""

    /// Parses the content of an `m.room_key.withheld`. It is not authenticated, so it proves nothing: it is shown until
    /// the key arrives. Returns `nil` if it names no session.
    public static func reason(in content: JSONValue) -> (session: CryptoRecord.Key, reason: Withheld)? {
        guard let code = content["code"]?.string, let room = content["room_id"]?.exactText,
            let session = content["session_id"]?.exactText, content["algorithm"]?.string == InboundSession.algorithm,
            room.bytes.count <= 255, session.bytes.count <= 255
        else { return nil }
        return (CryptoRecord.Key(.withheldSession, owner: room, id: session), Withheld(rawValue: code) ?? .other)
    }
}
