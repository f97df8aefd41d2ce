public import ChatCore
import Foundation
public import JSONReading
import Ratchets

/// Reads encrypted events of rooms: a function of the event, the session and what was read before.
public enum GroupMessageReader {
    /// What stands outside of the ciphertext.
    public struct Envelope: Equatable, Sendable {
        public let room: ExactText
        public let event: ExactText
        /// Whom the server names as the sender.
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

    /// What was encrypted.
    public struct Payload: Equatable, Sendable {
        public let type: String
        public let content: [String: JSONValue]
        /// To be stored as read from the event, with whatever is made of it.
        public let message: GroupMessage
        /// If the session does not say whose it is (``InboundSession/Source/imported``), the sender that the server names.
        public let owner: InboundSession.Owner
        public let source: InboundSession.Source
        /// What is to be said of its sender.
        public internal(set) var trust: MessageTrust?
    }

    /// Why an event stays sealed.
    public enum Seal: Error, Hashable, Sendable {
        /// Encrypted in a way that is not known.
        case algorithm
        case malformed
        /// Its key has not come.
        case noKey
        /// Its key was not shared, for this reason.
        case withheld(Withheld)
        /// From before the first message that the key reads.
        case beforeKey
        /// Damaged, or signed by another.
        case damaged
        /// The server names another sender than the one who encrypted it.
        case sender
        /// The device that has sent it is not confirmed by its owner, or nobody knows it.
        case unconfirmedSender
        /// The devices of its sender are being asked for.
        case unknownSender
        /// It is of another room, or repeats another message.
        case replay
    }

    /// Reads an event.
    /// - Parameters:
    ///   - session: The one with the room and identifier of the envelope, if there is one.
    ///   - withheld: The reason that its owner gave for not sharing it, if there is no session.
    ///   - earlier: The event that a message of the session was read from (``CryptoStorage/event(readFrom:)``). It is
    ///     asked for once the index is known.
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
        // A server may put the message into another room.
        guard value["room_id"]?.exactText == envelope.room else { throw Seal.replay }
        // A relation is outside or nowhere, so that servers and readers see the same one.
        content["m.relates_to"] = nil
        let owner = session.isAnybodys ? session.owner.claimed(by: envelope.sender) : session.owner
        return Payload(type: type, content: content, message: message, owner: owner, source: session.source)
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

/// Why a key is not shared, as `m.room_key.withheld` says.
public enum Withheld: String, Hashable, Sendable {
    case blocked = "m.blacklisted"
    case unverified = "m.unverified"
    case unauthorized = "m.unauthorised"
    case unavailable = "m.unavailable"
    case noOlm = "m.no_olm"
    case historyNotShared = "m.history_not_shared"
    /// One that is not known.
    case other = ""

    /// From the content of an `m.room_key.withheld`. It is not encrypted, so it proves nothing: it is shown and goes when
    /// the key comes. `nil` if it names no session.
    public static func reason(in content: JSONValue) -> (session: CryptoRecord.Key, reason: Withheld)? {
        guard let code = content["code"]?.string, let room = content["room_id"]?.exactText,
            let session = content["session_id"]?.exactText, content["algorithm"]?.string == InboundSession.algorithm,
            room.bytes.count <= 255, session.bytes.count <= 255
        else { return nil }
        return (CryptoRecord.Key(.withheldSession, owner: room, id: session), Withheld(rawValue: code) ?? .other)
    }
}
