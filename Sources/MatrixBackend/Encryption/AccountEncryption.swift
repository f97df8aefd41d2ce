import ChatCore
import ChatOutbox
import ChatStore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization

/// The encryption of one account: the stored keys, the ``CryptoMachine`` that uses them, and the requests it makes.
///
/// Without the library, or if the keys cannot be opened, it does nothing and the sync runs as if it did not exist. Keys
/// that cannot be opened are left untouched.
actor AccountEncryption {
    /// Where to-device messages continue: after the last one that is stored.
    struct Position: Equatable, Sendable {
        var since: String?
    }

    private let client: MatrixClient
    private let opener: KeyOpener
    private let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    /// Serializes changes of ``EncryptedRoom``.
    let roomGate = SerialGate()
    /// The encrypted rooms among those that have been looked up.
    nonisolated let knownRooms = Mutex<Set<RoomID>>([])
    /// Rooms in which encryption is being enabled. Nothing is sent there until the outcome is known.
    private(set) var roomsBeingEncrypted: Set<RoomID> = []
    /// What is being sent unencrypted.
    nonisolated let clearAttempts = ClearAttempts()
    /// Incremented whenever enabling a room's encryption begins: what the server said before may not hold any more.
    private(set) var switchCount = 0
    private let gate = SerialGate()
    /// Without the library, nothing has to be opened to know that there is no encryption: the keyring may be locked.
    private let conditions = ValueFeed<EncryptionCondition>(RatchetLibrary.version == nil ? .off(.notBuilt) : .none)
    /// Incremented on each change of the encryption state. Observers need only the newest value.
    nonisolated let revisions = ValueFeed<UInt64>(0)
    private var revision: UInt64 = 0
    /// Whether the credential that encrypts the keys is only in memory.
    private(set) var endsWithProgram = false
    /// The device whose keys were last opened, successfully or not.
    private(set) var deviceID: String?
    private(set) var machine: CryptoMachine?
    private(set) var requests: KeyRequests?
    private(set) var backup: KeyBackup?
    private var isClosed = false
    /// Whether it is recorded that a sync was processed without the keys.
    var hasMissedSync = false
    /// Whether a sync was processed without the keys while that could not be recorded beside them. Then the history
    /// records it (``missedSetting``).
    var hasUnnotedMiss = false
    /// The setting of the history that holds ``missedMark`` until the keys have caught up.
    static let missedSetting = "encryption.missedSync"
    static let missedMark = "1"
    /// Whether to-device messages are stored that the machine has not processed.
    private var hasUnopened = false
    /// The events of memberships that a removal by this account has ended. A list of members that has one is from before:
    /// one worker of a server may lag behind another.
    var endedMemberships: Set<MessageID> = []
    /// When the device's keys were created, if known.
    private var begun: Date?
    /// Received sessions whose messages ``SealedMessages`` has not decrypted yet.
    private(set) var arrivedSessions: Set<SessionID> = []

    init(
        user: MemberID, client: MatrixClient, folder: URL, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) {
        self.client = client
        opener = KeyOpener(user: user, folder: folder, clock: clock, now: now)
        self.clock = clock
        self.now = now
    }

    /// The open file with the keys, whose credential may be locked.
    var store: KeyStore? { opener.store }

    nonisolated var condition: EncryptionCondition { conditions.value }
    nonisolated func conditionChanges() -> AsyncStream<EncryptionCondition> { conditions.values() }

    /// Tells observers that the encryption state may have changed.
    func noteChange() {
        revision += 1
        revisions.set(revision)
    }

    private func set(_ condition: EncryptionCondition) {
        conditions.set(condition)
        noteChange()
    }

    /// Whether the account has a token, without which requests are pointless.
    var isOnline: Bool { client.token != nil }

    // MARK: Opening

    /// Opens the keys of a device, or creates them if the account never had any. A failure sets ``condition`` and is
    /// not thrown: the account then works without encryption.
    /// - Parameter hasMissedSync: Whether the history says that a sync was processed without the keys.
    func open(device: String, credential: KeyCredential, hasMissedSync: Bool = false) async {
        guard RatchetLibrary.version != nil else { return }
        deviceID = device.isEmpty ? nil : device
        endsWithProgram = credential.place is MemoryCredentialStore
        if hasMissedSync { hasUnnotedMiss = true }
        await gate.runEvenIfCanceled { await reopen(device, credential) }
    }

    private func reopen(_ device: String, _ credential: KeyCredential) async {
        guard !isClosed else { return }
        await shut()
        do {
            do {
                try await open(device, credential)
            } catch let error as ChatError {
                guard opener.isSuspect else { throw error }
                await shut()
                try await open(device, credential)
            }
        } catch {
            await shut()
            set(.off(EncryptionCondition.Problem(opening: error)))
            return
        }
        set(.on)
        await noteStanding()
        await requests?.wake()
    }

    private func open(_ device: String, _ credential: KeyCredential) async throws {
        let (machine, store) = try await opener.open(device, credential)
        hasMissedSync = false
        if hasUnnotedMiss {
            try await CryptoMachine.noteMissedSync(in: store)
            hasUnnotedMiss = false
        }
        try await machine.catchUp()
        hasUnopened = false
        opener.didOpen()
        arrivedSessions.formUnion(try await machine.receiveUnopened(at: now()).sessions)
        self.begun = try await machine.begun()
        self.machine = machine
        // What is being recorded now is caught up with below, or by who records it.
        hasMissedSync = false
        requests = KeyRequests(machine: machine, client: client, clock: clock, now: now) { [weak self] in
            await self?.noteStanding()
        }
        // A sync may have been processed without it since.
        try await machine.catchUp()
        // Requests of the process before are forgotten. Without an answer this changes nothing.
        try? await machine.requestMissingSecrets()
    }

    func close() async {
        await gate.runEvenIfCanceled {
            isClosed = true
            await shut()
        }
        conditions.finish()
        revisions.finish()
    }

    /// Removes the credential that the user does not want stored from where it was stored before.
    /// - Parameter safe: The machine with whose keys nothing is lost.
    func removeStoredCredential(of safe: CryptoMachine) async {
        await gate.runEvenIfCanceled {
            // The keys may have been opened anew since, and others may have arrived that are in no backup yet.
            guard machine === safe, (try? await safe.remainingInBackup()) == 0 else { return }
            await opener.removeStoredCredential()
        }
    }

    private func shut() async {
        let (requests, backup) = (self.requests, self.backup)
        // Before waiting, so that nothing begins with what is being closed.
        (self.requests, self.backup, machine) = (nil, nil, nil)
        let close = opener.release()
        await requests?.stop()
        await backup?.stop()
        await close()
    }

    /// The storage of which rooms are encrypted, which needs no keys; `nil` if the account never had keys.
    func roomStorage() async throws -> KeyStore? {
        if let store { return store }
        return try await gate.runEvenIfCanceled {
            if let store { return store }
            guard !isClosed else { throw CancellationError() }
            return try opener.openWithoutCredential()
        }
    }

    private func noteStanding() async {
        // If this cannot be read, the next response checks again; until then, the server refuses uploads.
        guard let machine, (try? await machine.isReplaced()) == true else { return noteChange() }
        set(.off(.replaced))
    }

    // MARK: Sync

    /// - Returns: `nil` if nothing is to be requested: without open keys, and if the server has others for the device.
    ///   What is encrypted for those is unreadable here, and the server deletes it once it is acknowledged.
    func position() async throws -> Position? {
        guard let machine, try await !machine.isReplaced() else { return nil }
        return Position(since: try await machine.position())
    }

    /// Applies a sync response, before its token is stored. If the keys turn out to be unreadable, this ends encryption
    /// but not the sync; to-device messages are kept until they can be read.
    /// - Throws: If it cannot be stored, as on a full disk. The server then sends it again.
    func take(_ sync: CryptoSync?) async throws {
        guard let sync else { return try await catchUpWithUnrequested() }
        guard let machine else { return try await keep(sync) }
        do {
            if hasUnopened {
                await noteReceived(try await machine.receiveUnopened(at: now()).sessions)
                hasUnopened = false
            }
            await noteReceived(try await machine.received(sync, at: now()).sessions)
            if !sync.events.isEmpty || !sync.changed.isEmpty || !sync.left.isEmpty { noteChange() }
        } catch {
            try await end(for: error, of: machine)
            return try await keep(sync)
        }
        await requests?.wake()
    }

    private func noteReceived(_ sessions: Set<SessionID>) async {
        arrivedSessions.formUnion(sessions)
        if !sessions.isEmpty { await backup?.wake() }
    }

    private func keep(_ sync: CryptoSync) async throws {
        do {
            try await noteMissedSync()
            // With sliding sync, the server keeps to-device messages until they are acknowledged by position.
            guard sync.kind == .plain, !sync.events.isEmpty, let storage = try await roomStorage() else { return }
            try await UnopenedMessages.keep(sync.events, in: storage)
            hasUnopened = true
        } catch StoreOpeningError.damaged {
            // The keys that could decrypt them are lost with the file, unless it comes back.
            hasUnnotedMiss = true
        }
    }

    // MARK: Rooms

    /// Runs an operation that may enable the room's encryption. Nothing is sent there meanwhile.
    func encrypting(_ room: RoomID, _ work: @Sendable () async throws -> Void) async throws {
        guard roomsBeingEncrypted.insert(room).inserted else { throw ChatError.busy }
        switchCount += 1
        defer { roomsBeingEncrypted.remove(room) }
        await clearAttempts.end(in: room, clock: clock)
        try await work()
    }

    /// The decrypted event, or why it cannot be decrypted.
    typealias Reading = Result<GroupMessageReader.Payload, SealReason>

    /// Decrypts room events in one transaction. If the keys turn out to be unreadable, this ends encryption and does
    /// not throw.
    /// - Throws: If replay indices cannot be stored, as on a full disk. No event then counts as decrypted.
    func read(_ events: [SealedEvent]) async throws -> [Reading] {
        if let machine {
            do {
                let readings = try await machine.read(events)
                let all = zip(events, readings)
                await requestKeys(of: all.filter { Self.mayBeInBackup($0.1) }.map(\.0))
                await requestKeys(of: all.filter { $0.1 == .failure(.beforeKey) }.map(\.0), areLate: true)
                if readings.contains(.failure(.unknownSender)) { await requests?.wake() }
                return readings.map { $0.mapError { SealReason($0) } }
            } catch {
                try await end(for: error, of: machine)
            }
        }
        let reason = reasonWithoutKeys
        return events.map { _ in .failure(reason) }
    }

    private static func mayBeInBackup(_ reading: CryptoMachine.Reading) -> Bool {
        guard case .failure(let seal) = reading else { return false }
        return switch seal {
        // The stored key may be what is damaged. Another device may have a key that is withheld from this one.
        case .noKey, .damaged, .withheld: true
        default: false
        }
    }

    private var reasonWithoutKeys: SealReason {
        if RatchetLibrary.version == nil { return .notBuilt }
        if case .off(.locked) = condition { return .keysLocked }
        return .keysUnavailable
    }

    /// When the device's keys were created. Earlier messages were not encrypted for this device.
    func beginning() -> Date? { begun }

    /// Returns the sessions among these whose key is stored.
    /// - Parameter owners: The users whose devices must have created them; `nil` for all.
    func known(_ sessions: Set<SessionID>, of owners: Set<ExactText>? = nil) async throws -> Set<SessionID> {
        try await machine?.known(sessions, of: owners) ?? []
    }

    /// Whether any session came from a device of these users that was not confirmed then.
    func hasUnconfirmedSessions(of users: Set<ExactText>) async throws -> Bool {
        try await machine?.hasUnconfirmedSessions(of: users) ?? false
    }

    /// Adds sessions that were not received by a sync.
    func noteArrived(_ sessions: Set<SessionID>) { arrivedSessions.formUnion(sessions) }

    /// Removes sessions whose messages have been decrypted.
    func used(_ sessions: Set<SessionID>) { arrivedSessions.subtract(sessions) }

    /// Ends encryption if the error means that the keys are unreadable.
    /// - Parameter failed: The machine of the error; `nil` if there was none.
    /// - Throws: Any other error, such as that of a full disk, which can go away; and any error of keys that have been
    ///   opened anew since.
    func end(for error: any Error, of failed: CryptoMachine?) async throws {
        let problem: EncryptionCondition.Problem
        switch error {
        case is CancellationError, is DeliveryError: throw error
        case is ChatError:
            guard let reason = await store?.check() else { throw error }
            problem = .damaged(reason: reason)
        default: problem = EncryptionCondition.Problem(opening: error)
        }
        let isOutdated: Bool = await gate.runEvenIfCanceled {
            guard machine === failed else { return machine != nil }
            await shut()
            set(.off(problem))
            return false
        }
        if isOutdated { throw error }
    }

    /// Continues with a new token.
    func resume() async {
        noteChange()
        await requests?.wake()
        await backup?.wake()
    }

    // MARK: Backup

    /// Uploads sessions to a backup from now on, until the keys are closed.
    func attach(_ backup: KeyBackup) async {
        // The keys may have been closed, or opened anew, since it was made.
        guard machine === backup.machine else { return await backup.stop() }
        let former = self.backup
        self.backup = backup
        await former?.stop()
        Task { for await _ in backup.standings() { noteChange() } }
        await backup.wake()
    }

    /// Requests the keys of undecryptable events from the backup, unless they arrive within a minute.
    private func requestKeys(of events: [SealedEvent], areLate: Bool = false) async {
        guard let backup, !events.isEmpty else { return }
        let sessions = events.compactMap { event in
            MatrixEvent.identifier(event.content["session_id"]).map {
                SessionID(room: event.room, session: ExactText($0))
            }
        }
        await backup.request(Set(sessions), areLate: areLate)
    }

    /// Requests the keys of sessions from the backup.
    func requestKeys(of sessions: Set<SessionID>) async {
        if !sessions.isEmpty { await backup?.request(sessions) }
    }

    /// Call this after encrypting: a new session may have to be backed up.
    func wakeBackup() async { await backup?.wake() }
}
