import ChatCore
import ChatOutbox
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// The server's copy of the account's room keys: writes what it lacks, beside the sync, and reads what this device lacks.
///
/// It is written to only if this device has its private key, or somebody has signed it whom the caller trusts. Else the
/// server could have the keys encrypted for itself.
actor KeyBackup {
    struct Hooks: Sendable {
        /// Signs an object with this device, and with the user's identity if that is here.
        var sign: @Sendable ([String: JSONValue]) async throws -> [String: JSONValue]
        /// Whether the user's own identity, verified, or a confirmed device of theirs has signed an object.
        var isTrusted: @Sendable ([String: JSONValue]) async throws -> Bool
        /// Sessions have come from the backup.
        var didImport: @Sendable (Set<SessionID>) async throws -> Void
    }

    /// How many keys were restored, of how many.
    struct Progress: Equatable, Sendable {
        var restored: Int
        var total: Int?
    }

    struct Standing: Equatable, Sendable {
        var backup = EncryptionStatus.Backup.unknown
        /// `nil` if nothing is being restored.
        var restore: Progress?
    }

    /// What the server was found to have.
    struct Found: Equatable, Sendable {
        let version: String
        let publicKey: Curve25519Key?
        let isTrusted: Bool
        let count: Int?
    }

    private static let choice = "m.key_backup"

    private enum Look {
        case needed
        case none
        case found(Found)
    }

    let machine: CryptoMachine
    let client: MatrixClient
    let hooks: Hooks
    /// Where what is being restored lies meanwhile.
    let folder: URL
    private let user: MemberID
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let backOff = BackOff()
    private let creation = SerialGate()
    private let feed = ValueFeed(Standing())
    private var look = Look.needed
    private var questions = BackupQuestions()
    private var batchLimit = CryptoMachine.maxBackupBatch
    private var task: Task<Void, Never>?
    private var alarm: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var hasNews = false
    private var isStopped = false

    init(
        user: MemberID, machine: CryptoMachine, client: MatrixClient, folder: URL, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date, hooks: Hooks
    ) {
        self.user = user
        self.machine = machine
        self.client = client
        self.folder = folder
        self.clock = clock
        self.now = now
        self.hooks = hooks
    }

    nonisolated var standing: Standing { feed.value }
    nonisolated func standings() -> AsyncStream<Standing> { feed.values() }

    func publish(_ change: (inout Standing) -> Void) {
        var standing = feed.value
        change(&standing)
        feed.set(standing)
    }

    // MARK: Loop

    /// Looks whether there is something to do. Costs nothing on the way of a sync.
    func wake() {
        hasNews = true
        guard task == nil, !isStopped else { return }
        task = Task { await run() }
    }

    /// Looks again at what the server has, as after whom the user trusts has changed.
    func lookAgain() {
        look = .needed
        pause?.cancel()
        wake()
    }

    /// Ends what is under way, without waiting for it: it may wait for whoever stops it.
    func stop() {
        isStopped = true
        alarm?.cancel()
        pause?.cancel()
        task?.cancel()
        feed.finish()
    }

    private enum Outcome {
        case done
        /// There is no session any more; the next one wakes it.
        case ended
        case failed(wait: Duration)
    }

    private func run() async {
        var failures = 0
        while hasNews, client.token != nil, !Task.isCancelled {
            hasNews = false
            switch await work() {
            case .done: failures = 0
            case .ended: break
            case .failed(let wait):
                failures += 1
                hasNews = true
                await sleep(for: max(wait, backOff.delay(after: failures, draw: .random(in: 0...1))))
            }
        }
        task = nil
    }

    private func sleep(for delay: Duration) async {
        let pause = Task<Void, Never> { [clock] in
            // Throws only when it is canceled, and the loop looks again then.
            try? await clock.sleep(for: delay, tolerance: nil)
        }
        self.pause = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        self.pause = nil
    }

    private func work() async -> Outcome {
        do {
            let found = try await found()
            if found?.isTrusted != true { try await createPrepared() }
            if let found { try await work(with: found) }
            setAlarm()
            return .done
        } catch let error as MatrixError {
            return await outcome(of: error)
        } catch is CancellationError {
            return .ended
        } catch {
            // The disk, or keys that cannot be read.
            await fail(reason: "\(type(of: error))")
            return .failed(wait: .zero)
        }
    }

    /// One that fails does not stand in the way of the others.
    private func work(with found: Found) async throws {
        var failure: (any Error)?
        do { try await answerQuestions(found) } catch { failure = error }
        do { try await restorePending(found) } catch { failure = failure ?? error }
        do { try await upload(found) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    private func outcome(of error: MatrixError) async -> Outcome {
        switch error {
        case .signedOut: return .ended
        case .busy(let wait): return .failed(wait: wait)
        case .unreachable, .untrusted: return .failed(wait: .zero)
        case .rejected(403, "M_WRONG_ROOM_KEYS_VERSION", _), .rejected(404, "M_NOT_FOUND", _):
            // Another device has made another backup, or deleted this one.
            look = .needed
        case .rejected(413, _, _) where batchLimit > 1:
            batchLimit /= 2
        case .rejected(_, let code, _): await fail(reason: code)
        case .malformed, .tooLarge: await fail(reason: "\(error)")
        }
        return .failed(wait: .zero)
    }

    private func fail(reason: String) async {
        // How many are left is beside the point if the disk does not say.
        let remaining = (try? await machine.remainingInBackup()) ?? 0
        publish { $0.backup = .failing(remaining: remaining, reason: reason) }
    }

    // MARK: Version

    /// What the server has, asked for once.
    private func found() async throws -> Found? {
        switch look {
        case .none: return nil
        case .found(let found): return found
        case .needed: break
        }
        let found = try await request()
        // Uploads wait for a version that may be written to.
        var target: BackupVersion?
        if let found, found.isTrusted, let key = found.publicKey {
            target = BackupVersion(version: found.version, publicKey: key)
        }
        try await machine.setBackupVersion(target)
        look = found.map { .found($0) } ?? .none
        if found == nil {
            publish { $0.backup = .off }
        } else if target == nil {
            publish { $0.backup = .untrusted }
        }
        return found
    }

    private func request() async throws -> Found? {
        guard let listed = try await client.keyBackup() else { return nil }
        var isTrusted = false
        if let key = listed.publicKey {
            isTrusted = try await machine.backupKey(for: key) != nil
            if !isTrusted { isTrusted = try await hooks.isTrusted(listed.authData) }
        }
        return Found(
            version: listed.version, publicKey: listed.publicKey, isTrusted: isTrusted, count: listed.count)
    }

    /// Makes a backup, and writes all keys to it from now on.
    /// - Parameter key: What will read it. The secret storage has it before, so that it is never the only copy.
    func create(with key: KeyMaterial) async throws {
        try await creation.run { try await createAlone(key) }
    }

    private func createAlone(_ key: KeyMaterial) async throws {
        let publicKey = try BackupKey(key).publicKey
        if case .found(let found) = look, found.isTrusted, found.publicKey == publicKey { return }
        try await machine.prepareBackupKey(key)
        let authData = try await hooks.sign(["public_key": .string("\(publicKey)")])
        let version = try await client.createKeyBackup(authData)
        guard try await machine.backupKey(for: publicKey) != nil else { throw EncryptionError.incompleteRecovery }
        try await machine.setBackupVersion(BackupVersion(version: version, publicKey: publicKey))
        look = .found(Found(version: version, publicKey: publicKey, isTrusted: true, count: 0))
        let remaining = try await machine.remainingInBackup()
        publish { $0.backup = .on(remaining: remaining) }
        wake()
    }

    /// Makes the backup that was to be made with the identity, if that was interrupted or has failed.
    private func createPrepared() async throws {
        guard let key = try await machine.preparedBackupKey(), try await machine.ownIdentity() == .confirmed,
            try await isBackupKeyStored(), try await client.accountData(Self.choice, of: user)?["enabled"] != false
        else { return }
        try await create(with: key)
        try await noteChoice(isEnabled: true)
    }

    /// Whether the secret storage has a backup's key. After an interrupted reset it is the former one's until the user
    /// makes the recovery key that the banner asks for.
    private func isBackupKeyStored() async throws -> Bool {
        do {
            return try await SecretStorage(client: client, user: user).state()?.secrets[.backup] != nil
        } catch EncryptionError.incompleteRecovery {
            return false
        }
    }

    /// Deletes the backup from the server, and those before it.
    func delete() async throws {
        // Behind each the one before it appears.
        for _ in 0..<20 {
            guard let listed = try await client.keyBackup() else { break }
            try await client.deleteKeyBackup(listed.version)
        }
        guard try await client.keyBackup() == nil else {
            throw MatrixError.malformed(reason: "backups that cannot be deleted")
        }
        try await machine.setRestoringBackup(nil)
        try await machine.setBackupVersion(nil)
        try await machine.forgetBackupKey()
        look = .none
        publish { $0 = Standing(backup: .off) }
    }

    /// Tells the user's other devices that the user has switched the backup on or off.
    func noteChoice(isEnabled: Bool) async throws {
        try await client.setAccountData(Self.choice, ["enabled": .bool(isEnabled)], of: user)
    }

    // MARK: Writing

    private func upload(_ found: Found) async throws {
        guard found.isTrusted else { return }
        var remaining = try await machine.remainingInBackup()
        publish { $0.backup = .on(remaining: remaining) }
        while !Task.isCancelled, let batch = try await machine.nextBackupBatch(limit: batchLimit) {
            try await client.backUp(batch)
            try await machine.backedUp(batch)
            remaining = try await machine.remainingInBackup()
            publish { $0.backup = .on(remaining: remaining) }
        }
    }

    // MARK: Questions

    /// Sessions of which the key has not come. If it has not after a minute, the backup is asked for it.
    func request(_ sessions: Set<SessionID>) {
        guard questions.add(sessions, at: now()) else { return }
        setAlarm()
    }

    private func answerQuestions(_ found: Found) async throws {
        questions.remove(try await machine.known(questions.due(at: now())))
        let due = questions.due(at: now())
        guard !due.isEmpty, let key = try await key(of: found) else { return }
        var arrived: Set<SessionID> = []
        for session in due {
            let answer = try await client.backedUpKey(of: session, version: found.version)
            questions.asked(session, at: now())
            // What cannot be read is as good as not there.
            guard let answer,
                let exported = try? ExportedSession(
                    backedUp: answer, room: session.room, id: session.session, key: key)
            else { continue }
            arrived.formUnion(try await machine.imported([exported], from: found.version).new)
        }
        if !arrived.isEmpty { try await hooks.didImport(arrived) }
    }

    /// What reads a backup; `nil` if this device does not have it.
    func key(of found: Found) async throws -> BackupKey? {
        guard let publicKey = found.publicKey else { return nil }
        return try await machine.backupKey(for: publicKey).map { try BackupKey($0) }
    }

    private func setAlarm() {
        alarm?.cancel()
        let time = now()
        guard !isStopped, let next = questions.next(after: time) else { return }
        let wait = Duration.milliseconds(Int(next.timeIntervalSince(time) * 1000) + 1)
        alarm = Task { await ring(after: wait) }
    }

    private func ring(after wait: Duration) async {
        do { try await clock.sleep(for: wait, tolerance: nil) } catch { return }
        wake()
    }

    // MARK: Restoring

    /// Takes a key that is said to read the backup, and restores all that is there.
    /// - Returns: Whether it does.
    func adopt(_ secret: KeyMaterial) async throws -> Bool {
        look = .needed
        guard let found = try await found(), let publicKey = found.publicKey,
            try BackupKey(secret).publicKey == publicKey
        else { return false }
        try await machine.setBackupKey(secret)
        try await restore()
        return true
    }

    /// Restores all keys of the backup in the background, from the beginning. It goes on after the next start.
    /// - Throws: ``EncryptionError/incompleteRecovery`` if this device does not have what reads the backup.
    func restore() async throws {
        look = .needed
        guard let found = try await found() else { return }
        guard try await key(of: found) != nil else { throw EncryptionError.incompleteRecovery }
        try await machine.setRestoringBackup(found.version)
        publish { $0.restore = Progress(restored: 0, total: found.count) }
        wake()
    }
}
