import ChatCore
import ChatGtk
import ChatViewModels
import Foundation
import GtkKit

/// Draws the dialogs in which encryption is set up and changed.
struct EncryptionDialogPictures {
    let dialogs: DialogPictures
    let encryption: FixtureEncryption
    let accounts: FixtureAccounts
    let coordinator: ConversationCoordinator
    let window: MainWindow

    private var gallery: Gallery { dialogs.gallery }

    func draw(_ suffix: String, _ width: Int) async -> Bool {
        window.showSidebar()
        guard await drawSetUps(suffix, width), await drawResetting(suffix, width) else { return false }
        return await drawPreferences(suffix, width)
    }

    // MARK: Setting up

    private func drawSetUps(_ suffix: String, _ width: Int) async -> Bool {
        guard let account = coordinator.encryption else { return false }
        for setUp in EncryptionStates.setUps {
            let opened = await setUp.open(in: account, of: encryption) { viewModel in
                _ = EncryptionSetUpDialog.present(viewModel, over: window.window)
            }
            guard let viewModel = opened, EncryptionStates.page(of: viewModel.state) == setUp.page else {
                dialogs.pictures.fail("cannot get to \(setUp.name)")
                return false
            }
            if !setUp.typed.isEmpty {
                guard await dialogs.open(width) != nil, await dialogs.enter(setUp.typed) else { return false }
            }
            guard await dialogs.draw("\(setUp.name)-\(suffix)", width) else { return false }
            encryption.answer(.success)
        }
        return true
    }

    /// Draws the dialog that resets the identity, and the question in it.
    private func drawResetting(_ suffix: String, _ width: Int) async -> Bool {
        encryption.set(EncryptionStates.ready)
        await gallery.waitUntilDrawn()
        guard let account = coordinator.encryption else { return false }
        EncryptionSetUpDialog.present(account.reset(), over: window.window)
        guard let dialog = await dialogs.open(width), await dialogs.draw("reset-\(suffix)", width, closes: false),
            await dialogs.press("_Reset…", in: dialog), await dialogs.draw("reset-question-\(suffix)", over: dialog)
        else { return false }
        dialog.close()
        await gallery.waitUntilDrawn()
        return true
    }

    // MARK: Preferences

    private func drawPreferences(_ suffix: String, _ width: Int) async -> Bool {
        guard let settings = Settings(schema: "io.github.parlance_chat.Parlance"),
            let account = coordinator.encryption?.preferences(
                account: FixtureAccounts.account.id, name: FixtureAccounts.account.name)
        else { return false }
        PreferencesDialog.present(settings: settings, encryption: [account], over: window.window, showing: .encryption)
        guard let dialog = await dialogs.open() else { return false }
        dialog.window?.setDefaultSize(width: width == DialogPictures.narrow ? width : 720, height: 1100)
        guard await dialogs.draw("preferences-encryption-\(suffix)", closes: false), await drawStates(suffix),
            await drawBackup(suffix, account, dialog), await drawKeyFile(suffix, account, dialog),
            await drawDevices(suffix, account, dialog)
        else { return false }
        dialog.close()
        await gallery.waitUntilDrawn()
        return true
    }

    /// Draws the open preferences in each state of the account's encryption.
    private func drawStates(_ suffix: String) async -> Bool {
        for (name, status) in EncryptionStates.preferences {
            encryption.set(status)
            guard await dialogs.drawChange("preferences-\(name)-\(suffix)") else { return false }
        }
        encryption.set(EncryptionStates.ready)
        accounts.set(.signedOut(isSoft: false))
        let isDrawn = await dialogs.drawChange("preferences-signed-out-\(suffix)")
        accounts.set(.online)
        await gallery.waitUntilDrawn()
        return isDrawn
    }

    /// Draws the question before the backup is deleted, and a failure of that.
    private func drawBackup(
        _ suffix: String, _ account: EncryptionPreferencesViewModel, _ preferences: Dialog
    ) async -> Bool {
        guard await dialogs.activateRow("Backup"),
            await dialogs.draw("turn-off-backup-\(suffix)", over: preferences)
        else { return false }
        encryption.answer(.failure(.unreachable))
        account.send(.setBackup(false))
        let isDrawn = await dialogs.drawChange("preferences-backup-rejected-\(suffix)")
        encryption.answer(.success)
        // Another attempt removes the failure.
        account.send(.setBackup(false))
        return isDrawn
    }

    /// Draws the question before an export, and an export and imports as they run and end, in the open preferences.
    private func drawKeyFile(
        _ suffix: String, _ account: EncryptionPreferencesViewModel, _ preferences: Dialog
    ) async -> Bool {
        await gallery.waitUntilDrawn()
        guard await dialogs.activateRow("Export Keys…"),
            await dialogs.draw("export-keys-\(suffix)", over: preferences)
        else { return false }
        let file = dialogs.pictures.url.appending(path: "keys.txt")
        let passphrase = AccountCredential("passphrase")
        let steps: [(action: EncryptionPreferencesViewModel.Action?, answer: FixtureEncryption.Answer)] = [
            (.exportKeys(file, passphrase: passphrase), .late), (nil, .success),
            (.importKeys(file, passphrase: passphrase), .late), (nil, .success),
            (.importKeys(file, passphrase: AccountCredential("")), .success),
        ]
        for (action, answer) in steps {
            encryption.answer(answer)
            if let action { account.send(action) }
            await gallery.waitUntilDrawn()
            guard let name = EncryptionStates.name(of: account.state.keyFile),
                await dialogs.draw("keys-\(name)-\(suffix)", closes: false)
            else { return false }
        }
        return true
    }

    /// Draws the questions about a device, the prompts for the account's password, and a failure.
    private func drawDevices(
        _ suffix: String, _ account: EncryptionPreferencesViewModel, _ preferences: Dialog
    ) async -> Bool {
        for (name, icon) in [("rename", "parlance-edit-symbolic"), ("sign-out", "system-log-out-symbolic")] {
            guard await dialogs.press(icon: icon, in: preferences),
                await dialogs.draw("device-\(name)-\(suffix)", over: preferences)
            else { return false }
        }
        let passwords: [(name: String, password: AccountCredential?, answer: EncryptionError)] = [
            ("password", nil, .passwordRequired), ("wrong-password", AccountCredential("wrong"), .wrongPassword),
        ]
        for (name, password, answer) in passwords {
            encryption.answer(.failure(answer))
            account.send(.signOut(device: FixtureEncryption.phone, password: password))
            guard await dialogs.draw("device-\(name)-\(suffix)", over: preferences) else { return false }
        }
        encryption.answer(.failure(.noDevice))
        account.send(.verify(device: FixtureEncryption.borrowed))
        let isDrawn = await dialogs.drawChange("preferences-device-failed-\(suffix)")
        encryption.answer(.success)
        return isDrawn
    }
}
