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
        /// Why the devices could not be listed, renamed or signed out.
        public internal(set) var deviceError: EncryptionError?
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
    @ObservationIgnored private var following: ChangeSubscription?
    @ObservationIgnored private var followingSession: ChangeSubscription?
    @ObservationIgnored private let queue = DeliveryQueue()

    init(account: String, name: String, of encryption: EncryptionCoordinator) {
        state = State(account: account, name: name, status: encryption.status)
        self.encryption = encryption
        service = encryption.service
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
        // The mark of a device that was confirmed meanwhile is outdated.
        let isOutdated =
            before?.identity != status.identity || before?.otherConfirmedDevices != status.otherConfirmedDevices
        if state.devices != nil, isOutdated { send(.loadDevices) }
    }

    public func send(_ action: Action) {
        switch action {
        case .loadDevices: changeDevices { _ in }
        case .rename(let device, let typed):
            let name = typed.trimmingCharacters(in: .whitespacesAndNewlines)
            changeDevices { try await $0.renameDevice(device, to: name) }
        case .signOut(let device, let password): signOut(device, password)
        case .cancelSignOut: cancelSignOut()
        case .verify(let device): changeDevices { _ = try await $0.verifyDevice(device) }
        case .setBackup(let isEnabled): setBackup(isEnabled)
        case .exportKeys(let file, let passphrase):
            moveKeys(.exporting) { .exported(try await $0.exportKeys(to: file, passphrase: passphrase.value)) }
        case .importKeys(let file, let passphrase):
            moveKeys(.importing) { .imported(try await $0.importKeys(from: file, passphrase: passphrase.value)) }
        }
    }

    /// Changes devices, then reloads the list.
    private func changeDevices(_ work: @escaping @MainActor (any EncryptionService) async throws -> Void) {
        queue.add { [weak self, service] in
            do {
                try await work(service)
                self?.state.devices = try await service.devices()
                self?.state.deviceError = nil
            } catch {
                self?.state.deviceError = EncryptionError(error)
            }
        }
    }

    private func signOut(_ device: String, _ password: AccountCredential?) {
        changeDevices { [weak self] service in
            self?.state.deviceAwaitingPassword = nil
            if password == nil { self?.state.wrongPasswordCount = 0 }
            do {
                try await service.signOutDevices([device], password: password?.value)
            } catch EncryptionError.passwordRequired where password == nil {
                self?.state.deviceAwaitingPassword = device
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
        if state.deviceError == .wrongPassword { state.deviceError = nil }
    }

    private func setBackup(_ isEnabled: Bool) {
        guard !state.isChangingBackup, isEnabled != state.isBackupOn else { return }
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
            do { state.keyFile = try await work(service) } catch { state.keyFile = .failed(EncryptionError(error)) }
        }
    }
}

extension EncryptionPreferencesViewModel.State {
    public nonisolated var isMovingKeys: Bool { keyFile == .exporting || keyFile == .importing }

    /// Whether encryption works on this device, so that its settings apply.
    public nonisolated var isAvailable: Bool { status?.condition == .on }

    public nonisolated var isBackupOn: Bool {
        switch status?.backup {
        case .on, .untrusted, .failing: true
        case .unknown, .off, nil: false
        }
    }

    /// Whether the backup can be switched on or off. Its state must be known, and its key needs an identity's secret
    /// storage.
    public nonisolated var canChangeBackup: Bool {
        isAvailable && !isChangingBackup && status?.identity == .confirmed && status?.backup != .unknown
    }

    public nonisolated var canReplaceRecoveryKey: Bool { isAvailable && status?.identity == .confirmed }

    /// Whether the user can type the recovery key to see that it unlocks everything.
    public nonisolated var canCheckRecoveryKey: Bool {
        isAvailable && !isSignedOut && status?.identity == .confirmed && status?.recovery == .ready
            && status?.canRecoverKeys == false
    }

    /// Whether a reset is offered beside the recovery key. An unconfirmed device offers it as a way to be confirmed.
    public nonisolated var canResetIdentity: Bool { isAvailable && status?.identity == .confirmed }

    /// Whether another device can be verified from here.
    public nonisolated func canVerify(_ device: AccountDevice) -> Bool {
        !device.isThis && device.trust == .unconfirmed && status?.identity == .confirmed
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

extension AccountsCoordinator {
    /// Returns the encryption preferences of each account that supports encryption.
    public func encryptionPreferences() -> [EncryptionPreferencesViewModel] {
        rows.compactMap { row in
            guard let account = row.account else { return nil }
            return coordinator(of: row.id)?.encryption?.preferences(account: account.id, name: row.name)
        }
    }
}
