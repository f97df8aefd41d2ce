import ChatCore

/// The main window's banner and setup dialog for the displayed account's encryption.
extension AccountsCoordinator {
    /// The next setup step, for the banner above the room list; `nil` if there is none, or if another banner is more
    /// urgent.
    public var encryptionNeed: EncryptionNeed? { banner == nil ? conversations.encryption?.need : nil }

    /// Whether to open the setup dialog unasked, right after sign-in.
    public var offersSetUp: Bool {
        guard let addedAccount, addedAccount == selection, !isWaiting, selectedCondition == .online else {
            return false
        }
        return encryptionNeed == .setUp || encryptionNeed == .confirmDevice
    }

    /// Call this once the dialog was opened or declined. The banner stays.
    public func noteSetUpOffered() { addedAccount = nil }
}
