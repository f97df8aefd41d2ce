import ChatCore
import ChatTestSupport
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10))) struct SignOutViewModelTests {
    private static let id = "@ann:example.org"

    private let service = FakeAccountService()

    private func start() async -> SignOutViewModel {
        let viewModel = SignOutViewModel(account: Self.id, service: service) {}
        viewModel.start()
        await eventually { viewModel.state.step != .counting }
        return viewModel
    }

    @Test("Losses are listed one per line, each with its number")
    func lossesAreListed() async {
        service.unsentCount = PendingCount(messages: 1, changes: 2, drafts: 3, keys: 4)
        let viewModel = await start()
        #expect(
            viewModel.state.losses(.untranslated).split(separator: "\n").dropFirst() == [
                "1 unsent message will be lost.", "2 unsent changes to messages will be lost.",
                "3 drafts will be lost.",
                "4 keys are not in a backup. Their messages can no longer be read, unless another device has the keys.",
            ])
    }

    @Test("What could not be counted is named as a loss")
    func uncountedLossesAreNamed() async {
        service.unsentCount = PendingCount(messages: 1, keys: nil)
        var state = await start().state
        #expect(
            state.losses(.untranslated).split(separator: "\n").dropFirst() == [
                "1 unsent message will be lost.",
                "The keys that are not in a backup could not be counted. Without them, messages may no longer be readable.",
            ])
        state.step = .confirming(nil)
        #expect(
            state.losses(.untranslated).split(separator: "\n").dropFirst() == [
                "Drafts, unsent messages and keys could not be counted. Any that exist will be lost."
            ])
    }

    @Test(
        "Keys in a backup that nothing opens are a loss, and so are those that could not be checked",
        arguments: [
            (EncryptionStatus.Recovery.unsaved, "Your recovery key is not saved: "),
            (.none, "Your account has no recovery key: "),
            (.incomplete, "Your recovery key does not unlock everything: "),
            (.unknown, "Your recovery key could not be checked. "),
        ])
    func recoveryIsMissing(recovery: EncryptionStatus.Recovery, line: String) async throws {
        service.unsentCount = PendingCount(messages: 1, recovery: recovery)
        var lines = await start().state.losses(.untranslated).split(separator: "\n").dropFirst()
        #expect(lines.popFirst() == "1 unsent message will be lost.")
        #expect(lines.count == 1 && lines.first?.hasPrefix(line) == true)
        #expect(lines.first?.contains("encrypted messages") == true)
        // Keys that could not be counted do not hide it.
        service.unsentCount = PendingCount(keys: nil, recovery: recovery)
        lines = await start().state.losses(.untranslated).split(separator: "\n").dropFirst()
        #expect(lines.count == 2 && lines.last?.hasPrefix(line) == true)
    }

    @Test(
        "The recovery that matters is that of a single device with an identity or a backup",
        arguments: [
            (EncryptionStatus(identity: .confirmed, recovery: .unsaved), EncryptionStatus.Recovery.unsaved),
            (EncryptionStatus(identity: .confirmed, recovery: .none), .none),
            (EncryptionStatus(identity: .confirmed, recovery: .incomplete), .incomplete),
            (EncryptionStatus(identity: .confirmed, recovery: .ready, isRecoveryProven: true), .ready),
            (EncryptionStatus(identity: .confirmed, recovery: .ready), .unknown),
            (EncryptionStatus(identity: .confirmed, recovery: .ready, otherConfirmedDevices: 1), .ready),
            (EncryptionStatus(identity: .confirmed, recovery: .unknown), .unknown),
            (EncryptionStatus(identity: .confirmed, recovery: .unsaved, otherConfirmedDevices: 1), .ready),
            (EncryptionStatus(identity: .confirmed, recovery: .unknown, otherConfirmedDevices: 1), .ready),
            (EncryptionStatus(identity: .none, recovery: .none), .ready),
            (EncryptionStatus(identity: .none, recovery: .unknown), .ready),
            (EncryptionStatus(identity: .none, recovery: .none, backup: .on(remaining: 0)), .none),
            (EncryptionStatus(identity: .none, recovery: .unsaved), .unsaved),
            (EncryptionStatus(identity: .unknown, recovery: .none), .unknown),
            (EncryptionStatus(), .unknown),
        ])
    func recoveryAfterSignOut(status: EncryptionStatus, recovery: EncryptionStatus.Recovery) {
        #expect(status.recoveryAfterSignOut == recovery)
    }

    @Test("Without losses only the conversations are named")
    func nothingIsLost() async {
        let viewModel = await start()
        #expect(viewModel.state.step == .confirming(service.unsentCount))
        #expect(!viewModel.state.losses(.untranslated).contains("\n"))
    }

    @Test("After a failed sign-out, another confirmation is required")
    func failedSignOutAsksAgain() async {
        service.signOutFailure = .unreachable(reason: "x")
        let viewModel = await start()
        viewModel.send(.confirm)
        #expect(viewModel.state.step == .signingOut)
        await eventually { viewModel.state.step == .failed(.unreachable(reason: "x")) }
        viewModel.send(.confirm)
        await eventually { viewModel.state.step == .over }
    }

    @Test("While losses are counted a spinner is shown, and the user can cancel")
    func countingIsShown() async {
        let gate = Gate()
        let viewModel = SignOutViewModel(account: Self.id, service: service) { await gate.pass() }
        viewModel.start()
        #expect(viewModel.state.showsSpinner && viewModel.state.heading(.untranslated) == "Sign Out of \(Self.id)?")
        await eventually { gate.waiting == 1 }
        viewModel.send(.confirm)
        #expect(viewModel.state.step == .counting)
        viewModel.send(.cancel)
        gate.open()
        await waitUntilIdle()
        #expect(viewModel.state.step == .over && !viewModel.state.showsSpinner)
        #expect(await !start().state.showsSpinner)
    }

    @Test("Cancelling keeps the user signed in")
    func cancelingKeepsTheUserSignedIn() async {
        let viewModel = await start()
        viewModel.send(.cancel)
        viewModel.send(.confirm)
        #expect(viewModel.state.step == .over && !service.calls.contains { $0.hasPrefix("signOut") })
    }
}
