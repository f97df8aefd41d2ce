/// Why an encrypted message cannot be read.
///
/// The raw values are in the files of users: they never change.
public enum SealReason: String, Error, CaseIterable, Hashable, Sendable, Codable {
    /// Its key has not come.
    case noKey
    /// Its key has not come, and it is older than the keys of this device.
    case beforeSignIn
    /// The key that came begins after it.
    case beforeKey
    /// Who shared the key said that it is of a time before the user was in the room.
    case beforeMembership
    /// Its sender shares keys with confirmed devices only.
    case unconfirmedDevice
    /// Its sender does not share the key, for another reason.
    case withheld
    /// It repeats another message, or is one of another room.
    case repeated
    /// The server names another sender than the one who encrypted it.
    case otherSender
    /// The owner of the device that sent it has not confirmed the device, or nobody knows the device.
    case unconfirmedSender
    /// It is being asked which device has sent it.
    case unknownSender
    case unknownAlgorithm
    case damaged
    /// What opens the keys of this device could not be read.
    case keysLocked
    /// The account's encryption does not work; its ``EncryptionCondition`` says why.
    case keysUnavailable
    /// The program was built without encryption.
    case notBuilt
    /// An earlier version did not keep the event, so the server has to send it once more.
    case notFetched
}
