import ChatCore
import ChatOutbox

/// What ``OutboxRequest/failure`` says where this program gave up itself. It is stored: requests that have failed in an
/// earlier version have these reasons, too.
enum DeliveryReason: String, CaseIterable {
    case unreadableFile = "the file cannot be read"
    case roomLeft = "the room was left"
    case messageTooLong = "larger than an event may be"
    case fileKeys = "the key of an encrypted file must not be sent"
    case deletedMessage = "the message was deleted"
    case unreadableMessage = "the message it changes cannot be read"
    case unknownMessage = "the message it changes is not known to the server"
    case unreadableEncryption = "it cannot be read whether the room is encrypted"
    case unknownEncryption = "it is not known how the room is encrypted"
    case unknownAlgorithm = "the room is encrypted in a way that is not known"
    case mayBeSent = "a former device may have sent it"
    case unencodable = "it cannot be encoded"
    case notBuilt = "this program was built without encryption"
    case credentialLost = "what opens the keys of this device is lost"
    case unreadableKeys = "the keys of this device cannot be read"
    case replacedKeys = "another program has the keys of this device"
    case noDevice = "the server named no device"
    /// Begins as ``RoomSealer/isHeld(reason:)`` expects, so that the message is sent once this device is confirmed.
    case ownIdentityReplaced = "the identity of the local user has been replaced"

    var error: DeliveryError { .rejected(reason: rawValue) }

    fileprivate var failure: SendFailure? {
        switch self {
        case .unreadableFile: .unreadableFile
        case .roomLeft: .notInRoom
        case .messageTooLong: .messageTooLong
        case .deletedMessage: .notFound
        case .unreadableMessage, .unknownMessage: .messageUnavailable
        case .unreadableEncryption, .unknownEncryption, .unknownAlgorithm: .encryptionUnknown
        case .notBuilt, .credentialLost, .unreadableKeys, .replacedKeys, .noDevice: .encryptionUnavailable
        case .mayBeSent: .mayBeSent
        case .ownIdentityReplaced: .ownIdentityReplaced
        case .fileKeys, .unencodable: nil
        }
    }
}

extension SendFailure {
    /// Whether the server has answered so: ``OutboxRequest/failure`` begins with the status then.
    static func isAnswer(reason: String) -> Bool { status(in: reason) != nil }

    private static func status(in reason: String) -> Int? { reason.split(separator: " ").first.flatMap { Int($0) } }

    /// `nil` for a reason that would tell the user nothing.
    /// - Parameter reason: ``OutboxRequest/failure``.
    init?(reason: String) {
        if let known = DeliveryReason(rawValue: reason) {
            guard let failure = known.failure else { return nil }
            self = failure
            return
        }
        if RoomSealer.isHeld(reason: reason) {
            self = .changedIdentity
            return
        }
        guard let status = Self.status(in: reason) else { return nil }
        switch status {
        case _ where reason.hasSuffix("M_TOO_LARGE"), 413: self = .tooLarge
        case _ where reason.hasSuffix("M_CONSENT_NOT_GIVEN"): self = .termsNotAccepted
        case 403: self = .notPermitted
        case 404: self = .notFound
        default: self = .rejected(reason: reason)
        }
    }
}

extension OutboxItem {
    /// Why it was not sent; `nil` if it was not given up, or if that is all that is known.
    var failure: SendFailure? { if case .failed(let reason) = state { SendFailure(reason: reason) } else { nil } }
}
