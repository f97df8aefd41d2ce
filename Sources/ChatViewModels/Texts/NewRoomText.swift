public import ChatCore

extension NewRoomViewModel.State {
    /// The text below the encryption switch.
    public nonisolated func encryptionText(_ translator: Translator) -> String {
        if isPublic { return translator("Rooms that anyone can join are not encrypted") }
        return switch encryptionProblem {
        case nil: translator("Only members can read messages. Cannot be turned off later.")
        case .locked?: translator("Unlock the keyring to create an encrypted room")
        case .notBuilt?: translator("This version of Parlance was built without encryption")
        case .replaced?: translator("Another app has this device’s keys")
        case .credentialLost?, .missing?, .damaged?, .noDevice?, .storage?:
            translator("This device’s keys are not available")
        }
    }
}
