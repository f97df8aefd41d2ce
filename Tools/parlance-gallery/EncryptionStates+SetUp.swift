import ChatCore
import ChatViewModels
import Foundation

/// The pages of the dialog that sets encryption up.
extension EncryptionStates {
    /// A page that has a picture, or several.
    nonisolated enum SetUpPage: CaseIterable {
        case introduction, newKey, methods, recovery, check, reset, password, key, done
    }

    /// How to get to a page in one of its states.
    nonisolated struct SetUp: Sendable {
        typealias Step = (action: EncryptionSetUpViewModel.Action, answer: FixtureEncryption.Answer)

        /// What the dialog is opened for.
        nonisolated enum Purpose {
            case need, newKey, check, reset
        }

        let name: String
        let page: SetUpPage
        let status: EncryptionStatus
        var purpose = Purpose.need
        var steps: [Step] = []
        /// What is typed into the page's field.
        var typed = ""
        /// The state of encryption after the steps, if it changes.
        var laterStatus: EncryptionStatus?
    }

    static var setUps: [SetUp] { firstSetUps + confirmations + recoveries + resets }

    static func page(of state: EncryptionSetUpViewModel.State) -> SetUpPage? {
        switch state.step {
        case .introduction:
            switch state.need {
            case .setUp: .introduction
            case .confirmDevice, .saveRecoveryKey, .enterRecoveryKey: .newKey
            }
        case .choosingMethod: .methods
        case .recovering: state.isCheck ? .check : .recovery
        case .resetting: .reset
        case .password: .password
        case .showingKey: .key
        case .done: .done
        case .over: nil
        }
    }

    // MARK: What is drawn

    private static var firstSetUps: [SetUp] {
        let none = EncryptionStatus(condition: .on, identity: .none)
        let password = AccountCredential("wrong")
        let file = FileManager.default.temporaryDirectory.appending(path: "parlance-gallery-key.txt")
        return [
            SetUp(name: "set-up", page: .introduction, status: none),
            SetUp(name: "set-up-busy", page: .introduction, status: none, steps: [(.begin, .late)]),
            SetUp(
                name: "set-up-exists", page: .methods, status: none, steps: [(.begin, .failure(.identityExists))]),
            SetUp(
                name: "set-up-password", page: .password, status: none,
                steps: [(.begin, .failure(.passwordRequired))]),
            SetUp(
                name: "set-up-wrong-password", page: .password, status: none,
                steps: [(.begin, .failure(.passwordRequired)), (.password(password), .failure(.wrongPassword))],
                typed: password.value),
            SetUp(name: "set-up-key", page: .key, status: none, steps: [(.begin, .success)]),
            SetUp(
                name: "set-up-key-saved", page: .key, status: none,
                steps: [
                    (.begin, .success), (.keyCopied, .success), (.saveKey(file), .success), (.keySaved(true), .success),
                ]),
            SetUp(
                name: "set-up-key-failed", page: .key, status: none,
                steps: [(.begin, .success), (.saveKey(URL(fileURLWithPath: "/dev/null/key.txt")), .success)]),
            SetUp(name: "new-key", page: .newKey, status: ready, purpose: .newKey),
            SetUp(
                name: "new-key-failed", page: .newKey, status: ready, purpose: .newKey,
                steps: [(.begin, .failure(.missingSecrets))]),
        ]
    }

    private static var confirmations: [SetUp] {
        let alone = EncryptionStatus(condition: .on, identity: .unconfirmed, recovery: .none)
        return [
            SetUp(name: "confirm", page: .methods, status: unconfirmed),
            SetUp(name: "confirm-replaced", page: .methods, status: replaced),
            SetUp(name: "confirm-alone", page: .methods, status: alone),
            SetUp(name: "confirm-waiting", page: .methods, status: unconfirmed, steps: [(.useOtherDevice, .late)]),
            SetUp(
                name: "confirm-no-device", page: .methods, status: unconfirmed,
                steps: [(.useOtherDevice, .failure(.noDevice))]),
        ]
    }

    private static var recoveries: [SetUp] {
        let (key, mistyped) = (AccountCredential(FixtureEncryption.key.text), AccountCredential("EsTc LW2K"))
        let choosing: SetUp.Step = (.useRecoveryKey, .success)
        var (withoutPassphrase, withPassphrase, lacking, withoutBackup) = (unconfirmed, ready, ready, ready)
        withoutPassphrase.hasPassphrase = false
        withPassphrase.hasPassphrase = true
        lacking.lacksBackupKey = true
        withoutBackup.backup = .off
        return [
            SetUp(name: "confirm-recovery-key", page: .recovery, status: withoutPassphrase, steps: [choosing]),
            SetUp(
                name: "confirm-recovery", page: .recovery, status: unconfirmed,
                steps: [choosing, (.recover(mistyped), .success)], typed: mistyped.value),
            SetUp(
                name: "confirm-recovery-busy", page: .recovery, status: unconfirmed,
                steps: [choosing, (.recover(mistyped), .late)], typed: mistyped.value),
            SetUp(
                name: "confirm-done", page: .done, status: unconfirmed, steps: [choosing, (.recover(key), .success)]),
            SetUp(
                name: "confirm-done-backup-off", page: .done, status: unconfirmed,
                steps: [choosing, (.recover(key), .success)], laterStatus: withoutBackup),
            SetUp(name: "enter-key", page: .recovery, status: lacking),
            SetUp(
                name: "enter-key-done", page: .done, status: lacking, steps: [(.recover(key), .success)],
                laterStatus: ready),
            SetUp(name: "check", page: .check, status: withPassphrase, purpose: .check),
            SetUp(
                name: "check-done", page: .done, status: ready, purpose: .check, steps: [(.recover(key), .success)]),
        ]
    }

    private static var resets: [SetUp] {
        [
            SetUp(name: "confirm-reset", page: .reset, status: unconfirmed, steps: [(.reset, .success)]),
            SetUp(name: "reset-busy", page: .reset, status: ready, purpose: .reset, steps: [(.reset, .late)]),
            SetUp(
                name: "reset-failed", page: .reset, status: ready, purpose: .reset,
                steps: [(.reset, .failure(.unreachable))]),
            SetUp(
                name: "reset-password", page: .password, status: ready, purpose: .reset,
                steps: [(.reset, .failure(.passwordRequired))]),
        ]
    }
}

extension EncryptionStates.SetUp {
    /// Opens the dialog and goes to the page.
    /// - Parameters:
    ///   - service: what `account` is of.
    ///   - present: shows the dialog.
    func open(
        in account: EncryptionCoordinator, of service: FixtureEncryption,
        present: @MainActor (EncryptionSetUpViewModel) -> Void
    ) async -> EncryptionSetUpViewModel? {
        service.set(status)
        guard await Self.wait(until: { account.status == status }) else { return nil }
        let opened: EncryptionSetUpViewModel? =
            switch purpose {
            case .need: account.setUp()
            case .newKey: account.newRecoveryKey()
            case .check: account.recoveryKeyCheck()
            case .reset: account.reset()
            }
        guard let viewModel = opened else { return nil }
        present(viewModel)
        for (action, answer) in steps {
            service.answer(answer)
            viewModel.send(action)
            if answer != .late, await !Self.wait(until: { !viewModel.state.isBusy }) { return nil }
        }
        if let laterStatus {
            service.set(laterStatus)
            guard await Self.wait(until: { account.status == laterStatus }) else { return nil }
        }
        return viewModel
    }

    /// Waits for twenty seconds at most.
    /// - Returns: whether the condition holds.
    private static func wait(until condition: () -> Bool) async -> Bool {
        for _ in 1...1000 where !condition() { try? await Task.sleep(for: .milliseconds(20)) }
        return condition()
    }
}
