import ChatCore
import ChatOutbox
import ChatStore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization

/// The encryption of one account: the keys on the disk, the ``CryptoMachine`` over them, and what it asks the server.
///
/// Without the library, or with keys that cannot be opened, it takes nothing and the sync goes on as if it were not
/// there. Keys that cannot be opened are left as they are.
actor AccountEncryption {
    /// Where the messages to this device begin that are not stored yet.
    struct Position: Equatable, Sendable {
        var since: String?
    }

    private let user: MemberID
    private let client: MatrixClient
    /// The folder of the account's store, where its keys are.
    private let folder: URL
    private let clock: any Clock<Duration>
    let now: @Sendable () -> Date
    /// One change of ``EncryptedRoom`` at a time.
    let roomGate = SerialGate()
    /// Rooms that are known to be encrypted, as far as somebody has asked.
    nonisolated let knownRooms = Mutex<Set<RoomID>>([])
    /// Rooms whose encryption is being turned on: nothing is sent there until it is known whether it is.
    private(set) var roomsBeingEncrypted: Set<RoomID> = []
    private let gate = SerialGate()
    private let conditions = ValueFeed(EncryptionCondition.none)
    /// Counts what may change how encryption stands: the newest is enough.
    nonisolated let revisions = ValueFeed<UInt64>(0)
    private var revision: UInt64 = 0
    /// Whether what encrypts the keys is in memory alone.
    private(set) var endsWithProgram = false
    /// The device whose keys were opened last, or were to be.
    private(set) var deviceID: String?
    private(set) var store: KeyStore?
    private(set) var machine: CryptoMachine?
    private(set) var requests: KeyRequests?
    private(set) var backup: KeyBackup?
    private var isClosed = false
    /// Whether it is noted that a sync was taken without the keys.
    var hasMissedSync = false
    /// Whether messages to the device were kept that the machine has not been given.
    private var hasUnopened = false
    /// Whether it was tried to rebuild the file without the keys.
    private var hasTriedRepair = false
    /// When the keys of the device were made, if that is known.
    private var begun: Date?
    /// What came and was not used yet: ``SealedMessages`` opens what waits for it.
    private(set) var arrivedSessions: Set<SessionID> = []

    init(
        user: MemberID, client: MatrixClient, folder: URL, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) {
        self.user = user
        self.client = client
        self.folder = folder
        self.clock = clock
        self.now = now
    }

    nonisolated var condition: EncryptionCondition { conditions.value }
    nonisolated func conditionChanges() -> AsyncStream<EncryptionCondition> { conditions.values() }

    /// Says that something may have changed of how encryption stands.
    func noteChange() {
        revision += 1
        revisions.set(revision)
    }

    private func set(_ condition: EncryptionCondition) {
        conditions.set(condition)
        noteChange()
    }

    /// Whether the account has a session, so that asking the server is worth an attempt.
    var isOnline: Bool { client.token != nil }

    // MARK: Opening

    /// Opens the keys of a device, or makes them if the account never had any. What fails is a condition, not an error:
    /// the account works without encryption then.
    func open(device: String, credential: KeyCredential) async {
        guard RatchetLibrary.version != nil else {
            set(.off(.notBuilt))
            return
        }
        deviceID = device.isEmpty ? nil : device
        endsWithProgram = credential.place is MemoryCredentialStore
        await gate.runEvenIfCanceled { await reopen(device, credential) }
    }

    private func reopen(_ device: String, _ credential: KeyCredential) async {
        await shut()
        do {
            try await open(device, credential)
        } catch {
            await shut()
            set(.off(Self.problem(error)))
            return
        }
        set(.on)
        await noteStanding()
        await requests?.wake()
    }

    private func open(_ device: String, _ credential: KeyCredential) async throws {
        guard !device.isEmpty else { throw EncryptionCondition.Problem.noDevice }
        let begun = try KeyStore.begunDevice(in: folder)
        // The user has signed in anew, or for the first time: what is there of another device may be set aside.
        let isNext = begun != device
        guard KeyStore.exists(in: folder) || isNext else { throw EncryptionCondition.Problem.missing }
        var key = try await credential.read()
        if key == nil {
            guard isNext else { throw EncryptionCondition.Problem.credentialLost }
            if KeyStore.exists(in: folder) { try KeyStore.setAside(in: folder, now: now()) }
            key = try await credential.make()
        }
        guard let key else { throw EncryptionCondition.Problem.credentialLost }
        let store = try openStore(isNext: isNext)
        self.store = store
        let machine = try await machine(of: ExactText(device), in: store, key, isNext: isNext)
        try KeyStore.noteBegun(device, in: folder)
        if try await store.wasRepaired() { try await machine.outdate() }
        try await machine.catchUp()
        hasMissedSync = false
        (hasUnopened, hasTriedRepair) = (false, false)
        arrivedSessions.formUnion(try await machine.receiveUnopened(at: now()).sessions)
        self.begun = try await machine.begun()
        self.machine = machine
        requests = KeyRequests(machine: machine, client: client, clock: clock, now: now) { [weak self] in
            await self?.noteStanding()
        }
    }

    private func openStore(isNext: Bool) throws -> KeyStore {
        let isNew = isNext && !KeyStore.exists(in: folder)
        let wasBegun = try KeyStore.begunDevice(in: folder) != nil
        do {
            return try KeyStore(folder: folder, isNew: isNew || !wasBegun)
        } catch {
            guard case .damaged = error, KeyStore.exists(in: folder) else { throw error }
        }
        do {
            // Keeps a copy of what is damaged.
            try KeyStore.repair(in: folder, now: now())
            return try KeyStore(folder: folder, isNew: false)
        } catch {
            guard isNext else { throw error }
        }
        try KeyStore.setAside(in: folder, now: now())
        return try KeyStore(folder: folder, isNew: true)
    }

    private func machine(
        of device: ExactText, in store: KeyStore, _ key: KeyMaterial, isNext: Bool
    ) async throws -> CryptoMachine {
        let user = ExactText(user.rawValue)
        if try await CryptoMachine.device(in: store) == device {
            return try await CryptoMachine(user: user, device: device, storage: store, key: key)
        }
        guard isNext else { throw EncryptionCondition.Problem.damaged(reason: "no device") }
        return try await CryptoMachine.begun(user: user, device: device, in: store, key: key, at: now())
    }

    private static func problem(_ error: any Error) -> EncryptionCondition.Problem {
        switch error {
        case let problem as EncryptionCondition.Problem: problem
        case StoreOpeningError.damaged(_, let reason): .damaged(reason: reason)
        case RatchetError.pickle, KeyUpkeep.Failure.rejected(.pickle): .credentialLost
        case is StoreOpeningError, is ChatError: .storage(reason: "\(type(of: error))")
        default: .damaged(reason: "\(type(of: error))")
        }
    }

    func close() async {
        await gate.runEvenIfCanceled {
            isClosed = true
            await shut()
        }
        conditions.finish()
        revisions.finish()
    }

    private func shut() async {
        await requests?.stop()
        await backup?.stop()
        (requests, backup, machine) = (nil, nil, nil)
        let closing = store
        store = nil
        // What it held is on the disk, and a file that fails to close is closed with the process.
        try? await closing?.close()
    }

    /// Where it is noted which rooms are encrypted, which no key is needed for; `nil` if the account never had keys.
    func roomStorage() async throws -> KeyStore? {
        if let store { return store }
        return try await gate.runEvenIfCanceled {
            if let store { return store }
            guard !isClosed else { throw CancellationError() }
            // A file that is missing is an error, where there was one.
            guard try KeyStore.begunDevice(in: folder) != nil || KeyStore.exists(in: folder) else { return nil }
            let opened = try storeWithoutKeys()
            store = opened
            return opened
        }
    }

    private func storeWithoutKeys() throws -> KeyStore {
        do {
            return try KeyStore(folder: folder, isNew: false)
        } catch {
            guard case .damaged = error, !hasTriedRepair else { throw error }
        }
        // Once, as each repair keeps a copy.
        hasTriedRepair = true
        try KeyStore.repair(in: folder, now: now())
        return try KeyStore(folder: folder, isNew: false)
    }

    private func noteStanding() async {
        // If it cannot be read, the next answer asks again; meanwhile the server refuses what is uploaded.
        guard let machine, (try? await machine.isReplaced()) == true else { return noteChange() }
        set(.off(.replaced))
    }

    // MARK: Sync

    /// - Returns: `nil` if nothing is to be asked for.
    func position() async throws -> Position? {
        guard let machine else { return nil }
        return Position(since: try await machine.position())
    }

    /// Takes what a sync says, before its token is stored. Keys that turn out to be unreadable end encryption, not the
    /// sync: what only comes once is kept until they can be read.
    /// - Throws: If it could not be stored, as on a full disk: the server sends it again.
    func take(_ sync: CryptoSync?) async throws {
        guard let sync else { return }
        guard let machine else { return try await keep(sync) }
        do {
            if hasUnopened {
                arrivedSessions.formUnion(try await machine.receiveUnopened(at: now()).sessions)
                hasUnopened = false
            }
            let sessions = try await machine.received(sync, at: now()).sessions
            arrivedSessions.formUnion(sessions)
            if !sessions.isEmpty { await backup?.wake() }
            if !sync.events.isEmpty || !sync.changed.isEmpty || !sync.left.isEmpty { noteChange() }
        } catch {
            try await end(for: error)
            return try await keep(sync)
        }
        await requests?.wake()
    }

    private func keep(_ sync: CryptoSync) async throws {
        do {
            try await noteMissedSync()
            // The server keeps what a sliding sync has brought until the machine's position is told.
            guard sync.kind == .plain, !sync.events.isEmpty, let storage = try await roomStorage() else { return }
            try await UnopenedMessages.keep(sync.events, in: storage)
            hasUnopened = true
        } catch StoreOpeningError.damaged {
            // With the file those keys are lost that could read them.
        }
    }

    // MARK: Rooms

    /// Runs what may turn on the encryption of a room. Nothing is sent there meanwhile.
    func encrypting(_ room: RoomID, _ work: @Sendable () async throws -> Void) async throws {
        guard roomsBeingEncrypted.insert(room).inserted else { throw ChatError.busy }
        defer { roomsBeingEncrypted.remove(room) }
        try await work()
    }

    /// What an event says, or why it cannot be read.
    typealias Reading = Result<GroupMessageReader.Payload, SealReason>

    /// Reads events of rooms, in one change. Keys that turn out to be unreadable end encryption, not what reads.
    /// - Throws: If it could not be noted what was read, as on a full disk: then nothing was.
    func read(_ events: [SealedEvent]) async throws -> [Reading] {
        if let machine {
            do {
                let readings = try await machine.read(events)
                await requestKeys(of: zip(events, readings).filter { $0.1 == .failure(.noKey) }.map(\.0))
                if readings.contains(.failure(.unknownSender)) { await requests?.wake() }
                return readings.map { $0.mapError { SealReason($0) } }
            } catch {
                try await end(for: error)
            }
        }
        let reason = reasonWithoutKeys
        return events.map { _ in .failure(reason) }
    }

    private var reasonWithoutKeys: SealReason {
        if RatchetLibrary.version == nil { return .notBuilt }
        if case .off(.locked) = condition { return .keysLocked }
        return .keysUnavailable
    }

    /// When the keys of the device were made: what is older was encrypted for others.
    func beginning() -> Date? { begun }

    /// Returns those of these sessions whose key is there.
    /// - Parameter owners: Only those that devices of these users have made; `nil` for all.
    func known(_ sessions: Set<SessionID>, of owners: Set<ExactText>? = nil) async throws -> Set<SessionID> {
        try await machine?.known(sessions, of: owners) ?? []
    }

    /// These have come in another way than by a sync.
    func noteArrived(_ sessions: Set<SessionID>) { arrivedSessions.formUnion(sessions) }

    /// What came with these sessions has been opened.
    func used(_ sessions: Set<SessionID>) { arrivedSessions.subtract(sessions) }

    /// Ends encryption if the keys turn out to be unreadable.
    /// - Throws: Any other error, such as that of a full disk, which heals as damage does not.
    func end(for error: any Error) async throws {
        switch error {
        case is CancellationError, is DeliveryError: throw error
        case is ChatError:
            guard let problem = await store?.check() else { throw error }
            await end(.damaged(reason: problem))
        default: await end(Self.problem(error))
        }
    }

    private func end(_ problem: EncryptionCondition.Problem) async {
        await gate.runEvenIfCanceled { await shut() }
        set(.off(problem))
    }

    /// There is a session again.
    func resume() async {
        noteChange()
        await requests?.wake()
        await backup?.wake()
    }

    // MARK: Backup

    /// Writes sessions to a backup from now on, until the keys are closed.
    func attach(_ backup: KeyBackup) async {
        await self.backup?.stop()
        self.backup = backup
        Task { for await _ in backup.standings() { noteChange() } }
        await backup.wake()
    }

    /// Asks the backup for the keys of events that came without, if they still have none after a while.
    private func requestKeys(of events: [SealedEvent]) async {
        guard let backup, !events.isEmpty else { return }
        let sessions = events.compactMap { event in
            MatrixEvent.identifier(event.content["session_id"]).map {
                SessionID(room: event.room, session: ExactText($0))
            }
        }
        await backup.request(Set(sessions))
    }

    /// Something was written, perhaps with a session that was begun for it.
    func wakeBackup() async { await backup?.wake() }
}
