public import ChatCore
public import Foundation
import JSONReading
public import Ratchets

/// End-to-end encryption for one device: applies sync and server responses, and determines the next request.
///
/// It does no networking and has no database or clock: storage, responses and the time are passed in. Each call is one
/// change, which is stored when the call returns. A call that throws changes nothing: the state is then reloaded from
/// the storage, as ratchets cannot be rolled back.
public actor CryptoMachine {
    /// The state held in memory. It is small: sessions are loaded when a message needs them.
    struct State {
        var upkeep: KeyUpkeep
        var tracker: DeviceTracker
        var outgoing: OutgoingQueue
        /// Whether the server has other keys for this device, which makes the stored ones useless.
        var isReplaced: Bool
        var repairDelays: [UInt64: RetryDelay] = [:]
        /// Retry delays of queued signatures that the server has not stored.
        var signatureDelays: [UInt64: RetryDelay] = [:]
        /// Devices with which a session is needed to share a room key.
        var requested: Set<DeviceID> = []
        /// Retry delays of devices whose last claim yielded no session.
        var claimDelays: [DeviceID: RetryDelay] = [:]
        /// The maximum size of a claim with the device, for those whose claims were rejected.
        var claimLimits: [DeviceID: Int] = [:]
        /// The delay of all claims after an unusable response.
        var claimPause = RetryDelay()
        /// The maximum size of a batch of room keys with the device, for those whose batches were rejected.
        var shareLimits: [DeviceID: Int] = [:]
        /// The audiences of rooms to which messages were sent.
        var audiences: [ExactText: RoomAudience] = [:]
        /// The warnings about the readers of rooms, and the revisions at which they were found.
        var trusts: [ExactText: (revisions: OutboundRoom.Stamp, trust: RoomTrust)] = [:]
        var outbound: [ExactText: OutboundRoom] = [:]
        /// Rooms without a stored session, unless ``outbound`` has one that began later.
        var roomsWithoutOutbound: Set<ExactText> = []
        /// Encryption settings as last read, with the storage's change count before that: others write them, too.
        var settings: [ExactText: (changes: UInt64, record: CryptoRecord, room: EncryptedRoom)] = [:]
        /// The local user's identity, if known.
        var own: Identity?
        /// The self-signing key that has confirmed this device.
        var confirmedBy: Ed25519Key?
        /// Users whose devices or identities have changed since the last ``takeChangedUsers()``.
        var changedUsers: Set<ExactText> = []
        var verifications = Verifications()
        var secretRequests = SecretRequests()
        var confirmations: PendingConfirmations
        /// The backup in use, and which sessions are marked for it.
        var backup: BackupRecord
        /// Whether the keys were uploaded again because the server did not list this device, and it has not since.
        var wasUploadedAgain = false
        /// Whether the last request got no answer.
        var isUnanswered = false
        var isUploading = false
        var isClaiming = false
        var isSending = false
    }

    public nonisolated let user: ExactText
    public nonisolated let device: ExactText
    let storage: any CryptoStorage
    let key: KeyMaterial
    private let gate = SerialGate()
    private var state: State?
    /// What only memory has of the state, as before a change that failed or was canceled.
    private var retained:
        (verifications: Verifications, secretRequests: SecretRequests, users: Set<ExactText>, wasUploadedAgain: Bool)?
    /// Counts how often the state was loaded: responses to requests from an earlier state are ignored.
    private(set) var epoch = 0

    /// Its record exists if the server has other keys for this device.
    static let replacedKey = CryptoRecord.Key(.identity, id: "replaced")
    static let positionKey = CryptoRecord.Key(.position, id: "toDevice")

    public enum Failure: Error, Hashable, Sendable {
        /// The storage has no device keys.
        case noDevice
        /// The keys in the storage belong to another device.
        case otherDevice
    }

    /// Opens the stored state.
    /// - Parameter key: Decrypts the private parts of the state.
    /// - Throws: ``Failure``, or the error that makes the stored state unreadable: ``RatchetError/pickle`` for a wrong
    ///   key.
    public init(user: ExactText, device: ExactText, storage: any CryptoStorage, key: KeyMaterial) async throws {
        self.user = user
        self.device = device
        self.storage = storage
        self.key = key
        try await change { _, _ in }
        // The key has opened the state, so the storage is this device's.
        try await EarlierOlmRecords.move(in: storage)
    }

    private static let deviceKey = CryptoRecord.Key(.position, id: "device")
    private static let begunKey = CryptoRecord.Key(.position, id: "begun")

    /// Creates the keys of a device.
    ///
    /// Of another device's state, room sessions and known devices stay, as they remain useful, and so does the note
    /// that the recovery key is not saved. What arrived while its keys were unavailable is read with them first. Its
    /// keys, its Olm sessions and its pending requests are removed; that it was one of the user's is noted
    /// (``FormerDevices``).
    public static func begin(
        user: ExactText, device: ExactText, in storage: any CryptoStorage, key: KeyMaterial, at now: Date? = nil
    ) async throws {
        try await FormerDevices.receiveUnopened(of: user, in: storage, key: key, at: now)
        var change = CryptoChange()
        for kind in [
            CryptoRecord.Kind.account, .olmSession, .outboundGroupSession, .outgoingRequest, .readMessage, .position,
            .roomMember, .roomAudience, .unopenedMessage, .unlistedPeer,
        ] {
            try await storage.forEachPart(of: kind) { part in
                change.removed.formUnion(part.map(\.key).filter { $0 != unsavedKey })
            }
        }
        change.removed.insert(replacedKey)
        change.merge(try await FormerDevices.change(of: user, in: storage, key: key))
        var tracker = DeviceTracker(records: try await storage.cryptoRecords(.trackedUser, owner: nil))
        tracker.track([user])
        tracker.invalidateAll()
        change.merge(tracker.unsavedChange())
        if let keys = try KeyUpkeep(user: user, device: device).unsavedChange(key: key) { change.merge(keys.change) }
        change.merge(CryptoChange(put: [CryptoRecord(deviceKey, value: Data(device.bytes))]))
        if let now {
            let milliseconds = String(Int64(now.timeIntervalSince1970 * 1000))
            change.merge(CryptoChange(put: [CryptoRecord(begunKey, value: Data(milliseconds.utf8))]))
        }
        try await storage.commit(change)
    }

    /// Creates the keys of a device and opens them.
    public static func begun(
        user: ExactText, device: ExactText, in storage: any CryptoStorage, key: KeyMaterial, at now: Date? = nil
    ) async throws -> CryptoMachine {
        try await begin(user: user, device: device, in: storage, key: key, at: now)
        return try await CryptoMachine(user: user, device: device, storage: storage, key: key)
    }

    /// The records that must survive when keys are set aside because nothing decrypts them: which rooms are encrypted, and
    /// which identities were seen and verified. They are not encrypted themselves.
    public static func lastingRecords(in storage: any CryptoStorage) async throws -> [CryptoRecord] {
        var records: [CryptoRecord] = []
        for kind in [CryptoRecord.Kind.encryptedRoom, .identity] {
            records += try await storage.cryptoRecords(kind, owner: nil).filter { $0.key != replacedKey }
        }
        return records
    }

    /// The device whose keys are stored; `nil` if there are none.
    public static func device(in storage: any CryptoStorage) async throws -> ExactText? {
        try await storage.cryptoRecord(deviceKey).map { ExactText(bytes: $0.value) }
    }

    /// How many sessions are tried when the device's own keys cannot be decrypted.
    private static let triedSessions = 20

    /// Whether a key decrypts what is stored, or there is nothing to decrypt. Single records may be damaged.
    public static func isReadable(_ storage: any CryptoStorage, with key: KeyMaterial) async throws -> Bool {
        let account = try await storage.cryptoRecords(.account, owner: nil)
        var isDamaged = false
        do {
            if try KeyUpkeep(user: "", device: "", records: account, key: key) != nil { return true }
        } catch {
            // Any other failure says nothing about the key. Whoever opens it reports the damage.
            isDamaged = error != .rejected(.pickle)
        }
        let sessions = try await storage.cryptoRecords(.inboundGroupSession, after: nil, limit: triedSessions)
        if sessions.contains(where: { (try? InboundSession(record: $0, key: key)) != nil }) { return true }
        return (account.isEmpty || isDamaged) && sessions.isEmpty
    }

    /// When the keys were created; `nil` if this was not recorded.
    public func begun() async throws -> Date? {
        guard let record = try await storage.cryptoRecord(Self.begunKey),
            let milliseconds = Int64(String(decoding: record.value, as: UTF8.self))
        else { return nil }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Invalidates the state of a recovered storage, or of an older copy: it may lag behind what the server has
    /// reported and what was sent.
    public func outdate() async throws {
        try await change { state, change in try await self.outdate(&state, &change) }
    }

    func outdate(_ state: inout State, _ change: inout CryptoChange) async throws {
        state.tracker.invalidateAll()
        try Self.forgetAudiences(&state, &change)
        state.outbound = [:]
        for record in try await storage.cryptoRecords(.outboundGroupSession, owner: nil) {
            change.merge(CryptoChange(removed: [record.key]))
        }
        try await OlmPeer.onlyReceive(in: storage)
        // The marks may have been lost.
        state.backup.markAllAgain()
        change.merge(CryptoChange(put: [try state.backup.record()]))
    }

    /// The position from which the next sliding sync requests to-device messages.
    public func position() async throws -> String? {
        try await storage.cryptoRecord(Self.positionKey).map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Whether the server has other keys for this device; if so, nothing is uploaded or sent.
    public func isReplaced() async throws -> Bool { try await storage.cryptoRecord(Self.replacedKey) != nil }

    // MARK: Changes

    /// Runs one change of state and storage, after all earlier calls.
    func change<Result>(
        _ body: (inout State, inout CryptoChange) async throws -> Result
    ) async throws -> Result {
        try await gate.run {
            var state: State
            if let known = self.state { state = known } else { state = try await read() }
            // Taken out while `body` runs: after an error, the next call reloads the state from the storage.
            self.state = nil
            retained = (state.verifications, state.secretRequests, state.changedUsers, state.wasUploadedAgain)
            var change = CryptoChange()
            let result = try await body(&state, &change)
            let tracked = state.tracker.unsavedChange()
            change.merge(tracked)
            change.merge(try state.outgoing.unsavedChange())
            let keys = try state.upkeep.unsavedChange(key: key)
            if let keys { change.merge(keys.change) }
            try change.markForBackup()
            if !change.isEmpty { try await storage.commit(change) }
            state.tracker.saved(tracked)
            state.outgoing.saved()
            if let keys { state.upkeep.saved(keys.revision) }
            self.state = state
            retained = nil
            return result
        }
    }

    private func read() async throws -> State {
        epoch += 1
        guard let owner = try await storage.cryptoRecord(Self.deviceKey) else { throw Failure.noDevice }
        guard ExactText(bytes: owner.value) == device else { throw Failure.otherDevice }
        let account = try await storage.cryptoRecords(.account, owner: nil)
        guard let upkeep = try KeyUpkeep(user: user, device: device, records: account, key: key) else {
            throw Failure.noDevice
        }
        let mended = try await DamagedRecords.change(of: user, in: storage, key: key)
        if !mended.isEmpty { try await storage.commit(mended) }
        let tracked = try await storage.cryptoRecords(.trackedUser, owner: nil)
        let outgoing = try await storage.cryptoRecords(.outgoingRequest, owner: nil)
        var state = State(
            upkeep: upkeep, tracker: DeviceTracker(records: tracked), outgoing: try OutgoingQueue(records: outgoing),
            isReplaced: try await storage.cryptoRecord(Self.replacedKey) != nil,
            confirmations: try await PendingConfirmations(in: storage),
            backup: try await BackupRecord.stored(in: storage))
        state.own = try await Identity.stored(user, in: storage)
        state.confirmedBy = try await devices(of: user, &state.tracker).first { $0.device == device }?.confirmedBy
        for record in try await storage.cryptoRecords(.roomAudience, owner: nil) {
            state.audiences[record.key.owner] = try RoomAudience(record: record)
        }
        if let retained {
            (state.verifications, state.secretRequests) = (retained.verifications, retained.secretRequests)
            (state.changedUsers, state.wasUploadedAgain) = (retained.users, retained.wasUploadedAgain)
        }
        return state
    }

    /// The stored devices of a user. With a damaged record, the user's list becomes outdated.
    func devices(of user: ExactText, _ tracker: inout DeviceTracker) async throws -> [DeviceKeys] {
        let stored = StoredDevices(try await storage.cryptoRecords(.device, owner: user))
        if !stored.damaged.isEmpty { tracker.noteDamagedDevice(of: user) }
        return stored.devices
    }

    func storedDevices(of users: some Sequence<ExactText>) async throws -> [ExactText: StoredDevices] {
        try await storage.cryptoRecords(.device, owners: Set(users)).mapValues { StoredDevices($0) }
    }
}

extension CryptoChange {
    /// Merges another change, which wins where both concern the same record.
    mutating func merge(_ other: CryptoChange) {
        let keys = Set(other.put.map(\.key))
        if !keys.isEmpty {
            put.removeAll { keys.contains($0.key) }
            removed.subtract(keys)
        }
        put += other.put
        if !other.removed.isEmpty { put.removeAll { other.removed.contains($0.key) } }
        removed.formUnion(other.removed)
        read.merge(other.read) { first, _ in first }
    }
}
