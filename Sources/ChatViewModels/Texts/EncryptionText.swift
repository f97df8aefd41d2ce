public import ChatCore

/// The texts about an account's encryption: the banner, the setup dialog and its errors.
public struct EncryptionText {
    let translator: Translator

    public init(_ translator: Translator) {
        self.translator = translator
    }

    // MARK: Banner

    public func banner(_ need: EncryptionNeed) -> (text: String, action: String) {
        switch need {
        case .setUp: (translator("Encryption is not set up"), translator("_Set Up…"))
        case .confirmDevice: (translator("This device is not confirmed"), translator("_Confirm…"))
        case .saveRecoveryKey: (translator("Your recovery key is not saved"), translator("New _Key…"))
        case .enterRecoveryKey: (translator("This device lacks some keys"), translator("_Enter Key…"))
        }
    }

    // MARK: Setting up

    public func windowTitle(_ state: EncryptionSetUpViewModel.State) -> String {
        if state.isResetting { return translator("Reset Encryption") }
        return switch state.need {
        case .setUp: translator("Set Up Encryption")
        case .confirmDevice: translator("Confirm This Device")
        case .saveRecoveryKey, .enterRecoveryKey: translator("Recovery Key")
        }
    }

    /// The title of the page.
    public func title(_ state: EncryptionSetUpViewModel.State) -> String {
        switch state.step {
        case .introduction:
            state.need == .setUp ? translator("Set Up Encryption") : translator("Create a New Recovery Key")
        case .choosingMethod: translator("Confirm This Device")
        case .recovering:
            state.hasPassphrase ? translator("Recovery Key or Passphrase") : translator("Recovery Key")
        case .resetting: translator("Reset Your Identity?")
        case .password: translator("Enter Your Password")
        case .showingKey: translator("Save Your Recovery Key")
        case .done, .over:
            state.need == .enterRecoveryKey
                ? translator("Recovery Key Accepted") : translator("This Device Is Confirmed")
        }
    }

    /// The text below the title.
    public func explanation(_ state: EncryptionSetUpViewModel.State) -> String {
        switch state.step {
        case .introduction:
            state.need == .setUp
                ? translator(
                    "Parlance creates an identity for your account, by which others recognize your devices, and a backup of the keys of your messages. You get a recovery key that unlocks both if you lose this device."
                )
                : translator(
                    "The new recovery key unlocks your identity and the backup of your keys. The previous key stops working."
                )
        case .choosingMethod:
            state.isReplaced
                ? translator(
                    "Your account has a new identity, created on another device. Confirm this device with it to read and send encrypted messages."
                )
                : translator(
                    "Others share the keys of their messages only with confirmed devices. Confirm this device to read and send encrypted messages."
                )
        case .recovering where state.isCheck:
            state.hasPassphrase
                ? translator("Enter the recovery key or the passphrase that you saved, to see whether it still works.")
                : translator("Enter the recovery key that you saved, to see whether it still works.")
        case .recovering:
            state.hasPassphrase
                ? translator("Enter the recovery key or the passphrase of your account.")
                : translator("Enter the recovery key of your account.")
        case .resetting:
            translator(
                "Only reset if you have neither another confirmed device nor your recovery key. These things are lost:")
        case .password: translator("Your server asks for the password of your account to change your identity.")
        case .showingKey:
            translator(
                "This key is shown only once. Keep it in a password manager or on paper: with it you can read your messages if you lose this device."
            )
        case .done where state.isCheck, .over where state.isCheck:
            translator("It unlocks your account’s encryption on a new device. Keep it in a safe place.")
        case .done, .over: restoring(state.status)
        }
    }

    /// What becomes of earlier messages after the recovery key was accepted.
    private func restoring(_ status: EncryptionStatus?) -> String {
        // The status may still be the one before that.
        guard let status, status.identity == .confirmed, status.backup != .unknown else {
            return translator("Earlier messages become readable if their keys can be restored from a backup.")
        }
        if status.canReadBackup {
            return translator("Earlier messages become readable as their keys are restored from the backup.")
        }
        // Sentences, whereas the backup's row in the preferences shows phrases.
        return switch status.backup {
        case .off: translator("If you lose this device, its messages can no longer be read.")
        case .untrusted: translator("The backup was made by an unconfirmed device and is not used.")
        case .unknown, .on, .failing: translator("This device cannot restore keys from the backup.")
        }
    }

    /// What screen readers are told: the page, or what has been done with its recovery key.
    public func announcement(_ state: EncryptionSetUpViewModel.State) -> String {
        if state.showsKey {
            let done = [
                state.isKeyCopied ? translator("The recovery key was copied.") : nil,
                state.isKeyFileSaved ? translator("The recovery key was saved to the file.") : nil,
            ].compactMap(\.self)
            if !done.isEmpty { return done.joined(separator: "\n") }
        }
        return ([title(state), explanation(state)] + (state.step == .resetting ? losses : [])).joined(separator: "\n")
    }

    /// The label of the primary button, or `nil` without one.
    public func nextButton(_ state: EncryptionSetUpViewModel.State) -> String? {
        switch state.step {
        case .introduction: state.need == .setUp ? translator("_Set Up") : translator("_Create")
        case .recovering: state.isCheck ? translator("C_heck") : translator("_Confirm")
        case .password: translator("_Continue")
        case .showingKey, .done: translator("_Done")
        case .choosingMethod, .resetting, .over: nil
        }
    }

    public func recoveryMethod(_ state: EncryptionSetUpViewModel.State) -> String {
        state.hasPassphrase ? translator("Use Recovery Key or Passphrase") : translator("Use Recovery Key")
    }

    public func recoveryField(_ state: EncryptionSetUpViewModel.State) -> String {
        state.hasPassphrase ? translator("Recovery Key or Passphrase") : translator("Recovery Key")
    }

    public func copyButton(_ state: EncryptionSetUpViewModel.State) -> String {
        state.isKeyCopied ? translator("_Copied") : translator("_Copy")
    }

    public func saveButton(_ state: EncryptionSetUpViewModel.State) -> String {
        state.isKeyFileSaved ? translator("_Saved") : translator("_Save to File…")
    }

    /// The suggested file name for a recovery key.
    public var recoveryKeyFile: String { translator("Parlance recovery key.txt") }

    /// What a reset loses, one line each.
    public var losses: [String] {
        [
            translator("Messages whose keys are only in the current backup can no longer be read."),
            translator("Your current recovery key or passphrase stops working."),
            translator("Your other devices have to be confirmed again."),
            translator("People you verified are no longer verified, and have to be verified again."),
            translator("People who verified you are told that your identity changed, and have to verify you again."),
        ]
    }

    /// The question before a reset.
    public var resetting: ConfirmationText {
        ConfirmationText(
            heading: translator("Reset Your Identity?"),
            body: translator("This cannot be undone."),
            action: translator("_Reset"))
    }

    public func text(for failure: EncryptionSetUpViewModel.Failure) -> String {
        switch failure {
        case .service(let error): text(for: error)
        case .file: translator("Could not save the file. Choose another folder.")
        }
    }

    // MARK: Problems

    public func text(for error: EncryptionError) -> String {
        switch error {
        case .passwordRequired: translator("The server asks for the password of your account.")
        case .wrongPassword: translator("Incorrect password.")
        case .noDevice: translator("You have no other device that could confirm this one.")
        case .confirmationUnsupported:
            translator(
                "Your server wants this confirmed on a web page, which Parlance does not support yet. Use another app for this."
            )
        case .wrongRecoveryKey: translator("This recovery key or passphrase does not match your account.")
        case .malformedRecoveryKey: translator("This is not a recovery key. Check for typing errors.")
        case .noRecovery: translator("Your account has no recovery key.")
        case .incompleteRecovery:
            translator("The recovery key does not unlock the keys that this device needs.")
        case .unconfirmedDevice: translator("Confirm this device first.")
        case .missingSecrets:
            translator("This device lacks keys that your recovery key unlocks. Enter that recovery key first.")
        case .wrongPassphrase: translator("Incorrect passphrase.")
        case .damagedFile: translator("This is not a key file, or it is damaged.")
        case .file: translator("Could not read or write the file.")
        case .unreachable: translator("Could not connect to the server.")
        case .rejected(let reason): translator("The server rejected the request: {reason}", ["reason": reason])
        case .unavailable: translator("Encryption is not available on this device.")
        case .noIdentity: translator("This person has not set up encryption, so there is nothing to verify.")
        case .otherIdentity: translator("The identity has changed once more. Nothing was accepted.")
        case .identityExists: translator("Encryption was set up on another device in the meantime.")
        case .noRoom: translator("Start a direct chat with this person first.")
        case .storage: translator("The keys could not be saved. Check the free space on the disk.")
        }
    }
}
