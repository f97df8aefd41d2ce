import ChatCore
import ChatOutbox
import Foundation
import MatrixCrypto
import Ratchets

/// Publishes an account's encryption state and reacts to its changes: retries messages whose devices were confirmed
/// since, and times out verifications.
actor EncryptionMonitor {
    /// The state of the secret storage on the server.
    private enum Recovery {
        case unread
        case none
        /// Present but unusable. Making another recovery key repairs it.
        case unusable
        case found(SecretStorage.State)
    }

    private let keys: AccountEncryption
    private let storage: SecretStorage
    private let sealed: SealedMessages
    private let arrivals: ArrivalFeed
    private let syncStatus: SyncStatus
    private let verifier: Verifier
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    nonisolated let statuses = ValueFeed(EncryptionStatus())
    private var watching: Task<Void, Never>?
    private var publishing: Task<Void, Never>?
    private var alarm: Task<Void, Never>?
    /// Ends after a while; until then, no request is made, as the last one failed.
    private var pause: Task<Void, Never>?
    /// How many requests have failed since the last response.
    private var failures = 0
    private let backOff = BackOff(minDelay: .seconds(5), maxDelay: .seconds(300))
    private var recovery = Recovery.unread
    private var isRecoveryCurrent = false
    /// Users whose hidden messages have not been retried since their trust changed.
    private var changedUsers: Set<ExactText> = []
    private var identity = EncryptionStatus.Identity.unknown

    init(
        keys: AccountEncryption, storage: SecretStorage, sealed: SealedMessages, verifier: Verifier,
        arrivals: ArrivalFeed, syncStatus: SyncStatus, clock: any Clock<Duration>, now: @escaping @Sendable () -> Date
    ) {
        self.keys = keys
        self.storage = storage
        self.sealed = sealed
        self.arrivals = arrivals
        self.syncStatus = syncStatus
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
        // Not by the same task: the other one waits for requests.
        publishing = Task { [keys] in
            for await _ in keys.revisions.values() {
                if Task.isCancelled { return }
                await self.publishVerifications()
            }
        }
    }

    func stop() async {
        watching?.cancel()
        publishing?.cancel()
        await watching?.value
        await publishing?.value
        alarm?.cancel()
        pause?.cancel()
        statuses.finish()
    }

    /// Call this when the secret storage may have changed.
    func invalidateRecovery() async {
        isRecoveryCurrent = false
        pause?.cancel()
        pause = nil
        await keys.noteChange()
    }

    /// Call this when another device may have changed the secret storage or the backup. The backup is looked at again even
    /// if reading the storage has failed so far.
    func recoveryChanged() async {
        if isRecoveryCurrent { await invalidateRecovery() }
        await keys.backup?.lookAgain()
    }

    private func update() async {
        guard let machine = await keys.machine else {
            statuses.set(EncryptionStatus(condition: keys.condition, endsWithProgram: await keys.endsWithProgram))
            return
        }
        do {
            changedUsers.formUnion(try await machine.takeChangedUsers())
            // Retries the hidden messages of users whose trust changed.
            if !changedUsers.isEmpty {
                try await sealed.openConfirmed(of: changedUsers) { [arrivals, syncStatus] in
                    // The list of a sender's devices often comes right after their first message, or right after the
                    // start.
                    if syncStatus.hasCaughtUp {
                        arrivals.publishOpened($0, mayBeEarlier: true)
                    } else {
                        arrivals.keepOpened($0)
                    }
                }
                changedUsers = []
            }
            let status = try await status(machine)
            statuses.set(status)
            if status.endsWithProgram, status.losesNothing { await keys.removeStoredCredential(of: machine) }
            try await updateBackup(status, machine)
        } catch {
            // The next change or start retries; until then, the last state stays published.
            return
        }
    }

    private func publishVerifications() async {
        guard let machine = await keys.machine else { return await verifier.keysClosed() }
        do {
            try await verifier.publish(machine)
            setAlarm(try await machine.verificationDeadline())
        } catch {
            // The next change publishes them.
            return
        }
    }

    /// Adopts a backup key that another device has sent, and checks the backup again if its trust may have changed.
    private func updateBackup(_ status: EncryptionStatus, _ machine: CryptoMachine) async throws {
        guard let backup = await keys.backup else { return }
        if pause == nil, let secret = try await machine.unprovenBackupKey(), await keys.isOnline {
            // Done even if the key does not match. An error before that leaves it to be tried again.
            do {
                // A request for another key is waiting then.
                if try await !backup.adopt(secret) { await keys.wakeRequests() }
            } catch {
                pauseRequests()
                throw error
            }
            failures = 0
            try await machine.dropUnprovenBackupKey(secret)
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
        let others = try await machine.ownDevices().filter { $0.key != own }
        status.otherConfirmedDevices = others.count { $0.value.isConfirmed }
        status.unconfirmedDevices = Set(others.filter { !$0.value.isConfirmed }.map { $0.key.text })
        if let standing = await keys.backup?.standing {
            status.backup = standing.backup
            status.isRestoring = standing.restore != nil
            status.lacksBackupKey = standing.isKeyMissing
        }
        if status.identity == .confirmed {
            let known = try await machine.storedSecrets()
            status.lacksIdentityKeys = SecretName.allCases.contains { $0 != .backup && known[$0] == nil }
        }
        await readRecovery()
        status.recovery = standing(
            hasBackup: try await machine.backupVersion() != nil, isKeyUnstored: try await machine.isBackupKeyUnstored())
        if case .found(let state) = recovery {
            status.hasPassphrase = state.hasPassphrase
            status.isRecoveryProven = try await machine.isProven(state)
            // The answer that made this key the default one may have been lost before the key was shown.
            if try await machine.stagedRecoveryKey(state.key.id) != nil { status.recovery = .unsaved }
        }
        // The stored secrets may belong to a former identity, if creating this one was interrupted.
        if status.recovery != .unknown, try await machine.isRecoveryKeyUnsaved() { status.recovery = .unsaved }
        return status
    }

    /// - Parameters:
    ///   - hasBackup: also one that rejects uploads, or has not been looked at yet.
    ///   - isKeyUnstored: see ``CryptoMachine/isBackupKeyUnstored()``.
    private func standing(hasBackup: Bool, isKeyUnstored: Bool) -> EncryptionStatus.Recovery {
        let state: SecretStorage.State
        switch recovery {
        case .unread: return .unknown
        case .none: return .none
        case .unusable: return .incomplete
        case .found(let found): state = found
        }
        guard state.missing.isDisjoint(with: SecretName.ofIdentity) else { return .incomplete }
        // Otherwise, the recovery key would restore no messages.
        if hasBackup, state.missing.contains(.backup) || isKeyUnstored { return .incomplete }
        return .ready
    }

    /// Requests the state once. After a failure, it is requested again later.
    private func readRecovery() async {
        guard !isRecoveryCurrent, pause == nil, await keys.isOnline else { return }
        isRecoveryCurrent = true
        do {
            recovery = try await storage.state().map { .found($0) } ?? .none
            failures = 0
        } catch EncryptionError.incompleteRecovery {
            recovery = .unusable
            failures = 0
        } catch {
            isRecoveryCurrent = false
            pauseRequests()
        }
    }

    /// Delays further requests, longer with each failure.
    private func pauseRequests() {
        failures += 1
        let delay = backOff.delay(after: failures, draw: .random(in: 0...1))
        pause?.cancel()
        pause = Task { [clock] in
            do { try await clock.sleep(for: delay, tolerance: nil) } catch { return }
            await self.endPause()
        }
    }

    private func endPause() async {
        pause = nil
        await keys.noteChange()
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

extension SecretName {
    static let ofIdentity: Set<SecretName> = [.master, .selfSigning, .userSigning]
}

extension CryptoMachine {
    /// Whether a key of the secret storage has opened on this device what a new one would need.
    func isProven(_ storage: SecretStorage.State) async throws -> Bool {
        var needed = SecretName.ofIdentity
        // Also if it rejects uploads, or has not been looked at yet.
        if try await backupVersion() != nil { needed.insert(.backup) }
        return try await provenSecrets(in: storage.secrets, of: storage.key).isSuperset(of: needed)
    }
}

extension EncryptionStatus {
    /// Whether the recovery key restores everything that would be lost with this device's keys.
    var losesNothing: Bool {
        condition == .on && identity == .confirmed && recovery == .ready && isRecoveryProven
            && backup == .on(remaining: 0)
    }
}
