public import ChatCore
public import Foundation
public import Observation

/// An account's encryption in the preferences: its state, devices, recovery key, backup and key file.
@Observable
public final class EncryptionPreferencesViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public let account: String
        public let name: String
        /// `nil` until known.
        public internal(set) var status: EncryptionStatus?
        /// Whether the account is signed out, so that ``status`` is outdated.
        public internal(set) var isSignedOut = false
        /// `nil` until known.
        public internal(set) var devices: [AccountDevice]?
        /// The devices that are being renamed, signed out or asked to be confirmed.
        public internal(set) var busyDevices: Set<String> = []
        /// The devices whose keys turned out to be missing or disputed, so that they cannot be confirmed.
        var unverifiableDevices: Set<String> = []
        /// Why a device could not be renamed, signed out or confirmed. The list is also reloaded without the user, which
        /// does not clear this.
        var changeError: EncryptionError?
        /// Why the devices could not be listed.
        var listError: EncryptionError?
        /// The device to sign out, while the server asks for the account's password.
        public internal(set) var deviceAwaitingPassword: String?
        /// The number of wrong passwords for signing out that device.
        public internal(set) var wrongPasswordCount = 0
        public internal(set) var backupError: EncryptionError?
        /// Whether the backup is being switched on or off.
        public internal(set) var isChangingBackup = false
        public internal(set) var keyFile = KeyFile.none
    }

    /// The state of a key file's export or import.
    public nonisolated enum KeyFile: Equatable, Sendable {
        case none
        case exporting, importing
        case exported(Int)
        case imported(ImportedKeyCount)
        case failed(EncryptionError)
    }

    public nonisolated enum Action: Equatable, Sendable {
        case loadDevices
        case rename(device: String, to: String)
        case signOut(device: String, password: AccountCredential?)
        /// The user has canceled the password prompt.
        case cancelSignOut
        case verify(device: String)
        case setBackup(Bool)
        case exportKeys(URL, passphrase: AccountCredential)
        case importKeys(URL, passphrase: AccountCredential)
    }

    public private(set) var state: State
    @ObservationIgnored public let encryption: EncryptionCoordinator
    @ObservationIgnored private let service: any EncryptionService
    @ObservationIgnored private let ongoingWork: OngoingWork
    @ObservationIgnored private let onUnseenEnd: (KeyFile) -> Void
    @ObservationIgnored private var isAbandoned = false
    @ObservationIgnored private var following: ChangeSubscription?
    @ObservationIgnored private var followingSession: ChangeSubscription?
    @ObservationIgnored private let queue = DeliveryQueue()
    /// The number of failed changes of devices so far.
    @ObservationIgnored private var changeFailureCount = 0

    /// - Parameters:
    ///   - ongoingWork: counts exports and imports of keys until they have ended.
    ///   - onUnseenEnd: receives the outcome of those that end after ``abandon()``. The state has it all the same.
    init(
        account: String, name: String, of encryption: EncryptionCoordinator, countedBy ongoingWork: OngoingWork,
        onUnseenEnd: @escaping (KeyFile) -> Void
    ) {
        state = State(
            account: account, name: name, status: encryption.status, isSignedOut: encryption.isSignedOut)
        self.encryption = encryption
        service = encryption.service
        self.ongoingWork = ongoingWork
        self.onUnseenEnd = onUnseenEnd
        following = ChangeSubscription(to: { [weak encryption] in encryption?.status }) { [weak self] in
            if let status = $0 { self?.apply(status) }
        }
        followingSession = ChangeSubscription(to: { [weak encryption] in encryption?.isSignedOut ?? false }) {
            [weak self] in self?.state.isSignedOut = $0
        }
    }

    private func apply(_ status: EncryptionStatus) {
        let before = state.status
        state.status = status
        // The list is outdated then, and so is the mark of a device that was confirmed meanwhile.
        let isOutdated =
            before?.identity != status.identity || before?.otherConfirmedDevices != status.otherConfirmedDevices
            || before?.unconfirmedDevices != status.unconfirmedDevices
        if isOutdated { state.unverifiableDevices = [] }
        if state.devices != nil, isOutdated { send(.loadDevices) }
    }

    public func send(_ action: Action) {
        switch action {
        case .loadDevices: requestDevices()
        case .rename(let device, let typed):
            let name = typed.trimmingCharacters(in: .whitespacesAndNewlines)
            change(device) { try await $0.renameDevice(device, to: name) }
        case .signOut(let device, let password): signOut(device, password)
        case .cancelSignOut: cancelSignOut()
        case .verify(let device): verify(device)
        case .setBackup(let isEnabled): setBackup(isEnabled)
        case .exportKeys(let file, let passphrase):
            moveKeys(.exporting) { .exported(try await $0.exportKeys(to: file, passphrase: passphrase.value)) }
        case .importKeys(let file, let passphrase):
            moveKeys(.importing) { .imported(try await $0.importKeys(from: file, passphrase: passphrase.value)) }
        }
    }

    /// Call when the dialog is closed: a running export or import goes on.
    public func abandon() { isAbandoned = true }

    /// Changes a device, then reloads the list. Has no effect while the device is busy.
    private func change(
        _ device: String, _ work: @escaping @MainActor (any EncryptionService) async throws -> Void
    ) {
        guard !state.busyDevices.contains(device) else { return }
        state.busyDevices.insert(device)
        requestDevices(freeing: device, after: work)
    }

    /// Reloads the list of devices.
    /// - Parameters:
    ///   - device: the device that is busy until then.
    ///   - work: runs before. If it fails, the list stays as it is.
    private func requestDevices(
        freeing device: String? = nil,
        after work: (@MainActor (any EncryptionService) async throws -> Void)? = nil
    ) {
        queue.add { [weak self, service, failures = changeFailureCount] in
            do {
                if let work {
                    try await work(service)
                    self?.clearChangeError(amongFirst: failures)
                }
                await self?.loadDevices()
            } catch {
                self?.noteChangeFailure(error, after: failures)
            }
            if let device { self?.state.busyDevices.remove(device) }
        }
    }

    private func loadDevices() async {
        do {
            state.devices = try await service.devices()
            state.listError = nil
        } catch {
            state.listError = EncryptionError(error)
        }
    }

    private func noteChangeFailure(_ error: any Error, after failures: Int) {
        let failure = EncryptionError(error)
        // The prompt asks for it.
        guard failure != .passwordRequired || state.deviceAwaitingPassword == nil else {
            return clearChangeError(amongFirst: failures)
        }
        changeFailureCount += 1
        state.changeError = failure
    }

    /// Removes the error of a change that the user has seen before another change, which has succeeded or goes on with
    /// the password. That of a change which was under way then stays.
    /// - Parameter count: the number of failures before the other change was requested.
    private func clearChangeError(amongFirst count: Int) {
        if changeFailureCount == count { state.changeError = nil }
    }

    /// Does not wait for requests about devices, which may be slow: this only queues a message.
    private func verify(_ device: String) {
        guard !state.busyDevices.contains(device) else { return }
        state.busyDevices.insert(device)
        Task { [failures = changeFailureCount] in
            do {
                _ = try await service.verifyDevice(device)
                clearChangeError(amongFirst: failures)
            } catch {
                let failure = EncryptionError(error)
                if failure == .noDevice { state.unverifiableDevices.insert(device) }
                changeFailureCount += 1
                state.changeError = failure
            }
            state.busyDevices.remove(device)
        }
    }

    private func signOut(_ device: String, _ password: AccountCredential?) {
        change(device) { [weak self] service in
            self?.state.deviceAwaitingPassword = nil
            if password == nil { self?.state.wrongPasswordCount = 0 }
            do {
                try await service.signOutDevices([device], password: password?.value)
            } catch EncryptionError.passwordRequired where password == nil {
                self?.state.deviceAwaitingPassword = device
                throw EncryptionError.passwordRequired
            } catch EncryptionError.wrongPassword {
                self?.state.wrongPasswordCount += 1
                self?.state.deviceAwaitingPassword = device
                throw EncryptionError.wrongPassword
            }
        }
    }

    private func cancelSignOut() {
        state.deviceAwaitingPassword = nil
        // The prompt has said so.
        if state.changeError == .wrongPassword { state.changeError = nil }
    }

    private func setBackup(_ isEnabled: Bool) {
        guard state.canChangeBackup, isEnabled != state.isBackupOn else { return }
        state.isChangingBackup = true
        state.backupError = nil
        Task {
            do {
                try await service.setBackupEnabled(isEnabled)
            } catch {
                state.backupError = EncryptionError(error)
            }
            state.isChangingBackup = false
        }
    }

    private func moveKeys(
        _ step: KeyFile, _ work: @escaping @MainActor (any EncryptionService) async throws -> KeyFile
    ) {
        guard !state.isMovingKeys else { return }
        state.keyFile = step
        Task {
            let end: KeyFile
            do {
                end = try await ongoingWork.run { try await work(service) }
            } catch {
                end = .failed(EncryptionError(error))
            }
            state.keyFile = end
            if isAbandoned { onUnseenEnd(end) }
        }
    }
}

extension EncryptionPreferencesViewModel.State {
    /// Why the devices could not be listed, renamed, signed out or confirmed.
    public nonisolated var deviceError: EncryptionError? { changeError ?? listError }

    public nonisolated var isMovingKeys: Bool { keyFile == .exporting || keyFile == .importing }

    /// Whether encryption works on this device, so that its settings apply.
    public nonisolated var isAvailable: Bool { status?.condition == .on }

    /// The status unless it is outdated: what was good when the account was signed out may not be so any more.
    nonisolated var currentStatus: EncryptionStatus? { isSignedOut ? nil : status }

    /// Whether the keys may be opened if that is tried again.
    public nonisolated var canRetry: Bool { currentStatus?.condition.problem?.canBeRetried == true }

    public nonisolated var isBackupOn: Bool {
        switch currentStatus?.backup {
        case .on, .untrusted, .failing: true
        case .unknown, .off, nil: false
        }
    }

    /// Whether the backup can be switched on or off. Its state must be known, and its key needs an identity's secret
    /// storage.
    public nonisolated var canChangeBackup: Bool {
        isAvailable && !isSignedOut && !isChangingBackup && status?.identity == .confirmed
            && status?.backup != .unknown
    }

    public nonisolated var canReplaceRecoveryKey: Bool {
        isAvailable && !isSignedOut && status?.identity == .confirmed
    }

    /// Whether the user can type the recovery key to see that it unlocks everything.
    public nonisolated var canCheckRecoveryKey: Bool {
        isAvailable && !isSignedOut && status?.identity == .confirmed && status?.recovery == .ready
            && status?.canRecoverKeys == false
    }

    /// Whether a reset is offered beside the recovery key. An unconfirmed device offers it as a way to be confirmed.
    public nonisolated var canResetIdentity: Bool { isAvailable && !isSignedOut && status?.identity == .confirmed }

    /// The devices to list. While the account is signed out, nothing is known of their keys.
    public nonisolated var listedDevices: [AccountDevice] {
        var listed = devices ?? []
        guard isSignedOut else { return listed }
        for index in listed.indices { listed[index].trust = .unknown }
        return listed
    }

    /// Whether another device can be verified from here.
    public nonisolated func canVerify(_ device: AccountDevice) -> Bool {
        !isSignedOut && !device.isThis && device.trust == .unconfirmed && status?.identity == .confirmed
            && !unverifiableDevices.contains(device.id)
    }

    /// Whether a device's buttons can be pressed.
    public nonisolated func canChange(_ device: AccountDevice) -> Bool {
        !isSignedOut && !busyDevices.contains(device.id)
    }

    /// Whether a passphrase that was typed twice can encrypt a key file.
    public nonisolated static func isPassphrase(_ passphrase: String, repeated: String) -> Bool {
        !passphrase.isEmpty && Array(passphrase.utf8) == Array(repeated.utf8)
    }

    /// Whether what was typed as a repetition cannot become the passphrase by typing on.
    public nonisolated static func isMistyped(_ passphrase: String, repeated: String) -> Bool {
        !passphrase.utf8.starts(with: repeated.utf8)
    }
}

extension EncryptionCondition.Problem {
    /// Whether opening the keys again may help: the keyring may be unlocked by then, or the disk have space again.
    nonisolated var canBeRetried: Bool {
        switch self {
        case .locked, .storage: true
        case .credentialLost, .missing, .damaged, .replaced, .noDevice, .notBuilt: false
        }
    }
}

extension AccountsCoordinator {
    /// Returns the encryption preferences of each account that supports encryption.
    public func encryptionPreferences() -> [EncryptionPreferencesViewModel] {
        rows.compactMap { row in
            guard let account = row.account, let coordinator = coordinator(of: row.id),
                let encryption = coordinator.encryption
            else { return nil }
            let environment = coordinator.environment
            return encryption.preferences(
                account: account.id, name: row.name, countedBy: environment.ongoingWork
            ) { [weak self] end in
                // The window may show another account by now, which has the toast. It has a single line.
                let text = EncryptionText(environment.translator).result(end) ?? ""
                for line in text.split(separator: "\n") { self?.conversations.requests.show(.message(String(line))) }
            }
        }
    }
}
