extension EncryptionSetUpViewModel.State {
    /// Whether the Back button is shown.
    public nonisolated var canGoBack: Bool {
        guard !isBusy else { return false }
        return switch step {
        case .password: true
        case .recovering: firstStep != .recovering
        case .resetting: firstStep != .resetting
        case .introduction, .choosingMethod, .showingKey, .done, .over: false
        }
    }

    /// Whether the page has a button that postpones the setup.
    public nonisolated var canPutOff: Bool { step == .introduction || step == .choosingMethod }

    public nonisolated var showsKey: Bool { if case .showingKey = step { true } else { false } }

    /// Whether the primary button is sensitive and Return activates it.
    /// - Parameters:
    ///   - secret: what was typed as recovery key or passphrase.
    ///   - password: what was typed as the account's password.
    public nonisolated func canGoOn(secret: String, password: String) -> Bool {
        guard !isBusy else { return false }
        return switch step {
        case .introduction, .done: true
        case .recovering: secret.contains { !$0.isWhitespace }
        case .password: !password.isEmpty
        case .showingKey: isKeySaved
        case .choosingMethod, .resetting, .over: false
        }
    }

    /// The first of the methods that are offered, by its row in the dialog.
    public nonisolated var firstMethod: String {
        hasOtherDevices ? "other_device" : hasRecovery ? "recovery_key" : "reset_row"
    }

    public nonisolated var iconName: String {
        switch step {
        case .introduction: need == .setUp ? "parlance-lock-symbolic" : "parlance-key-symbolic"
        case .choosingMethod: "parlance-this-computer-symbolic"
        case .recovering, .showingKey: "parlance-key-symbolic"
        case .resetting: "parlance-warning-symbolic"
        case .password: "parlance-lock-symbolic"
        case .done, .over: "parlance-confirmed-symbolic"
        }
    }
}

extension EncryptionNeed {
    nonisolated var firstStep: EncryptionSetUpViewModel.Step {
        switch self {
        case .setUp, .saveRecoveryKey: .introduction
        case .confirmDevice: .choosingMethod
        case .enterRecoveryKey: .recovering
        }
    }
}
