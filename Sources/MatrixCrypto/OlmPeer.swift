import ChatCore
import Foundation
import Ratchets

/// The Olm sessions with one device of a user, and the record of its messages.
///
/// It lives for one change only: sessions advance with each message, so after a failed change they are reloaded from
/// the storage.
struct OlmPeer {
    /// Any user can list a device with the identity key of another's, whose sessions must be out of their reach: so the
    /// key alone identifies nothing.
    struct ID: Hashable, Sendable {
        let user: ExactText
        let identityKey: Curve25519Key
    }

    enum Failure: Error, Hashable, Sendable {
        /// The message was decrypted before: the server may deliver it again.
        case repeated
        /// No session decrypts the message, and it does not establish one.
        case unreadable
    }

    /// More sessions than two honest devices need; the least recently used one is removed.
    static let maxSessions = 10
    /// More messages than one sync response contains.
    static let maxDigests = 256
    static let repairInterval: TimeInterval = 3600

    private struct Entry {
        let session: OlmSession
        let id: ExactText
        /// Greater for sessions used more recently.
        var use: UInt64
        var isChanged: Bool
        /// Whether it may lag behind what was sent: its next message could repeat the key of one that was.
        var onlyReceives: Bool
    }

    private struct StoredSession: Codable {
        let use: UInt64
        let pickle: Data
        var onlyReceives: Bool?
    }

    private struct Memory: Codable, Equatable {
        var digests: [Data] = []
        var repairedAt: Date?
        /// Whether the device was notified that there is no session with it.
        var isReported: Bool?
    }

    let id: ID
    private var entries: [Entry] = []
    /// Sessions that cannot be decoded. They count as missing, and are removed once there is another session.
    private var damaged: Set<CryptoRecord.Key> = []
    private var removed: Set<CryptoRecord.Key> = []
    private var memory = Memory()
    private var storedMemory = Memory()
    /// The record of the messages, if it cannot be decoded. Then the sessions only receive, so that the next message to
    /// the device begins another: which of its messages were read is unknown.
    private var damagedMemory: CryptoRecord?

    /// Loads the stored state of a device. An error of the storage must not make the device count as having no
    /// sessions; a damaged session is one that the device has to replace.
    init(_ id: ID, in storage: any CryptoStorage, key: KeyMaterial) async throws {
        let sessions = try await storage.cryptoRecords(.olmSession, owner: Self.owner(id))
        let memory = try await storage.cryptoRecord(Self.memoryKey(id))
        try self.init(id, sessions: sessions, memory: memory, key: key)
    }

    private init(_ id: ID, sessions: [CryptoRecord], memory record: CryptoRecord?, key: KeyMaterial) throws {
        self.id = id
        for session in sessions {
            do {
                entries.append(try Self.entry(session, key: key))
            } catch is DecodingError, RatchetError.pickle, RatchetError.argument {
                // The library's word for a pickle that is no text is an argument.
                damaged.insert(session.key)
            }
        }
        if let record {
            do {
                memory = try JSONDecoder().decode(Memory.self, from: record.value)
            } catch {
                damagedMemory = record
                for index in entries.indices {
                    (entries[index].onlyReceives, entries[index].isChanged) = (true, true)
                }
            }
        }
        storedMemory = memory
    }

    private static func entry(_ record: CryptoRecord, key: KeyMaterial) throws -> Entry {
        let stored = try JSONDecoder().decode(StoredSession.self, from: record.value)
        return Entry(
            session: try OlmSession(pickle: Array(stored.pickle), key: key), id: record.key.id, use: stored.use,
            isChanged: false, onlyReceives: stored.onlyReceives ?? false)
    }

    /// Loads the stored state of several devices.
    static func stored(
        _ ids: Set<ID>, in storage: any CryptoStorage, key: KeyMaterial
    ) async throws -> [ID: OlmPeer] {
        let owners = Set(ids.map(owner))
        let sessions = try await storage.cryptoRecords(.olmSession, owners: owners)
        let memories = try await storage.cryptoRecords(.readMessage, owners: owners)
        return try ids.reduce(into: [:]) { peers, id in
            let owner = owner(id)
            peers[id] = try OlmPeer(
                id, sessions: sessions[owner] ?? [], memory: memories[owner]?.first { $0.key == memoryKey(id) },
                key: key)
        }
    }

    /// The changes to store together with the account.
    func change(key: KeyMaterial) throws -> CryptoChange {
        var change = CryptoChange(removed: removed)
        for entry in entries where entry.isChanged {
            let stored = StoredSession(
                use: entry.use, pickle: Data(try entry.session.pickle(key: key)),
                onlyReceives: entry.onlyReceives ? true : nil)
            change.put.append(
                CryptoRecord(
                    CryptoRecord.Key(.olmSession, owner: Self.owner(id), id: entry.id),
                    value: try JSONEncoder().encode(stored)))
        }
        if let damagedMemory { change.put.append(try DamagedRecords.copy(damagedMemory)) }
        if memory != storedMemory || damagedMemory != nil {
            change.put.append(CryptoRecord(Self.memoryKey(id), value: try JSONEncoder().encode(memory)))
        }
        return change
    }

    /// Decrypts a message with its session. An error changes nothing.
    /// - Returns: `nil` if the message may establish another session.
    mutating func decrypt(_ message: OlmMessage) throws -> [UInt8]? {
        let digest = try Self.digest(of: message)
        guard !memory.digests.contains(digest) else { throw Failure.repeated }
        for index in entries.indices.sorted(by: { entries[$0].use > entries[$1].use }) {
            if message.kind == .beginning {
                // An unreadable message belongs to no session.
                guard (try? entries[index].session.begins(with: message.bytes)) == true else { continue }
            }
            do throws(RatchetError) {
                let plaintext = try entries[index].session.decrypt(message)
                use(index)
                remember(digest)
                return plaintext
            } catch {
                // A pre-key message belongs to exactly one session, which is this one.
                if message.kind == .beginning { throw Failure.unreadable }
            }
        }
        guard message.kind == .beginning else { throw Failure.unreadable }
        return nil
    }

    /// Establishes the session that a pre-key message begins, which uses up a one-time key of the account, if its
    /// payload is accepted. Otherwise, and after an error, nothing changes: the session may be that of another user's
    /// device, whose message the server delivered as this user's.
    /// - Parameters:
    ///   - trial: A copy of the account, for decrypting the payload first. After a rejection it differs from the account.
    ///   - check: Checks the plaintext.
    mutating func begin(
        with message: OlmMessage, of account: OlmAccount, after trial: OlmAccount,
        check: ([UInt8]) -> Result<OlmPayload, OlmPayload.Failure>
    ) throws -> Result<OlmPayload, OlmPayload.Failure> {
        let digest = try Self.digest(of: message)
        do throws(RatchetError) {
            let payload = check(try trial.session(from: message.bytes, of: id.identityKey).plaintext)
            guard case .success = payload else { return payload }
            try add(account.session(from: message.bytes, of: id.identityKey).session)
            remember(digest)
            return payload
        } catch {
            throw Failure.unreadable
        }
    }

    /// Whether there is a session to encrypt with.
    var hasSession: Bool { entries.contains { !$0.onlyReceives } }

    /// Encrypts with the most recently used session, which has to be stored before the message is sent.
    mutating func encrypt(_ plaintext: [UInt8]) throws -> OlmMessage {
        let sending = entries.indices.filter { !entries[$0].onlyReceives }
        guard let index = sending.max(by: { entries[$0].use < entries[$1].use }) else {
            throw RatchetError.argument
        }
        entries[index].isChanged = true
        return try entries[index].session.encrypt(plaintext)
    }

    /// Whether the device still has to be notified that there is no session with it; `true` only once.
    mutating func mayReport() -> Bool {
        guard memory.isReported != true else { return false }
        memory.isReported = true
        return true
    }

    /// Adds a session, which becomes the one to encrypt with.
    mutating func add(_ session: OlmSession) throws(RatchetError) {
        let sessionID = ExactText(try session.id)
        entries.append(Entry(session: session, id: sessionID, use: 0, isChanged: true, onlyReceives: false))
        use(entries.count - 1)
        memory.isReported = nil
        removed.formUnion(damaged.filter { $0.id != sessionID })
        damaged = []
        while entries.count > Self.maxSessions,
            let oldest = entries.indices.min(by: { entries[$0].use < entries[$1].use })
        {
            removed.insert(CryptoRecord.Key(.olmSession, owner: Self.owner(id), id: entries[oldest].id))
            entries.remove(at: oldest)
        }
    }

    private mutating func use(_ index: Int) {
        entries[index].use = (entries.map(\.use).max() ?? 0) + 1
        entries[index].isChanged = true
    }

    private static func digest(of message: OlmMessage) throws -> Data {
        Data(try SHA256.digest(of: [UInt8(truncatingIfNeeded: message.kind.rawValue)] + message.bytes).prefix(16))
    }

    private mutating func remember(_ digest: Data) {
        memory.digests.append(digest)
        if memory.digests.count > Self.maxDigests { memory.digests.removeFirst() }
    }

    /// Whether to establish a new session because the device's messages cannot be decrypted: at most once an hour,
    /// whatever it sends.
    mutating func mayRepair(at now: Date) -> Bool {
        if let last = memory.repairedAt, now.timeIntervalSince(last) < Self.repairInterval, last <= now { return false }
        memory.repairedAt = now
        return true
    }
}

extension DeviceKeys {
    var peer: OlmPeer.ID { OlmPeer.ID(user: user, identityKey: identityKey) }
}

// MARK: Records

extension OlmPeer {
    /// The first byte of an owner. In earlier versions that was a character of base64, all of which come later.
    private static let firstByte: UInt8 = 1
    /// It ends the user ID, in which it cannot be mistaken: the key behind it has a fixed length.
    private static let separator: UInt8 = 0

    /// The owner of the records of a device.
    static func owner(_ id: ID) -> ExactText {
        var bytes = [firstByte]
        bytes += id.user.bytes
        bytes.append(separator)
        bytes += Array("\(id.identityKey)".utf8)
        return ExactText(bytes: bytes)
    }

    /// The key behind those of all devices, which the records of earlier versions follow.
    static func end(of kind: CryptoRecord.Kind) -> CryptoRecord.Key {
        CryptoRecord.Key(kind, owner: ExactText(bytes: [firstByte + 1]))
    }

    static func memoryKey(_ id: ID) -> CryptoRecord.Key { CryptoRecord.Key(.readMessage, owner: owner(id)) }

    /// The keys of all records of devices.
    static func recordKeys(
        of ids: Set<ID>, in storage: any CryptoStorage
    ) async throws -> Set<CryptoRecord.Key> {
        guard !ids.isEmpty else { return [] }
        var keys = Set(ids.map(memoryKey))
        for records in try await storage.cryptoRecords(.olmSession, owners: Set(ids.map(owner))).values {
            keys.formUnion(records.map(\.key))
        }
        return keys
    }

    /// The value of a session's record that encrypts nothing from now on; `nil` if it does so already or is damaged,
    /// as nothing is encrypted with it then.
    static func receivingOnly(_ value: Data) throws -> Data? {
        guard var stored = try? JSONDecoder().decode(StoredSession.self, from: value), stored.onlyReceives != true
        else { return nil }
        stored.onlyReceives = true
        return try JSONEncoder().encode(stored)
    }

    /// Makes all sessions encrypt nothing from now on, as after the recovery of a storage. What is stored before an
    /// error stays.
    static func onlyReceive(in storage: any CryptoStorage) async throws {
        try await storage.forEachPart(of: .olmSession) { part in
            let changed = try part.compactMap { record in
                try receivingOnly(record.value).map { CryptoRecord(record.key, value: $0) }
            }
            if !changed.isEmpty { try await storage.commit(CryptoChange(put: changed)) }
        }
    }
}
