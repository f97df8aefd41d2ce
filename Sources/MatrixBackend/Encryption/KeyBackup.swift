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

    /// The server's current backup.
    struct Found: Equatable, Sendable {
        let version: String
        let publicKey: Curve25519Key?
        let isTrusted: Bool
        let count: Int?
    }

    /// The account data that says whether the user wants a backup.
    static let choice = "m.key_backup"

    private enum Look {
        case needed
        case none
        case found(Found)
    }

    let machine: CryptoMachine
    let client: MatrixClient
    let hooks: Hooks
    /// The folder for downloaded responses.
    let folder: URL
    private let user: MemberID
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let backOff = BackOff()
    /// Serializes looks, creations and deletions: a response from before a creation would report the backup as missing.
    private let changing = SerialGate()
    private let feed = ValueFeed(Standing())
    private var look = Look.needed {
        didSet { lookCount += 1 }
    }
    /// Counts the changes of ``look``.
    private var lookCount = 0
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

    /// Checks for work. Cheap enough for every sync.
    func wake() {
        hasNews = true
        guard task == nil, !isStopped else { return }
        task = Task { await run() }
    }

    /// Checks the server's backup again, as after a change of trust.
    func lookAgain() {
        look = .needed
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
        do {
            let found = try await found()
            if found?.isTrusted != true { try await createPrepared() }
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
            // Another device has created another backup or deleted this one.
            look = .needed
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
        publish { $0.backup = .failing(remaining: remaining, reason: reason) }
    }

    // MARK: Version

    /// Whether a backup is still the one that was found last.
    func isCurrent(_ found: Found) -> Bool {
        guard case .found(let current) = look else { return false }
        return current == found
    }

    /// Returns the server's backup, requested once.
    private func found() async throws -> Found? {
        try await changing.run { try await foundAlone() }
    }

    private func foundAlone() async throws -> Found? {
        var found: Found?
        // Uploads wait for a version that is trusted.
        var target: BackupVersion?
        var isKeyMissing = false
        var count: Int
        repeat {
            switch look {
            case .none:
                // Work that began before the deletion may have published its progress since.
                publish { $0.backup = .off }
                return nil
            case .found(let found): return found
            case .needed: break
            }
            count = lookCount
            found = try await request()
            (target, isKeyMissing) = (nil, false)
            if let found, found.isTrusted, let key = found.publicKey {
                target = BackupVersion(version: found.version, publicKey: key)
                isKeyMissing = try await machine.backupKey(for: key) == nil
            }
            try await machine.setBackupVersion(target)
            // Another device has replaced the backup: this one still has the key of the former backup.
            if let target { try await machine.requestBackupKey(for: target.publicKey, as: .replaced) }
            // Trust may have changed meanwhile.
        } while count != lookCount
        look = found.map { .found($0) } ?? .none
        publish { $0.isKeyMissing = isKeyMissing }
        if found == nil {
            publish { $0.backup = .off }
        } else if target == nil {
            publish { $0.backup = .untrusted }
        }
        return found
    }

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
        look = .needed
        guard let found = try await found() else { return .noBackup }
        guard found.isTrusted, let publicKey = found.publicKey else { return .untrusted }
        return try await machine.backupKey(for: publicKey).map { .stored($0) } ?? .missing(publicKey)
    }

    /// The number of keys that are in no backup. Another device may have replaced or deleted the one found last.
    /// - Throws: If the server does not answer.
    func keysWithoutBackup() async throws -> Int {
        guard try await machine.hasRoomKeys() else { return 0 }
        // The user waits for this.
        if try await client.keyBackup(timeout: .seconds(10))?.version != version { lookAgain() }
        _ = try await found()
        return try await machine.remainingInBackup()
    }

    /// That of the backup found last.
    private var version: String? {
        guard case .found(let found) = look else { return nil }
        return found.version
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

    /// Creates a backup and uploads all keys to it from now on.
    /// - Parameter key: The backup's private key. It must be in the secret storage already, so that this device never
    ///   has the only copy.
    func create(with key: KeyMaterial) async throws {
        try await changing.run { try await createAlone(key) }
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
        publish { ($0.backup, $0.isKeyMissing) = (.on(remaining: remaining), false) }
        wake()
    }

    /// Creates the backup that was prepared with the identity, if that was interrupted or has failed.
    private func createPrepared() async throws {
        guard let key = try await machine.preparedBackupKey(), try await machine.ownIdentity() == .confirmed,
            try await isBackupKeyStored(), try await client.accountData(Self.choice, of: user)?["enabled"] != false
        else { return }
        try await create(with: key)
        try await noteChoice(isEnabled: true)
    }

    /// Whether the secret storage contains this backup's key. After an interrupted reset, it contains that of the
    /// former backup until the user makes the recovery key that the banner asks for.
    private func isBackupKeyStored() async throws -> Bool {
        do {
            return try await SecretStorage(client: client, user: user).state()?.secrets[.backup] != nil
        } catch EncryptionError.incompleteRecovery {
            return false
        }
    }

    /// Deletes the backup and all earlier ones from the server.
    func delete() async throws {
        try await changing.run { try await deleteAlone() }
    }

    private func deleteAlone() async throws {
        // Deleting a version makes the one before it current.
        for _ in 0..<20 {
            guard let listed = try await client.keyBackup() else { break }
            try await client.deleteKeyBackup(listed.version)
        }
        guard try await client.keyBackup() == nil else {
            throw MatrixError.malformed(reason: "backups that cannot be deleted")
        }
        try await machine.setRestoringBackup(nil)
        try await machine.setBackupVersion(nil)
        try await machine.retireBackupKey()
        look = .none
        publish { $0 = Standing(backup: .off) }
        wake()
    }

    /// Records in the account data, for the user's other devices, whether the user wants a backup.
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

    /// Requests the keys of sessions from the backup if they have not arrived after a minute.
    /// - Parameter areLate: Whether their keys are known, but begin too late.
    func request(_ sessions: Set<SessionID>, areLate: Bool = false) {
        guard questions.add(sessions, areLate: areLate, at: now()) else { return }
        setAlarm()
    }

    private func answerQuestions(_ found: Found) async throws {
        questions.removeKnown(try await machine.known(questions.due(at: now())))
        let due = questions.due(at: now())
        guard !due.isEmpty, let key = try await key(of: found) else { return }
        var arrived: Set<SessionID> = []
        for session in due {
            let answer = try await client.backedUpKey(of: session, version: found.version)
            questions.asked(session, at: now())
            // An unreadable response counts as a missing key.
            guard let answer,
                let exported = try? ExportedSession(
                    backedUp: answer, room: session.room, id: session.session, key: key)
            else { continue }
            arrived.formUnion(try await machine.imported([exported], from: found.version).new)
        }
        if !arrived.isEmpty { try await hooks.didImport(arrived) }
    }

    /// Returns the backup's private key, or `nil` if this device does not have it.
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

    /// Stores the private key of the backup and restores all keys. If the key is that of another backup, the current one
    /// is requested from the user's other devices.
    /// - Returns: Whether the key matches the backup.
    func adopt(_ secret: KeyMaterial) async throws -> Bool {
        look = .needed
        guard let found = try await found(), let publicKey = found.publicKey else { return false }
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
        look = .needed
        guard let found = try await found() else { return }
        guard try await key(of: found) != nil else { throw EncryptionError.incompleteRecovery }
        try await machine.setRestoringBackup(found.version)
        publish { $0.restore = Progress(restored: 0, total: found.count) }
        wake()
    }
}
