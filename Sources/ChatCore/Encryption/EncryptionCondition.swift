/// Whether an account's encryption works on this device.
public enum EncryptionCondition: Equatable, Sendable {
    /// Not known yet.
    case none
    case on
    /// Nothing is decrypted, and nothing is deleted.
    case off(Problem)

    public enum Problem: Error, Equatable, Sendable {
        /// The credential that encrypts the keys could not be read.
        case locked(CredentialStoreError)
        /// The credential is missing or another one, so the keys cannot be read.
        case credentialLost
        /// The file with the keys is missing, although there once was one.
        case missing
        /// The keys cannot be read. The reason is technical.
        case damaged(reason: String)
        /// The server has another program's keys for this device.
        case replaced
        /// The access token belongs to no device.
        case noDevice
        /// The disk is full or not writable.
        case storage(reason: String)
        /// The program was built without encryption.
        case notBuilt
    }

    public var problem: Problem? { if case .off(let problem) = self { problem } else { nil } }
}
