/// Whether an account's encryption works on this device.
public enum EncryptionCondition: Equatable, Sendable {
    /// Not known yet.
    case none
    case on
    /// Nothing is decrypted, and nothing is deleted.
    case off(Problem)

    public enum Problem: Error, Equatable, Sendable {
        /// The secret that the keys are encrypted with could not be read.
        case locked(CredentialStoreError)
        /// The secret is gone, or another; without it the keys cannot be read.
        case credentialLost
        /// There is no file with keys where there was one.
        case missing
        /// The keys cannot be read. The reason is technical.
        case damaged(reason: String)
        /// The server has another program's keys for this device.
        case replaced
        /// The session is no device's.
        case noDevice
        /// The disk is full, or may not be written.
        case storage(reason: String)
        /// The program was built without encryption.
        case notBuilt
    }

    public var problem: Problem? { if case .off(let problem) = self { problem } else { nil } }
}
