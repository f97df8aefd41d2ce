public import ChatCore

/// What the main window says of the encryption of the displayed account.
extension AccountsCoordinator {
    /// What is missing, for the banner above the room list; `nil` if there is nothing to do, or something more urgent.
    public var encryptionNeed: EncryptionNeed? { banner == nil ? conversations.encryption?.need : nil }

    /// Whether to open the dialog about what is missing without being asked: the user has just signed in.
    public var offersSetUp: Bool {
        guard let addedAccount, addedAccount == selection, !isWaiting, selectedRow.condition == .online else {
            return false
        }
        return encryptionNeed == .setUp || encryptionNeed == .confirmDevice
    }

    /// The dialog was opened, or the user goes without: the banner stays.
    public func noteSetUpOffered() { addedAccount = nil }
}
