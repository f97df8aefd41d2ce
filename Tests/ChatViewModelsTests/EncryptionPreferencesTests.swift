import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct EncryptionPreferencesTests {
    private let service = FakeEncryptionService()
    private let text = EncryptionText(.untranslated)
    private static let devices = [
        AccountDevice(id: "THIS", name: "Desk", isThis: true, trust: .confirmed),
        AccountDevice(id: "PHONE", name: "Phone", lastSeen: Date(timeIntervalSince1970: 0), trust: .unconfirmed),
        AccountDevice(id: "BOT", name: "", trust: .withoutEncryption),
    ]
    private static let confirmed = EncryptionStatus(
        condition: .on, identity: .confirmed, recovery: .ready, backup: .on(remaining: 0))

    private func make(
        _ status: EncryptionStatus = Self.confirmed, session: AccountSession = AccountSession(),
        countedBy work: OngoingWork = OngoingWork(),
        onUnseenEnd: @escaping (EncryptionPreferencesViewModel.KeyFile) -> Void = { _ in }
    ) async -> EncryptionPreferencesViewModel {
        service.set(status)
        service.set(Self.devices)
        let encryption = EncryptionCoordinator(service, session: session) { $0.rawValue }
        await eventually { encryption.status == status }
        let viewModel = encryption.preferences(
            account: "@ann:example.org", name: "Ann", countedBy: work, onUnseenEnd: onUnseenEnd)
        viewModel.send(.loadDevices)
        await eventually { viewModel.state.devices != nil }
        return viewModel
    }

    @Test("Devices are listed, renamed and signed out, with the password if the server requires it.")
    func devices() async {
        let viewModel = await make()
        #expect(viewModel.state.devices == Self.devices)
        viewModel.send(.rename(device: "PHONE", to: " Old phone "))
        await eventually { viewModel.state.devices?[1].name == "Old phone" }
        service.fail("signOutDevices", with: .passwordRequired, .wrongPassword)
        viewModel.send(.signOut(device: "PHONE", password: nil))
        await eventually { viewModel.state.deviceAwaitingPassword == "PHONE" }
        #expect(viewModel.state.deviceError == nil && viewModel.state.wrongPasswordCount == 0)
        viewModel.send(.signOut(device: "PHONE", password: AccountCredential("wrong")))
        await eventually { viewModel.state.deviceError == .wrongPassword }
        #expect(viewModel.state.deviceAwaitingPassword == "PHONE" && viewModel.state.wrongPasswordCount == 1)
        viewModel.send(.signOut(device: "PHONE", password: AccountCredential("right")))
        await eventually { viewModel.state.devices?.count == 2 && viewModel.state.deviceError == nil }
        #expect(viewModel.state.deviceAwaitingPassword == nil)
        #expect(service.calls.filter { $0.hasPrefix("signOut") }.last == "signOutDevices PHONE right")
    }

    @Test("While a device is being changed, it is not changed again, and other devices can be confirmed.")
    func busyDevice() async {
        let viewModel = await make()
        let gate = Gate()
        service.hold("renameDevice", at: gate)
        viewModel.send(.rename(device: "BOT", to: "Bridge"))
        viewModel.send(.rename(device: "BOT", to: "Bot"))
        viewModel.send(.signOut(device: "BOT", password: nil))
        #expect(viewModel.state.busyDevices.sorted() == ["BOT"])
        #expect(Self.devices.map { viewModel.state.canChange($0) } == [true, true, false])
        await eventually { gate.waiting == 1 }
        // This waits for no server.
        viewModel.send(.verify(device: "PHONE"))
        viewModel.send(.verify(device: "PHONE"))
        #expect(viewModel.state.busyDevices.sorted() == ["BOT", "PHONE"])
        await eventually { viewModel.state.busyDevices == ["BOT"] }
        #expect(service.calls.filter { $0.hasPrefix("verifyDevice") } == ["verifyDevice PHONE"])
        gate.open()
        await eventually { viewModel.state.busyDevices.isEmpty }
        #expect(viewModel.state.devices?[2].name == "Bridge" && viewModel.state.deviceError == nil)
        #expect(service.calls.filter { $0.hasSuffix("Bridge") || $0.hasSuffix("Bot") } == ["renameDevice BOT Bridge"])
        #expect(!service.calls.contains { $0.hasPrefix("signOut") })
    }

    @Test("A device that failed to change can be changed again, and so can one whose sign-out asks for the password.")
    func freedDevice() async {
        let viewModel = await make()
        service.fail("renameDevice", with: .unreachable)
        viewModel.send(.rename(device: "PHONE", to: "Old phone"))
        await eventually { viewModel.state.deviceError == .unreachable && viewModel.state.busyDevices.isEmpty }
        service.fail("signOutDevices", with: .passwordRequired)
        viewModel.send(.signOut(device: "PHONE", password: nil))
        await eventually { viewModel.state.deviceAwaitingPassword == "PHONE" && viewModel.state.busyDevices.isEmpty }
        #expect(viewModel.state.deviceError == nil)
        viewModel.send(.cancelSignOut)
        viewModel.send(.rename(device: "PHONE", to: "Old phone"))
        await eventually { viewModel.state.devices?[1].name == "Old phone" && viewModel.state.busyDevices.isEmpty }
    }

    @Test("After a wrong password, canceling leaves no error, and signing out another device begins anew.")
    func canceledSignOut() async {
        let viewModel = await make()
        service.fail("signOutDevices", with: .passwordRequired, .wrongPassword, .passwordRequired)
        viewModel.send(.signOut(device: "PHONE", password: nil))
        await eventually { viewModel.state.deviceAwaitingPassword == "PHONE" }
        viewModel.send(.signOut(device: "PHONE", password: AccountCredential("wrong")))
        await eventually { viewModel.state.deviceError == .wrongPassword && viewModel.state.wrongPasswordCount == 1 }
        viewModel.send(.cancelSignOut)
        #expect(viewModel.state.deviceAwaitingPassword == nil && viewModel.state.deviceError == nil)
        viewModel.send(.signOut(device: "BOT", password: nil))
        await eventually { viewModel.state.deviceAwaitingPassword == "BOT" }
        #expect(viewModel.state.wrongPasswordCount == 0)
    }

    @Test("A failure to load the list is shown, and the previous list stays.")
    func listFails() async {
        let viewModel = await make()
        service.fail("devices", with: .unreachable)
        viewModel.send(.loadDevices)
        await eventually { viewModel.state.deviceError == .unreachable }
        #expect(viewModel.state.devices == Self.devices)
    }

    @Test("The error of a change stays when the list is reloaded, until a change succeeds.")
    func changeFailsBeforeAReload() async {
        let viewModel = await make()
        service.fail("renameDevice", with: .unreachable)
        viewModel.send(.rename(device: "PHONE", to: "Old phone"))
        await eventually { viewModel.state.deviceError == .unreachable }
        // The devices are reloaded for this.
        service.set(Array(Self.devices.dropLast()))
        var status = Self.confirmed
        status.unconfirmedDevices = ["PHONE"]
        service.set(status)
        await eventually { viewModel.state.devices?.count == 2 }
        #expect(viewModel.state.deviceError == .unreachable)
        viewModel.send(.rename(device: "PHONE", to: "Old phone"))
        await eventually { viewModel.state.deviceError == nil }
        #expect(viewModel.state.devices?[1].name == "Old phone")
    }

    @Test(
        "The error of a change stays when another one succeeds, or asks for the password, that was requested before.",
        arguments: [false, true])
    func changeFailsBeforeAnother(needsPassword: Bool) async {
        let viewModel = await make()
        let gate = Gate()
        service.hold("renameDevice", at: gate)
        service.fail("renameDevice", with: .unreachable)
        if needsPassword { service.fail("signOutDevices", with: .passwordRequired) }
        viewModel.send(.rename(device: "PHONE", to: "Old phone"))
        await eventually { gate.waiting == 1 }
        viewModel.send(.signOut(device: "BOT", password: nil))
        gate.open()
        await eventually { viewModel.state.busyDevices.isEmpty }
        #expect(viewModel.state.deviceAwaitingPassword == (needsPassword ? "BOT" : nil))
        #expect(viewModel.state.deviceError == .unreachable)
        // Confirming one does not wait for the others.
        let otherGate = Gate()
        service.hold("verifyDevice", at: otherGate)
        service.fail("renameDevice", with: .storage(reason: "full"))
        viewModel.send(.verify(device: "PHONE"))
        await eventually { otherGate.waiting == 1 }
        viewModel.send(.rename(device: "THIS", to: "Desk"))
        await eventually { viewModel.state.busyDevices == ["PHONE"] }
        #expect(viewModel.state.deviceError == .storage(reason: "full"))
        otherGate.open()
        await eventually { viewModel.state.busyDevices.isEmpty }
        #expect(viewModel.state.deviceError == .storage(reason: "full"))
        viewModel.send(.verify(device: "PHONE"))
        await eventually { viewModel.state.deviceError == nil }
    }

    @Test("The list is loaded again when an unconfirmed device appears, is replaced by another one, or goes.")
    func otherUnconfirmedDevices() async {
        let viewModel = await make()
        var status = Self.confirmed
        for devices: Set<String> in [["PHONE", "NEW"], ["PHONE", "OTHER"], []] {
            let others = devices.sorted().map { AccountDevice(id: $0, name: "", trust: .unconfirmed) }
            let listed: [AccountDevice] = Self.devices.filter(\.isThis) + others
            service.set(listed)
            status.unconfirmedDevices = devices
            service.set(status)
            await eventually { viewModel.state.devices == listed }
        }
    }

    @Test("Only an unconfirmed other device can be verified, and only from a confirmed one.")
    func verifying() async {
        let viewModel = await make()
        #expect(Self.devices.map { viewModel.state.canVerify($0) } == [false, true, false])
        viewModel.send(.verify(device: "PHONE"))
        await eventually { viewModel.state.deviceError == nil }
        for _ in 0..<1000 where !service.calls.contains("verifyDevice PHONE") { await Task.yield() }
        #expect(service.calls.contains("verifyDevice PHONE"))
        await eventually { viewModel.state.busyDevices.isEmpty }
        // The server has returned other keys for it.
        service.fail("verifyDevice", with: .noDevice)
        viewModel.send(.verify(device: "PHONE"))
        await eventually { viewModel.state.deviceError == .noDevice }
        #expect(Self.devices.allSatisfy { !viewModel.state.canVerify($0) })
        #expect(text.deviceText(for: .noDevice).hasPrefix("The device cannot be confirmed"))
        #expect(text.deviceText(for: .unreachable) == text.text(for: EncryptionError.unreachable))
        service.set(EncryptionStatus(condition: .on, identity: .unconfirmed))
        await eventually { viewModel.state.status?.identity == .unconfirmed }
        #expect(Self.devices.allSatisfy { !viewModel.state.canVerify($0) })
    }

    @Test("The backup is turned on or off once at a time, and a failure is shown.")
    func backup() async {
        let viewModel = await make()
        service.fail("setBackupEnabled", with: .unreachable)
        #expect(viewModel.state.isBackupOn && viewModel.state.canChangeBackup)
        viewModel.send(.setBackup(true))
        viewModel.send(.setBackup(false))
        viewModel.send(.setBackup(false))
        await eventually { viewModel.state.backupError == .unreachable && !viewModel.state.isChangingBackup }
        #expect(service.calls.filter { $0.hasPrefix("setBackup") } == ["setBackupEnabled false"])
        #expect(viewModel.state.isBackupOn)
    }

    @Test(
        "An unknown backup cannot be turned on or off.",
        arguments: [
            EncryptionStatus(condition: .on, identity: .confirmed, backup: .unknown),
            EncryptionStatus(condition: .on, identity: .unconfirmed, backup: .off),
            EncryptionStatus(condition: .off(.credentialLost), identity: .confirmed, backup: .off),
        ])
    func backupIsNotSwitchable(status: EncryptionStatus) async {
        #expect(await !make(status).state.canChangeBackup)
    }

    @Test("Keys are exported and imported one at a time, with a text about the result.")
    func keyFile() async {
        let viewModel = await make()
        let file = URL(fileURLWithPath: "/tmp/keys.txt")
        viewModel.send(.exportKeys(file, passphrase: AccountCredential("tea")))
        viewModel.send(.importKeys(file, passphrase: AccountCredential("tea")))
        #expect(viewModel.state.isMovingKeys)
        await eventually { viewModel.state.keyFile == .exported(3) }
        #expect(text.result(viewModel.state.keyFile) == "3 keys exported")
        service.fail("importKeys", with: .wrongPassphrase)
        viewModel.send(.importKeys(file, passphrase: AccountCredential("milk")))
        await eventually { viewModel.state.keyFile == .failed(.wrongPassphrase) }
        viewModel.send(.importKeys(file, passphrase: AccountCredential("tea")))
        await eventually { viewModel.state.keyFile == .imported(ImportedKeyCount(total: 5, new: 2)) }
        #expect(text.result(viewModel.state.keyFile) == "5 keys read, 2 of them new")
        #expect(
            text.result(.imported(ImportedKeyCount(total: 5, new: 2, rejected: 1)))
                == "5 keys read, 2 of them new\n1 key could not be read")
        #expect(
            service.calls.filter { $0.contains("Keys") } == [
                "exportKeys keys.txt tea", "importKeys keys.txt milk", "importKeys keys.txt tea",
            ])
    }

    @Test("A key file counts as work until it has ended, and tells its end even after the preferences were closed.")
    func unseenKeyFile() async {
        let (work, gate, ends) = (OngoingWork(), Gate(), Recorder<EncryptionPreferencesViewModel.KeyFile>())
        let viewModel = await make(countedBy: work, onUnseenEnd: { ends.record($0) })
        let file = URL(fileURLWithPath: "/tmp/keys.txt")
        viewModel.send(.importKeys(file, passphrase: AccountCredential("tea")))
        await eventually { viewModel.state.keyFile == .imported(ImportedKeyCount(total: 5, new: 2)) }
        #expect(work.isEmpty && ends.values.isEmpty, "the preferences show it")
        service.hold("exportKeys", at: gate)
        viewModel.send(.exportKeys(file, passphrase: AccountCredential("tea")))
        await eventually { gate.waiting == 1 }
        #expect(!work.isEmpty)
        viewModel.abandon()
        gate.open()
        await eventually { ends.values == [.exported(3)] }
        #expect(work.isEmpty)
        service.fail("importKeys", with: .damagedFile)
        viewModel.send(.importKeys(file, passphrase: AccountCredential("tea")))
        await eventually { ends.values == [.exported(3), .failed(.damagedFile)] }
        #expect(work.isEmpty)
    }

    @Test(
        "Keys that could not be opened for a reason that can go away are opened again if the user asks for it.",
        arguments: [
            (EncryptionCondition.off(.storage(reason: "full")), true), (.off(.locked(.locked)), true),
            (.off(.credentialLost), false), (.off(.damaged(reason: "x")), false), (.on, false),
        ])
    func retry(condition: EncryptionCondition, canRetry: Bool) async {
        let (session, retries) = (AccountSession(), Recorder<Int>())
        session.retry = { retries.record(1) }
        let viewModel = await make(EncryptionStatus(condition: condition), session: session)
        #expect(viewModel.state.canRetry == canRetry)
        viewModel.encryption.retry()
        #expect(retries.values == [1])
        // Signing in opens them, too.
        session.isSignedOut = true
        await eventually { viewModel.state.isSignedOut }
        #expect(!viewModel.state.canRetry)
    }

    @Test("A passphrase must be typed twice, with identical bytes.")
    func passphrase() {
        typealias State = EncryptionPreferencesViewModel.State
        #expect(State.isPassphrase("é", repeated: "é"))
        #expect(!State.isPassphrase("é", repeated: "e\u{301}"))
        #expect(!State.isPassphrase("", repeated: ""))
        #expect(!State.isPassphrase("tea", repeated: "te"))
    }

    @Test("What only the server says of the recovery key is told as such, and of the backup only if there is one.")
    func unprovenRecovery() {
        func texts(isProven: Bool) -> [String] {
            [EncryptionStatus.Backup.on(remaining: 0), .off, .untrusted, .unknown].map {
                text.recovery(EncryptionStatus(recovery: .ready, backup: $0, isRecoveryProven: isProven))
            }
        }
        let unproven = texts(isProven: false)
        #expect(unproven.allSatisfy { $0.hasSuffix(", according to the server") })
        #expect(unproven.map { $0.contains("backup") } == [true, false, false, false])
        let proven = texts(isProven: true)
        #expect(proven.first == "Unlocks your identity and backup on a new device")
        #expect(proven.dropFirst().allSatisfy { $0 == "Unlocks your identity on a new device" })
    }

    @Test("A recovery key that this device does not need can be checked, with words of its own.")
    func checkedRecoveryKey() async throws {
        let viewModel = await make()
        #expect(viewModel.state.canCheckRecoveryKey)
        let check = viewModel.encryption.recoveryKeyCheck()
        #expect(check.state.step == .recovering && text.windowTitle(check.state) == "Recovery Key")
        #expect(
            text.explanation(check.state) == "Enter the recovery key that you saved, to see whether it still works.")
        #expect(text.nextButton(check.state) == "C_heck")
        service.fail("recover", with: .wrongRecoveryKey)
        check.send(.recover(AccountCredential("EsT d")))
        await eventually { check.state.error == .service(.wrongRecoveryKey) && !check.state.isBusy }
        check.send(.recover(AccountCredential("EsT c")))
        await eventually { check.state.step == .done }
        #expect(text.title(check.state) == "Recovery Key Accepted")
        #expect(text.explanation(check.state).hasPrefix("It unlocks your account’s encryption on a new device."))
        #expect(service.calls.filter { $0.hasPrefix("recover") } == ["recover EsT d", "recover EsT c"])
    }

    @Test(
        "Where there is no recovery key to check, or the device needs it, none is checked.",
        arguments: [
            EncryptionStatus(condition: .on, identity: .unconfirmed, recovery: .ready),
            EncryptionStatus(condition: .on, identity: .confirmed, recovery: .none),
            EncryptionStatus(condition: .on, identity: .confirmed, recovery: .incomplete),
            EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved),
            EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unknown),
            EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready, lacksIdentityKeys: true),
            EncryptionStatus(condition: .off(.credentialLost), identity: .confirmed, recovery: .ready),
        ])
    func noRecoveryKeyToCheck(status: EncryptionStatus) async {
        #expect(await !make(status).state.canCheckRecoveryKey)
    }

    @Test("An account that is signed out says so, and not what its keys have reported before.")
    func signedOut() async {
        let session = AccountSession()
        let encryption = EncryptionCoordinator(service, session: session) { $0.rawValue }
        let preferences = encryption.preferences(account: "@ann:example.org", name: "Ann")
        let account = Account(id: "@ann:example.org", kind: "matrix", server: "https://x", device: "D", name: "Ann")
        let signedOut = "This account is signed out. The keys on this device were not deleted."
        // At the start, its keys are not opened.
        session.apply(AccountState(account: account, condition: .signedOut(isSoft: true)))
        await eventually { preferences.state.isSignedOut && preferences.state.status == EncryptionStatus() }
        #expect(text.summary(preferences.state) == signedOut)
        service.set(Self.confirmed)
        service.set(Self.devices)
        preferences.send(.loadDevices)
        await eventually { preferences.state.status == Self.confirmed && preferences.state.devices == Self.devices }
        #expect(text.summary(preferences.state) == signedOut)
        // Nothing counts as good, and nothing can be changed.
        let state = preferences.state
        #expect(text.recovery(state) == "Not known yet" && text.backup(state) == "Not known yet" && !state.isBackupOn)
        #expect(state.listedDevices.map(\.id) == Self.devices.map(\.id))
        #expect(state.listedDevices.allSatisfy { $0.trust == .unknown })
        #expect(!state.canReplaceRecoveryKey && !state.canChangeBackup && !state.canResetIdentity)
        #expect(Self.devices.allSatisfy { !state.canVerify($0) && !state.canChange($0) })
        preferences.send(.setBackup(true))
        #expect(!preferences.state.isChangingBackup)
        // Why the keys cannot be used tells more.
        service.set(EncryptionStatus(condition: .off(.credentialLost)))
        await eventually { preferences.state.status?.condition == .off(.credentialLost) }
        #expect(text.summary(preferences.state) == text.text(for: EncryptionCondition.Problem.credentialLost))
        service.set(Self.confirmed)
        session.apply(AccountState(account: account, condition: .online))
        await eventually { !preferences.state.isSignedOut && preferences.state.status == Self.confirmed }
        #expect(text.summary(preferences.state) == "This device is confirmed.")
        #expect(preferences.state.listedDevices == Self.devices && preferences.state.isBackupOn)
        #expect(text.backup(preferences.state) == "All keys are in the backup")
    }

    @Test("Devices, fingerprint and states have texts.")
    func texts() {
        let day: (Date) -> String = { _ in "Monday" }
        #expect(
            Self.devices.map { text.detail($0, day) } == [
                "This device · Confirmed", "Not confirmed · Last seen Monday", "Without encryption",
            ])
        let others = [AccountDevice.Trust.unknown, .unproven].map { AccountDevice(id: "A", name: "", trust: $0) }
        #expect(others.map { text.detail($0, day) } == ["Not known yet", "Confirm this device to check"])
        #expect(text.name(Self.devices[2]) == "BOT")
        #expect(text.fingerprint("AAAABBBBCC") == "AAAA BBBB CC" && text.fingerprint("") == "")
        let backups: [EncryptionStatus.Backup] = [
            .unknown, .off, .on(remaining: 0), .on(remaining: 1), .untrusted, .failing(remaining: 2, reason: "full"),
        ]
        #expect(Set(backups.map { text.backup(EncryptionStatus(backup: $0)) }).count == backups.count)
        #expect(text.backup(EncryptionStatus(backup: .on(remaining: 1))) == "1 key is not in the backup yet")
        // The backup that this device knows is the former identity's.
        let replaced = EncryptionStatus(condition: .on, identity: .replaced, backup: .on(remaining: 0))
        #expect(text.backup(replaced) == "Not known yet")
        let new = EncryptionStatus(condition: .on, identity: .unconfirmed, backup: .untrusted)
        #expect(text.backup(new) == "Confirm this device to use the backup")
        let recoveries: [EncryptionStatus.Recovery] = [.unknown, .none, .incomplete, .unsaved, .ready]
        #expect(Set(recoveries.map { text.recovery(EncryptionStatus(recovery: $0)) }).count == recoveries.count)
        let identities: [EncryptionStatus.Identity] = [.unknown, .none, .unconfirmed, .confirmed, .replaced]
        #expect(
            Set(identities.map { text.summary(EncryptionStatus(condition: .on, identity: $0)) }).count
                == identities.count)
        #expect(text.summary(nil) == "Loading…")
        var ending = Self.confirmed
        ending.endsWithProgram = true
        #expect(text.summary(ending).contains("signed out when Parlance closes"))
    }
}
