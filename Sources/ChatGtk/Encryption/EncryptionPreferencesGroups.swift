import CGtk
import ChatCore
import ChatViewModels
import ComposerGtk
import Foundation
import GtkKit

/// The encryption of one account in the preferences, as groups of rows.
final class EncryptionPreferencesGroups {
    private let viewModel: EncryptionPreferencesViewModel
    private let text = EncryptionText(.gettext)
    private let account: PreferencesGroup
    private let recovery = PreferencesGroup(title: translated("Recovery"))
    private let keyFile = PreferencesGroup(title: translated("Key File"))
    private let deviceGroup = PreferencesGroup(title: translated("Devices"))
    private let summary = ActionRow("")
    private let summaryIcon = Image()
    private let setUp = Button()
    private let retry = Button()
    private let fingerprint = Label()
    private let fingerprintRow = Box(.vertical, spacing: 3)
    private let recoveryKey = ActionRow(translated("Recovery Key"))
    private let newKey = Button()
    private let check = ActionRow(translated("Check Recovery Key…"))
    private let backup = ActionRow(translated("Backup"))
    private let backupSwitch = Switch()
    private let reset = ActionRow(translated("Reset Identity…"))
    private let exporting = ActionRow(translated("Export Keys…"))
    private let importing = ActionRow(translated("Import Keys…"))
    private let result = ActionRow("")
    private let spinner = Spinner()
    private let problem = ActionRow(role: GTK_ACCESSIBLE_ROLE_ALERT)
    private var deviceRows: [DeviceRow] = []
    private var displayedDevices: [DeviceRow.Content] = []
    private var displayedState: EncryptionPreferencesViewModel.State?
    private var rendering: Rendering?

    var groups: [PreferencesGroup] { [account, recovery, keyFile, deviceGroup] }

    init(_ viewModel: EncryptionPreferencesViewModel) {
        self.viewModel = viewModel
        let state = viewModel.state
        account = PreferencesGroup(title: state.name.isEmpty ? state.account : state.name)
        account.setDescription(state.account)
        build()
        connect()
        viewModel.send(.loadDevices)
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    isolated deinit { viewModel.abandon() }

    // MARK: Building

    private func build() {
        retry.label = translated("_Retry")
        for (row, widget) in [(summary, setUp), (summary, retry), (recoveryKey, newKey)] {
            widget.usesUnderline = true
            widget.valign = .center
            row.addSuffix(widget)
        }
        summary.addPrefix(summaryIcon)
        buildFingerprint()
        account.add(summary)
        account.add(fingerprintRow)
        backupSwitch.valign = .center
        backup.addSuffix(backupSwitch)
        backup.setActivatableWidget(backupSwitch)
        recovery.add(recoveryKey)
        check.isActivatable = true
        recovery.add(check)
        recovery.add(backup)
        reset.isActivatable = true
        recovery.add(reset)
        keyFile.setDescription(
            translated("Save your message keys to a passphrase-protected file, to read them in another app."))
        for row in [exporting, importing] {
            row.isActivatable = true
            keyFile.add(row)
        }
        // Not a prefix: a hidden one would still indent the title.
        result.addSuffix(spinner)
        keyFile.add(result)
        problem.addStyle("error")
        deviceGroup.add(problem)
    }

    private func buildFingerprint() {
        let title = Label(translated("Fingerprint of This Device"))
        title.addStyle("caption")
        title.addStyle("dim-label")
        fingerprint.addStyle("monospace")
        fingerprint.isSelectable = true
        fingerprint.wrap = true
        for label in [title, fingerprint] {
            label.xalign = 0
            fingerprintRow.append(label)
        }
        fingerprintRow.addStyle("fingerprint")
        fingerprintRow.addStyle("card")
        fingerprintRow.marginTop = 12
    }

    private func connect() {
        setUp.onClick { [weak self] in self?.present(self?.viewModel.encryption.setUp()) }
        retry.onClick { [weak self] in self?.viewModel.encryption.retry() }
        newKey.onClick { [weak self] in self?.present(self?.viewModel.encryption.newRecoveryKey()) }
        check.onActivated { [weak self] in self?.present(self?.viewModel.encryption.recoveryKeyCheck()) }
        backupSwitch.onChange { [weak self] in self?.setBackup($0) }
        reset.onActivated { [weak self] in self?.present(self?.viewModel.encryption.reset()) }
        exporting.onActivated { [weak self] in self?.exportKeys() }
        importing.onActivated { [weak self] in self?.importKeys() }
    }

    private func present(_ dialog: EncryptionSetUpViewModel?) {
        if let dialog { EncryptionSetUpDialog.present(dialog, over: account) }
    }

    // MARK: Input

    private func setBackup(_ isOn: Bool) {
        guard isOn != viewModel.state.isBackupOn else { return }
        if isOn { return viewModel.send(.setBackup(true)) }
        Confirmation.present(
            text.turningOffBackup, over: account, cancelled: { [weak self] in self?.backupSwitch.isActive = true },
            { [weak viewModel] in viewModel?.send(.setBackup(false)) })
    }

    private func exportKeys() {
        guard !viewModel.state.isMovingKeys else { return }
        PasswordPrompt.presentNewPassphrase(over: account) { [weak self] passphrase in
            guard let self else { return }
            FileChooser.save(
                translated("Export Keys"), accept: translated("_Export"), name: text.keyFileName, over: account
            ) { [weak viewModel] file in
                if let file { viewModel?.send(.exportKeys(file, passphrase: passphrase)) }
            }
        }
    }

    private func importKeys() {
        guard !viewModel.state.isMovingKeys else { return }
        FileChooser.openFile(translated("Import Keys"), accept: translated("_Import"), over: account) {
            [weak self] file in
            guard let self, let file else { return }
            PasswordPrompt.presentPassphrase(over: account) { [weak viewModel] in
                viewModel?.send(.importKeys(file, passphrase: $0))
            }
        }
    }

    // MARK: Rendering

    private func render(_ state: EncryptionPreferencesViewModel.State) {
        showAccount(state)
        showRecovery(state)
        showKeyFile(state)
        showDevices(state)
        askForPassword(state)
        displayedState = state
    }

    private func askForPassword(_ state: EncryptionPreferencesViewModel.State) {
        guard let device = state.deviceAwaitingPassword else { return }
        let isDisplayed =
            displayedState?.deviceAwaitingPassword == device
            && displayedState?.wrongPasswordCount == state.wrongPasswordCount
        guard !isDisplayed else { return }
        PasswordPrompt.presentPassword(
            over: account, problem: state.wrongPasswordCount > 0 ? text.text(for: EncryptionError.wrongPassword) : nil,
            cancelled: { [weak viewModel] in viewModel?.send(.cancelSignOut) }
        ) { [weak viewModel] in viewModel?.send(.signOut(device: device, password: $0)) }
    }

    private func showAccount(_ state: EncryptionPreferencesViewModel.State) {
        summary.setTitle(text.summary(state))
        let need = state.status?.need ?? (state.status?.canRecoverKeys == true ? .enterRecoveryKey : nil)
        summaryIcon.iconName =
            state.status?.identity == .confirmed && state.isAvailable && !state.isSignedOut
            ? "parlance-verified-symbolic" : "parlance-unproven-symbolic"
        setUp.isVisible = need != nil && !state.isSignedOut
        setUp.label = need.map { text.banner($0).action } ?? ""
        // GTK would give the focus of a hidden button to one elsewhere.
        if !state.canRetry, retry.isFocus { summary.grabFocus() }
        retry.isVisible = state.canRetry
        fingerprintRow.isVisible = state.status?.fingerprint != nil
        fingerprint.text = state.status?.fingerprint.map(text.fingerprint) ?? ""
        for group in [recovery, keyFile] { group.isVisible = state.isAvailable }
    }

    private func showRecovery(_ state: EncryptionPreferencesViewModel.State) {
        recoveryKey.setSubtitle(text.recovery(state))
        newKey.label = text.recoveryButton(state.status)
        newKey.isSensitive = state.canReplaceRecoveryKey
        check.isVisible = state.canCheckRecoveryKey
        let failure = state.backupError.map { text.text(for: $0) }
        backup.setSubtitle(failure ?? text.backup(state))
        backup.setStyle("error", failure != nil)
        // The row would lose the focus while its own change is made; the view model ignores another one.
        backup.isSensitive = state.canChangeBackup || state.isChangingBackup
        if !state.isChangingBackup, backupSwitch.isActive != state.isBackupOn {
            backupSwitch.isActive = state.isBackupOn
        }
        reset.isVisible = state.canResetIdentity
    }

    private func showKeyFile(_ state: EncryptionPreferencesViewModel.State) {
        let outcome = text.result(state.keyFile)
        result.isVisible = outcome != nil
        result.setTitle(outcome ?? "")
        spinner.isVisible = state.isMovingKeys
        spinner.isSpinning = state.isMovingKeys
        if case .failed = state.keyFile { result.addStyle("error") } else { result.removeStyle("error") }
        let isNew = displayedState.map { $0.keyFile != state.keyFile } ?? false
        // The outcome may be out of sight, and screen readers read what has the focus.
        if isNew, outcome != nil, !state.isMovingKeys, exporting.isFocus || importing.isFocus { result.grabFocus() }
    }

    private func showDevices(_ state: EncryptionPreferencesViewModel.State) {
        // The prompt says what is wrong with a password.
        let failure = state.deviceAwaitingPassword == nil ? state.deviceError.map { text.deviceText(for: $0) } : nil
        problem.isVisible = failure != nil
        problem.setTitle(failure ?? "")
        let devices = state.listedDevices.map { device in
            DeviceRow.Content(
                device: device, canVerify: state.canVerify(device), canChange: state.canChange(device))
        }
        guard devices != displayedDevices else { return }
        displayedDevices = devices
        let former = deviceRows
        var reusable = Dictionary(former.map { ($0.id, $0) }) { first, _ in first }
        deviceRows = devices.map { content in
            reusable.removeValue(forKey: content.device.id) ?? DeviceRow(content.device, viewModel, over: account)
        }
        for (row, content) in zip(deviceRows, devices) { row.update(content) }
        deviceGroup.arrange(deviceRows, replacing: former)
    }
}
