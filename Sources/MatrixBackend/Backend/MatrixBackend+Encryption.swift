public import ChatCore
import ChatStore
public import Foundation
import MatrixCrypto

extension MatrixBackend: EncryptionService {
    public nonisolated func encryptionStatuses() -> AsyncStream<EncryptionStatus> {
        encryptionMonitor.statuses.values()
    }

    // MARK: Identity and recovery

    public func createIdentity(password: String?) async throws -> RecoveryKey {
        try await identitySetup.create(password: password)
    }

    public func replaceIdentity(password: String?) async throws -> RecoveryKey {
        try await identitySetup.replace(password: password)
    }

    public func recover(with secret: String) async throws { try await identitySetup.recover(with: secret) }

    public func replaceRecoveryKey() async throws -> RecoveryKey { try await identitySetup.replaceRecoveryKey() }

    public func confirmRecoveryKey() async throws { try await identitySetup.confirmRecoveryKey() }

    public func setBackupEnabled(_ isEnabled: Bool) async throws {
        try await identitySetup.setBackupEnabled(isEnabled)
    }

    public func exportKeys(to file: URL, passphrase: String) async throws -> Int {
        try await keyFiles().write(to: file, passphrase: passphrase)
    }

    public func importKeys(from file: URL, passphrase: String) async throws -> ImportedKeyCount {
        try await keyFiles().read(from: file, passphrase: passphrase)
    }

    private func keyFiles() async throws -> KeyFileTransfer {
        guard let machine = await keys.machine else { throw EncryptionError.unavailable(keys.condition.problem) }
        return KeyFileTransfer(machine: machine) { [sealed, keys] in
            await keys.wakeBackup()
            try await sealed.openImported($0)
        }
    }

    // MARK: Devices

    public func devices() async throws -> [AccountDevice] { try await accountDevices.all() }

    public func renameDevice(_ device: String, to name: String) async throws {
        try await accountDevices.rename(device, to: name)
    }

    public func signOutDevices(_ devices: [String], password: String?) async throws {
        try await accountDevices.signOut(devices, password: password)
    }

    // MARK: Other people

    public nonisolated func identities(of user: MemberID) -> AsyncStream<UserIdentity> {
        let user = ExactText(user.rawValue)
        return keys.observing(.unknown) { machine in
            try await machine.track([user])
            return try await machine.identity(of: user)
        }
    }

    public func acceptIdentity(_ key: IdentityKey, of user: MemberID) async throws {
        try await keys.encrypting { try await $0.accept(key, of: ExactText(user.rawValue)) }
    }

    public func withdrawVerification(of user: MemberID) async throws {
        try await keys.encrypting { try await $0.withdrawVerification(of: ExactText(user.rawValue)) }
    }

    public nonisolated func trust(of room: RoomID) -> AsyncStream<RoomTrust> {
        keys.observing(RoomTrust()) { [store, keys] in try await keys.trust(of: room, by: $0, in: store) }
    }

    // MARK: Verification

    public nonisolated func verifications() -> AsyncStream<[Verification]> { verifier.verifications.values() }

    public func verifyDevice(_ device: String?) async throws -> Verification.ID {
        try await verifier.verifyDevice(device)
    }

    public func verify(_ user: MemberID) async throws -> Verification.ID { try await verifier.verify(user) }

    public func perform(_ action: Verification.Action, in verification: Verification.ID) async throws {
        try await verifier.perform(action, in: verification)
    }
}
