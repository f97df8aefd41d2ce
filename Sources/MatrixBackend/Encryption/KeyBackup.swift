import ChatCore
import ChatOutbox
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// The server-side key backup: uploads the keys that it lacks, beside the sync, and downloads those that this device
/// lacks.
///
/// It uploads only if this device has the backup's private key, or a trusted key has signed the backup. Otherwise, the
/// server could have the keys encrypted for itself.
actor KeyBackup {
    struct Hooks: Sendable {
        /// Signs an object with this device's key, and with the user's master key if this device has it.
        var sign: @Sendable ([String: JSONValue]) async throws -> [String: JSONValue]
        /// Whether the user's verified identity or a confirmed device of theirs has signed an object.
        var isTrusted: @Sendable ([String: JSONValue]) async throws -> Bool
        /// Called with sessions that were downloaded.
        var didImport: @Sendable (Set<SessionID>) async throws -> Void
    }

    /// The progress of a restore, in keys.
    struct Progress: Equatable, Sendable {
        var restored: Int
        var total: Int?
    }

    struct Standing: Equatable, Sendable {
        var backup = EncryptionStatus.Backup.unknown
        /// Whether the backup is trusted, but this device lacks its private key, and so cannot read it.
        var isKeyMissing = false
        /// `nil` unless a restore is running.
        var restore: Progress?
    }

    /// The account data that says whether the user wants a backup.
    static let choice = "m.key_backup"

    let machine: CryptoMachine
    private let client: MatrixClient
    private let hooks: Hooks
    private let versions: BackupVersions
    private let restoring: BackupRestore
    private let user: MemberID
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let backOff = BackOff()
    private let feed = ValueFeed(Standing())
    private var questions = BackupQuestions()
    /// When questions were last looked for that were due.
    private var questionsChecked = Date.distantPast
    private var batchLimit = CryptoMachine.maxBackupBatch
    private var task: Task<Void, Never>?
    private var alarm: Task<Void, Never>?
    private var pause: Task<Void, Never>?
    private var hasNews = false
    private var isStopped = false

    /// - Parameter folder: for downloaded responses.
    init(
        user: MemberID, machine: CryptoMachine, client: MatrixClient, folder: URL, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date, hooks: Hooks
    ) {
        self.user = user
        self.machine = machine
        self.client = client
        self.clock = clock
        self.now = now
        self.hooks = hooks
        let versions = BackupVersions(user: user, machine: machine, client: client, hooks: hooks, feed: feed)
        self.versions = versions
        restoring = BackupRestore(
            machine: machine, client: client, versions: versions, folder: folder, didImport: hooks.didImport,
            feed: feed)
    }

    nonisolated var standing: Standing { feed.value }
    nonisolated func standings() -> AsyncStream<Standing> { feed.values() }

    // MARK: Loop

    /// Checks for work. Cheap enough for every sync.
    func wake() {
        hasNews = true
        guard task == nil, !isStopped else { return }
        task = Task { await run() }
    }

    /// Checks the server's backup again, as after a change of trust.
    func lookAgain() {
        versions.outdate()
        pause?.cancel()
        wake()
    }

    /// Cancels the current work without waiting for it, which may itself wait for the caller.
    func stop() {
        isStopped = true
        alarm?.cancel()
        pause?.cancel()
        task?.cancel()
        feed.finish()
    }

    private enum Outcome {
        case done
        /// There is no token; a new one wakes it.
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
            // Throws only if canceled, and then the loop checks again.
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
        questionsChecked = now()
        do {
            let found = try await versions.current()
            if found?.isTrusted != true, try await versions.createPrepared() { wake() }
            if let found { try await work(with: found) }
            setAlarm()
            return .done
        } catch let error as MatrixError {
            return await outcome(of: error)
        } catch is CancellationError where Task.isCancelled {
            return .ended
        } catch {
            // A failure of the storage, or a cancellation elsewhere.
            await fail(reason: "\(type(of: error))")
            return .failed(wait: .zero)
        }
    }

    /// A step that fails does not stop the others.
    private func work(with found: BackupVersions.Found) async throws {
        var failure: (any Error)?
        do { try await answerQuestions(found) } catch { failure = error }
        do { try await restoring.resume(found) } catch { failure = failure ?? error }
        do { try await upload(found) } catch { failure = failure ?? error }
        if let failure { throw failure }
    }

    private func outcome(of error: MatrixError) async -> Outcome {
        switch error {
        case .signedOut: return .ended
        case .busy(let wait): return .failed(wait: wait)
        case .unreachable, .untrusted: return .failed(wait: .zero)
        case .rejected(403, "M_WRONG_ROOM_KEYS_VERSION", _), .rejected(404, "M_NOT_FOUND", _):
            // Another device has created another backup or deleted this one.
            versions.outdate()
        case .rejected(413, _, _) where batchLimit > 1:
            batchLimit /= 2
        case .rejected(_, let code, _): await fail(reason: code)
        case .malformed, .tooLarge: await fail(reason: "\(error)")
        }
        return .failed(wait: .zero)
    }

    private func fail(reason: String) async {
        // The count is only for display: zero is harmless if it cannot be read.
        let remaining = (try? await machine.remainingInBackup()) ?? 0
        feed.publish { $0.backup = .failing(remaining: remaining, reason: reason) }
    }

    // MARK: Version

    /// What this device has of the server's current backup.
    enum CurrentKey: Sendable {
        case noBackup
        case untrusted
        /// The backup is trusted, but other devices have its private key.
        case missing(Curve25519Key)
        case stored(KeyMaterial)
    }

    /// Checks the server's current backup again. A stored key may be that of a former backup, which another device has
    /// replaced.
    func currentKey() async throws -> CurrentKey {
        versions.outdate()
        guard let found = try await versions.current() else { return .noBackup }
        guard found.isTrusted, let publicKey = found.publicKey else { return .untrusted }
        return try await machine.backupKey(for: publicKey).map { .stored($0) } ?? .missing(publicKey)
    }

    /// The number of keys that are in no backup. Another device may have replaced or deleted the one found last.
    /// - Throws: If the server does not answer.
    func keysWithoutBackup() async throws -> Int {
        guard try await machine.hasRoomKeys() else { return 0 }
        // The user waits for this.
        if try await client.keyBackup(timeout: .seconds(10))?.version != versions.version { lookAgain() }
        _ = try await versions.current()
        return try await machine.remainingInBackup()
    }

    /// Creates a backup and uploads all keys to it from now on.
    /// - Parameter key: The backup's private key. It must be in the secret storage already, so that this device never
    ///   has the only copy.
    func create(with key: KeyMaterial) async throws {
        if try await versions.create(with: key) { wake() }
    }

    /// Deletes the backup and all earlier ones from the server.
    func delete() async throws {
        try await versions.delete()
        wake()
    }

    /// Records in the account data, for the user's other devices, whether the user wants a backup.
    func noteChoice(isEnabled: Bool) async throws {
        try await client.setAccountData(Self.choice, ["enabled": .bool(isEnabled)], of: user)
    }

    // MARK: Writing

    private func upload(_ found: BackupVersions.Found) async throws {
        guard found.isTrusted else { return }
        var remaining = try await machine.remainingInBackup()
        feed.publish { $0.backup = .on(remaining: remaining) }
        while !Task.isCancelled, let batch = try await machine.nextBackupBatch(limit: batchLimit) {
            try await client.backUp(batch)
            try await machine.backedUp(batch)
            // Counting takes longer with each key that remains. That none does is counted: others may have arrived.
            remaining = remaining > batch.count ? remaining - batch.count : try await machine.remainingInBackup()
            feed.publish { $0.backup = .on(remaining: remaining) }
        }
        // Damaged keys cannot be uploaded, and do not count any more. The backup may have been deleted meanwhile.
        let counted = try await machine.remainingInBackup()
        feed.publish { if $0.backup == .on(remaining: remaining) { $0.backup = .on(remaining: counted) } }
    }

    // MARK: Questions

    /// Requests the keys of sessions from the backup if they have not arrived after a minute.
    /// - Parameter areLate: Whether their keys are known, but begin too late.
    func request(_ sessions: Set<SessionID>, areLate: Bool = false) {
        guard questions.add(sessions, areLate: areLate, at: now()) else { return }
        setAlarm()
    }

    private func answerQuestions(_ found: BackupVersions.Found) async throws {
        questions.removeKnown(try await machine.known(questions.due(at: now())))
        let due = questions.due(at: now())
        guard !due.isEmpty, let key = try await versions.key(of: found) else { return }
        var arrived: Set<SessionID> = []
        var failure: (any Error)?
        do {
            for session in due {
                arrived.formUnion(try await answer(session, found, key))
            }
        } catch {
            failure = error
        }
        // Those before the failure are not requested again.
        if !arrived.isEmpty { try await hooks.didImport(arrived) }
        if let failure { throw failure }
    }

    /// Requests the key of a session.
    /// - Returns: The session, if its key is new or begins earlier than the known one.
    private func answer(
        _ session: SessionID, _ found: BackupVersions.Found, _ key: BackupKey
    ) async throws -> Set<SessionID> {
        let answer = try await client.backedUpKey(of: session, version: found.version)
        // An unreadable response counts as a missing key.
        let exported = answer.flatMap {
            try? ExportedSession(backedUp: $0, room: session.room, id: session.session, key: key)
        }
        var new: Set<SessionID> = []
        if let exported { new = try await machine.imported([exported], from: found.version).new }
        questions.asked(session, isFound: exported != nil, at: now())
        return new
    }

    private func setAlarm() {
        alarm?.cancel()
        // One may have become due during the work. The clock may have been set back since.
        guard !isStopped, let next = questions.next(after: min(questionsChecked, now())) else { return }
        let wait = Duration.milliseconds(max(Int(next.timeIntervalSince(now()) * 1000), 0) + 1)
        alarm = Task { await ring(after: wait) }
    }

    private func ring(after wait: Duration) async {
        do { try await clock.sleep(for: wait, tolerance: nil) } catch { return }
        wake()
    }

    // MARK: Restoring

    /// Stores the private key of the backup and restores all keys. If the key is that of another backup, the current one
    /// is requested from the user's other devices.
    /// - Returns: Whether the key matches the backup.
    func adopt(_ secret: KeyMaterial) async throws -> Bool {
        versions.outdate()
        guard let found = try await versions.current(), let publicKey = found.publicKey else { return false }
        guard try BackupKey(secret).publicKey == publicKey else {
            if found.isTrusted { try await machine.requestBackupKey(for: publicKey, as: .rejected) }
            return false
        }
        try await machine.setBackupKey(secret)
        try await restore()
        return true
    }

    /// Restores all keys of the backup in the background, from the beginning. Continues after a restart.
    /// - Throws: ``EncryptionError/incompleteRecovery`` if this device does not have the backup's private key.
    func restore() async throws {
        versions.outdate()
        guard let found = try await versions.current() else { return }
        guard try await versions.key(of: found) != nil else { throw EncryptionError.incompleteRecovery }
        try await restoring.begin(found)
        wake()
    }
}

extension ValueFeed<KeyBackup.Standing> {
    /// Publishes a change. Call it in the isolation of the backup alone: another change in between would be lost.
    func publish(_ change: (inout KeyBackup.Standing) -> Void) {
        var standing = value
        change(&standing)
        set(standing)
    }
}
