public import ChatCore
public import Foundation
import JSONReading
public import Ratchets

/// End-to-end encryption of one device: takes what a sync says and what the server answers, and says what to ask next.
///
/// It has no network, no database and no clock: storage, answers and the time are handed to it. Each call is one change
/// that is on the disk when the call returns. A call that throws has changed nothing: what is in memory is then read
/// anew, as ratchets cannot go back.
public actor CryptoMachine {
    /// What is held in memory, which is small: sessions are read when a message wants them.
    struct State {
        var upkeep: KeyUpkeep
        var tracker: DeviceTracker
        var outgoing: OutgoingQueue
        /// Whether the server has other keys for this device, so that these are void.
        var isReplaced: Bool
        var repairDelays: [UInt64: RetryDelay] = [:]
        /// Devices that a session is wanted with, to share the key of a room.
        var requested: Set<DeviceID> = []
        /// When those are asked again that gave no session.
        var claimDelays: [DeviceID: RetryDelay] = [:]
        /// Of rooms that something was written into.
        var audiences: [ExactText: RoomAudience] = [:]
        var outbound: [ExactText: OutboundRoom] = [:]
        /// What was read of how rooms are encrypted, and the changes of the storage before that: others write it, too.
        var settings: [ExactText: (changes: UInt64, record: CryptoRecord, room: EncryptedRoom)] = [:]
        /// The identity of the user, if it is known.
        var own: Identity?
        /// The key of that identity that has confirmed this device.
        var confirmedBy: Ed25519Key?
        /// Users whose devices or identities have changed since somebody asked.
        var changedUsers: Set<ExactText> = []
        var verifications = Verifications()
        var secretRequests = SecretRequests()
        /// Which sessions are marked as waiting for the backup.
        var backup: BackupRecord
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
    /// Counts how often the state was read.
    private(set) var epoch = 0

    /// Whether the other keys of the device at the server are known.
    static let replacedKey = CryptoRecord.Key(.identity, id: "replaced")
    static let positionKey = CryptoRecord.Key(.position, id: "toDevice")

    public enum Failure: Error, Hashable, Sendable {
        /// There are no keys of a device in the storage.
        case noDevice
        /// The keys in the storage are another device's.
        case otherDevice
    }

    /// Opens what is stored.
    /// - Parameter key: What its private parts are encrypted with.
    /// - Throws: ``Failure``, or whatever makes the stored state unreadable, ``RatchetError/pickle`` with another key.
    public init(user: ExactText, device: ExactText, storage: any CryptoStorage, key: KeyMaterial) async throws {
        self.user = user
        self.device = device
        self.storage = storage
        self.key = key
        try await change { _, _ in }
    }

    private static let deviceKey = CryptoRecord.Key(.position, id: "device")
    private static let begunKey = CryptoRecord.Key(.position, id: "begun")

    /// Makes the keys of a device.
    ///
    /// What is there of another device stays where it is of use to this one: sessions that rooms are read with, and whose
    /// devices are known. What was that device's alone goes: its keys, its sessions with others, what it had to send.
    public static func begin(
        user: ExactText, device: ExactText, in storage: any CryptoStorage, key: KeyMaterial, at now: Date? = nil
    ) async throws {
        var change = CryptoChange()
        for kind in [
            CryptoRecord.Kind.account, .olmSession, .outboundGroupSession, .outgoingRequest, .readMessage, .position,
            .roomMember, .roomAudience, .unopenedMessage,
        ] {
            for record in try await storage.cryptoRecords(kind, owner: nil) { change.removed.insert(record.key) }
        }
        change.removed.insert(replacedKey)
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

    /// Makes the keys of a device, and opens them.
    public static func begun(
        user: ExactText, device: ExactText, in storage: any CryptoStorage, key: KeyMaterial, at now: Date? = nil
    ) async throws -> CryptoMachine {
        try await begin(user: user, device: device, in: storage, key: key, at: now)
        return try await CryptoMachine(user: user, device: device, storage: storage, key: key)
    }

    /// Whose keys are stored; `nil` if there are none.
    public static func device(in storage: any CryptoStorage) async throws -> ExactText? {
        try await storage.cryptoRecord(deviceKey).map { ExactText(bytes: $0.value) }
    }

    /// When the keys were made; `nil` if it was not noted.
    public func begun() async throws -> Date? {
        guard let record = try await storage.cryptoRecord(Self.begunKey),
            let milliseconds = Int64(String(decoding: record.value, as: UTF8.self))
        else { return nil }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// After the storage was rebuilt: it may be older than what the server says, and what others were sent.
    public func outdate() async throws {
        try await change { state, change in
            state.tracker.invalidateAll()
            try Self.forgetAudiences(&state, &change)
            state.outbound = [:]
            for record in try await storage.cryptoRecords(.outboundGroupSession, owner: nil) {
                change.merge(CryptoChange(removed: [record.key]))
            }
            // Marks may be lost.
            state.backup.markAllAgain()
            change.merge(CryptoChange(put: [try state.backup.record()]))
        }
    }

    /// Where the next sliding sync's messages to this device begin.
    public func position() async throws -> String? {
        try await storage.cryptoRecord(Self.positionKey).map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Whether the server has other keys for this device: nothing is uploaded or sent then.
    public func isReplaced() async throws -> Bool { try await change { state, _ in state.isReplaced } }

    // MARK: Changes

    /// Runs what changes state and storage together, after all that was called before.
    func change<Result>(
        _ body: (inout State, inout CryptoChange) async throws -> Result
    ) async throws -> Result {
        try await gate.run {
            var state: State
            if let known = self.state { state = known } else { state = try await read() }
            // Taken out, so that whatever throws leaves none behind: the next call reads it from the disk.
            self.state = nil
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
        let tracked = try await storage.cryptoRecords(.trackedUser, owner: nil)
        let outgoing = try await storage.cryptoRecords(.outgoingRequest, owner: nil)
        var state = State(
            upkeep: upkeep, tracker: DeviceTracker(records: tracked), outgoing: try OutgoingQueue(records: outgoing),
            isReplaced: try await storage.cryptoRecord(Self.replacedKey) != nil,
            backup: try await BackupRecord.stored(in: storage))
        state.own = try await Identity.stored(user, in: storage)
        state.confirmedBy = try await devices(of: user).first { $0.device == device }?.confirmedBy
        for record in try await storage.cryptoRecords(.roomAudience, owner: nil) {
            state.audiences[record.key.owner] = try RoomAudience(record: record)
        }
        return state
    }

    func devices(of user: ExactText) async throws -> [DeviceKeys] {
        try await storage.cryptoRecords(.device, owner: user).map { try DeviceKeys(record: $0) }
    }

    func devices(of users: some Sequence<ExactText>) async throws -> [ExactText: [DeviceKeys]] {
        try await storage.cryptoRecords(.device, owners: Set(users)).mapValues { records in
            try records.map { try DeviceKeys(record: $0) }
        }
    }
}

extension CryptoChange {
    /// Adds another change; what it puts replaces what is put here or removed.
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
