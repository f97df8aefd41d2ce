import ChatCore
import Foundation
import MatrixCrypto
import Ratchets

/// Publishes how the encryption of an account stands, and does what follows from its changes: messages are read whose
/// senders were confirmed, and verifications end in time.
actor EncryptionMonitor {
    /// What the server has of the secret storage.
    private enum Recovery {
        case unread
        case none
        /// It is there and of no use; another recovery key mends it.
        case unusable
        case found(SecretStorage.State)
    }

    private let keys: AccountEncryption
    private let storage: SecretStorage
    private let sealed: SealedMessages
    private let verifier: Verifier
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    nonisolated let statuses = ValueFeed(EncryptionStatus())
    private var watching: Task<Void, Never>?
    private var alarm: Task<Void, Never>?
    private var recovery = Recovery.unread
    private var isRecoveryCurrent = false
    /// Whose hidden messages have not been looked at again.
    private var changedUsers: Set<ExactText> = []
    private var identity = EncryptionStatus.Identity.unknown

    init(
        keys: AccountEncryption, storage: SecretStorage, sealed: SealedMessages, verifier: Verifier,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Date
    ) {
        self.keys = keys
        self.storage = storage
        self.sealed = sealed
        self.verifier = verifier
        self.clock = clock
        self.now = now
    }

    func start() {
        guard watching == nil else { return }
        watching = Task { [keys] in
            for await _ in keys.revisions.values() {
                if Task.isCancelled { return }
                await self.update()
            }
        }
    }

    func stop() async {
        alarm?.cancel()
        watching?.cancel()
        await watching?.value
        statuses.finish()
    }

    /// The secret storage has changed, or may have.
    func invalidateRecovery() async {
        isRecoveryCurrent = false
        await keys.noteChange()
    }

    private func update() async {
        guard let machine = await keys.machine else {
            statuses.set(EncryptionStatus(condition: keys.condition, endsWithProgram: await keys.endsWithProgram))
            return
        }
        do {
            changedUsers.formUnion(try await machine.takeChangedUsers())
            // Whoever was confirmed meanwhile has messages here that were hidden.
            if !changedUsers.isEmpty {
                try await sealed.openConfirmed(of: changedUsers)
                changedUsers = []
            }
            try await verifier.publish(machine)
            setAlarm(try await machine.verificationDeadline())
            let status = try await status(machine)
            statuses.set(status)
            try await updateBackup(status, machine)
        } catch {
            // The next change, or the next start, looks again; what is shown is what was read last.
            return
        }
    }

    /// Takes the backup's key if another device has sent it, and looks at the backup again when it may be trusted now.
    private func updateBackup(_ status: EncryptionStatus, _ machine: CryptoMachine) async throws {
        guard let backup = await keys.backup else { return }
        if let secret = try await machine.unprovenBackupKey(), await keys.isOnline {
            // Whether it fits or not, it was looked at; what fails before that is tried again.
            _ = try await backup.adopt(secret)
            try await machine.dropUnprovenBackupKey()
        }
        guard status.identity != identity else { return }
        identity = status.identity
        await backup.lookAgain()
    }

    private func status(_ machine: CryptoMachine) async throws -> EncryptionStatus {
        var status = EncryptionStatus(condition: keys.condition, endsWithProgram: await keys.endsWithProgram)
        status.identity = try await machine.ownIdentity()
        status.fingerprint = "\(try await machine.fingerprint())"
        let own = ExactText(machine.device.text)
        status.otherConfirmedDevices = try await machine.ownDevices().count { $0.key != own && $0.value.isConfirmed }
        if let standing = await keys.backup?.standing {
            status.backup = standing.backup
            status.isRestoring = standing.restore != nil
        }
        await readRecovery()
        status.recovery = standing(status.backup)
        if case .found(let state) = recovery { status.hasPassphrase = state.hasPassphrase }
        // What is there may be of a former identity: making this one was interrupted.
        if status.recovery != .unknown, try await machine.isRecoveryKeyUnsaved() { status.recovery = .unsaved }
        return status
    }

    private func standing(_ backup: EncryptionStatus.Backup) -> EncryptionStatus.Recovery {
        let state: SecretStorage.State
        switch recovery {
        case .unread: return .unknown
        case .none: return .none
        case .unusable: return .incomplete
        case .found(let found): state = found
        }
        guard state.missing.isDisjoint(with: [.master, .selfSigning, .userSigning]) else { return .incomplete }
        // Else the recovery key would restore no messages.
        if case .on = backup, state.missing.contains(.backup) { return .incomplete }
        return .ready
    }

    /// Asks the server once; what fails is asked again with the next change.
    private func readRecovery() async {
        guard !isRecoveryCurrent, await keys.isOnline else { return }
        isRecoveryCurrent = true
        do {
            recovery = try await storage.state().map { .found($0) } ?? .none
        } catch EncryptionError.incompleteRecovery {
            recovery = .unusable
        } catch {
            isRecoveryCurrent = false
        }
    }

    private func setAlarm(_ deadline: Date?) {
        alarm?.cancel()
        guard let deadline else { return }
        let wait = Duration.milliseconds(max(0, Int(deadline.timeIntervalSince(now()) * 1000)) + 1)
        alarm = Task { [clock, verifier] in
            do { try await clock.sleep(for: wait, tolerance: nil) } catch { return }
            await verifier.tick()
        }
    }
}
