public import ChatCore
public import Foundation
public import Observation

/// Sets up an account's encryption, confirms this device, or creates another recovery key.
@Observable
public final class EncryptionSetUpViewModel: ViewModel {
    public nonisolated enum Step: Equatable, Sendable {
        /// Explains what will be created.
        case introduction
        /// Asks how to confirm this device.
        case choosingMethod
        /// Asks for the recovery key or passphrase.
        case recovering
        /// Explains what a reset loses.
        case resetting
        /// Asks for the account's password.
        case password
        /// Shows the recovery key, which is not shown again.
        case showingKey(RecoveryKey)
        /// The recovery key has confirmed this device.
        case done
        case over
    }

    public nonisolated struct State: Equatable, Sendable {
        public private(set) var need: EncryptionNeed
        /// Whether the recovery key is typed only to see that it unlocks everything.
        public let isCheck: Bool
        public private(set) var firstStep: Step
        public internal(set) var step: Step
        /// Whether the account's identity is being reset.
        public internal(set) var isResetting: Bool
        /// Whether a reset has failed that the server may have a part of.
        var hasResetFailed = false
        public internal(set) var isBusy = false
        /// Why the last action failed.
        public internal(set) var error: Failure?
        /// Whether other devices could confirm this one.
        public internal(set) var hasOtherDevices = false
        public internal(set) var hasPassphrase = false
        /// Whether there is secret storage to recover from.
        public internal(set) var hasRecovery = true
        /// Whether the account's identity was replaced since it confirmed this device.
        public internal(set) var isReplaced = false
        /// The state of the account's encryption, which tells whether earlier messages can be restored.
        var status: EncryptionStatus?
        /// Whether the user has ticked that the recovery key is saved.
        public internal(set) var isKeySaved = false
        /// Whether the recovery key was copied, which changes the button's label.
        public internal(set) var isKeyCopied = false
        /// Whether the recovery key was written to a file, which changes the button's label.
        public internal(set) var isKeyFileSaved = false

        init(_ need: EncryptionNeed, _ step: Step, isCheck: Bool = false) {
            self.need = need
            self.isCheck = isCheck
            firstStep = step
            self.step = step
            isResetting = step == .resetting
        }

        mutating func beginReset() { (step, isResetting) = (.resetting, true) }

        mutating func goBack() {
            if canGoBack { (step, isResetting) = (firstStep, false) }
        }

        /// Leaves a page that asks how to confirm this device, as another device has confirmed it.
        mutating func leaveAsConfirmed() {
            guard step != .choosingMethod else { return step = .over }
            guard !isBusy else { return }
            switch step {
            // The recovery key may have done so, although the connection was lost.
            case .recovering where need == .confirmDevice: (step, error) = (.done, nil)
            case .resetting where isResetNeedless, .password where isResetNeedless: step = .over
            default: break
            }
        }

        /// Whether a confirmed device needs no reset: it was begun only to confirm this device. If it may have created
        /// another identity, that one has confirmed the device, and its recovery key was not shown yet.
        private var isResetNeedless: Bool { isResetting && firstStep == .choosingMethod && !hasResetFailed }

        /// Continues with confirming this device, as the account has an identity already.
        mutating func confirmDevice() {
            (need, firstStep, step, isResetting) = (.confirmDevice, .choosingMethod, .choosingMethod, false)
        }
    }

    public nonisolated enum Failure: Equatable, Sendable {
        case service(EncryptionError)
        /// The recovery key could not be written to a file.
        case file
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// Creates what the introduction explains.
        case begin
        case useOtherDevice
        case useRecoveryKey
        /// Recovers with the typed key or passphrase.
        case recover(AccountCredential)
        /// Shows the question whether to reset, or resets if it is shown.
        case reset
        case password(AccountCredential)
        case saveKey(URL)
        case keyCopied
        case keySaved(Bool)
        /// Continues from the recovery key or closes the last page.
        case finish
        case back
        /// Closes the dialog. Missing steps can be done later.
        case close
    }

    public private(set) var state: State
    @ObservationIgnored private let service: any EncryptionService
    /// The step that required the account's password.
    @ObservationIgnored private var stepBeforePassword = Step.introduction
    /// Whether the account's identity has confirmed this device.
    @ObservationIgnored private var isConfirmed = false
    @ObservationIgnored private var following: ChangeSubscription?

    /// Why the dialog is opened, other than for what is needed.
    nonisolated enum Purpose: Sendable {
        /// It starts with the question whether to reset.
        case reset
        /// It checks the recovery key, which this device does not need.
        case check
    }

    init(_ need: EncryptionNeed, of encryption: EncryptionCoordinator, purpose: Purpose? = nil) {
        service = encryption.service
        state = State(need, purpose == .reset ? .resetting : need.firstStep, isCheck: purpose == .check)
        if let status = encryption.status { apply(status) }
        following = ChangeSubscription(to: { [weak encryption] in encryption?.status }) { [weak self] in
            if let status = $0 { self?.apply(status) }
        }
    }

    private func apply(_ status: EncryptionStatus) {
        state.status = status
        state.hasOtherDevices = status.otherConfirmedDevices > 0
        state.hasPassphrase = status.hasPassphrase
        state.hasRecovery = status.recovery != .none
        state.isReplaced = status.identity == .replaced
        isConfirmed = status.identity == .confirmed
        leaveIfConfirmed()
    }

    private func leaveIfConfirmed() {
        if isConfirmed { state.leaveAsConfirmed() }
    }

    public func send(_ action: Action) {
        if !state.isBusy || action == .close { state.error = nil }
        switch (action, state.step) {
        case (.close, _): state.step = .over
        // Also while the key is being written to a file.
        case (.keyCopied, .showingKey): state.isKeyCopied = true
        case (.keySaved(let isSaved), .showingKey): state.isKeySaved = isSaved
        case (_, _) where state.isBusy: break
        case (.begin, .introduction): makeKey()
        case (.useOtherDevice, .choosingMethod):
            run { service in
                _ = try await service.verifyDevice(nil)
                return nil
            }
        case (.useRecoveryKey, .choosingMethod): state.step = .recovering
        case (.recover(let secret), .recovering):
            run { service in
                try await service.recover(with: secret.value)
                return .done
            }
        case (.reset, .choosingMethod), (.reset, .recovering): state.beginReset()
        case (.reset, .resetting): makeIdentity(password: nil)
        case (.password(let password), .password): makeIdentity(password: password)
        case (.saveKey(let file), .showingKey(let key)): save(key, to: file)
        case (.finish, .showingKey) where state.isKeySaved:
            run { service in
                try await service.confirmRecoveryKey()
                return .over
            }
        case (.finish, .done): state.step = .over
        case (.back, .recovering), (.back, .resetting):
            state.goBack()
            leaveIfConfirmed()
        case (.back, .password): state.step = stepBeforePassword
        default: break
        }
    }

    private func makeKey() {
        guard state.need == .saveRecoveryKey else { return makeIdentity(password: nil) }
        run { service in .showingKey(try await service.replaceRecoveryKey()) }
    }

    private func makeIdentity(password: AccountCredential?) {
        if state.step != .password { stepBeforePassword = state.step }
        let isReset = state.isResetting
        run { service in
            do {
                if isReset { return .showingKey(try await service.replaceIdentity(password: password?.value)) }
                return .showingKey(try await service.createIdentity(password: password?.value))
            } catch EncryptionError.passwordRequired where password == nil {
                return .password
            }
        }
    }

    private func save(_ key: RecoveryKey, to file: URL) {
        state.isBusy = true
        Task {
            do {
                try await PrivateFile.write(key.text + "\n", to: file)
                state.isKeyFileSaved = true
            } catch {
                state.error = .file
                state.isKeyFileSaved = false
            }
            state.isBusy = false
        }
    }

    /// - Parameter work: returns the next step, or `nil` to stay.
    private func run(_ work: @escaping @MainActor (any EncryptionService) async throws -> Step?) {
        state.isBusy = true
        Task {
            do {
                let next = try await work(service)
                // If the dialog was closed meanwhile, the banner shows what is left to do.
                if let next, state.step != .over { state.step = next }
            } catch {
                let failure = EncryptionError(error)
                state.error = .service(failure)
                if state.isResetting, failure != .wrongPassword { state.hasResetFailed = true }
                if failure == .identityExists, state.step != .over { state.confirmDevice() }
            }
            state.isBusy = false
            // Meanwhile, this was put off.
            leaveIfConfirmed()
        }
    }
}
