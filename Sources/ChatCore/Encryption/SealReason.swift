/// Why an encrypted message cannot be read.
///
/// The raw values are stored: never change one.
public enum SealReason: String, Error, CaseIterable, Hashable, Sendable, Codable {
    /// Its key has not arrived.
    case noKey
    /// Its key has not arrived, and the message is older than this device.
    case beforeSignIn
    /// Its key decrypts only later messages.
    case beforeKey
    /// The user was not in the room then, as its sender or the server says.
    case beforeMembership
    /// The sender shares keys with confirmed devices only.
    case unconfirmedDevice
    /// The sender withholds the key for another reason.
    case withheld
    /// It repeats another message, or was encrypted for another room.
    case repeated
    /// The server claims another sender than the one who encrypted it.
    case otherSender
    /// The sending device is unknown, or its owner has not confirmed it.
    case unconfirmedSender
    /// The sending device is being looked up.
    case unknownSender
    case unknownAlgorithm
    case damaged
    /// The credential that encrypts this device's keys could not be read.
    case keysLocked
    /// The account's encryption does not work; its ``EncryptionCondition`` says why.
    case keysUnavailable
    /// The program was built without encryption.
    case notBuilt
    /// The event has to be requested again: an earlier version did not store it, or it was lost with a damaged page.
    case notFetched
}
