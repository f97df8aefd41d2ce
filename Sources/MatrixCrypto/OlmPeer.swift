import ChatCore
import Foundation
import Ratchets

/// The Olm sessions with one device, by its identity key, and the record of its messages.
///
/// It lives for one change only: sessions advance with each message, so after a failed change they are reloaded from
/// the storage.
struct OlmPeer {
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
        let onlyReceives: Bool
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

    private let identityKey: Curve25519Key
    private var entries: [Entry]
    private var removed: Set<CryptoRecord.Key> = []
    private var memory = Memory()
    private var storedMemory = Memory()

    private static func owner(_ key: Curve25519Key) -> ExactText { ExactText("\(key)") }
    private static func memoryKey(_ key: Curve25519Key) -> CryptoRecord.Key {
        CryptoRecord.Key(.readMessage, owner: owner(key))
    }

    /// Loads the stored state of a device. Unreadable records are an error: the device must not count as having no
    /// sessions.
    init(_ identityKey: Curve25519Key, in storage: any CryptoStorage, key: KeyMaterial) async throws {
        let sessions = try await storage.cryptoRecords(.olmSession, owner: Self.owner(identityKey))
        let memory = try await storage.cryptoRecord(Self.memoryKey(identityKey))
        try self.init(identityKey, sessions: sessions, memory: memory, key: key)
    }

    private init(
        _ identityKey: Curve25519Key, sessions: [CryptoRecord], memory record: CryptoRecord?, key: KeyMaterial
    ) throws {
        self.identityKey = identityKey
        entries = try sessions.map { record in
            let stored = try JSONDecoder().decode(StoredSession.self, from: record.value)
            return Entry(
                session: try OlmSession(pickle: Array(stored.pickle), key: key), id: record.key.id, use: stored.use,
                isChanged: false, onlyReceives: stored.onlyReceives ?? false)
        }
        if let record { memory = try JSONDecoder().decode(Memory.self, from: record.value) }
        storedMemory = memory
    }

    /// Loads the stored state of several devices.
    static func stored(
        _ identityKeys: Set<Curve25519Key>, in storage: any CryptoStorage, key: KeyMaterial
    ) async throws -> [Curve25519Key: OlmPeer] {
        let owners = Set(identityKeys.map(owner))
        let sessions = try await storage.cryptoRecords(.olmSession, owners: owners)
        let memories = try await storage.cryptoRecords(.readMessage, owners: owners)
        return try identityKeys.reduce(into: [:]) { peers, identityKey in
            let owner = owner(identityKey)
            peers[identityKey] = try OlmPeer(
                identityKey, sessions: sessions[owner] ?? [],
                memory: memories[owner]?.first { $0.key == memoryKey(identityKey) }, key: key)
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
                    CryptoRecord.Key(.olmSession, owner: Self.owner(identityKey), id: entry.id),
                    value: try JSONEncoder().encode(stored)))
        }
        if memory != storedMemory {
            change.put.append(CryptoRecord(Self.memoryKey(identityKey), value: try JSONEncoder().encode(memory)))
        }
        return change
    }

    /// Decrypts a message with its session, or with the session that it establishes. An error changes nothing.
    /// - Returns: The plaintext, and whether a one-time key of the account was used up.
    mutating func decrypt(
        _ message: OlmMessage, with account: OlmAccount
    ) throws -> (plaintext: [UInt8], changesAccount: Bool) {
        let digest = Data(
            try SHA256.digest(of: [UInt8(truncatingIfNeeded: message.kind.rawValue)] + message.bytes).prefix(16))
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
                return (plaintext, false)
            } catch {
                // A pre-key message belongs to exactly one session, which is this one.
                if message.kind == .beginning { throw Failure.unreadable }
            }
        }
        guard message.kind == .beginning else { throw Failure.unreadable }
        do throws(RatchetError) {
            let (session, plaintext) = try account.session(from: message.bytes, of: identityKey)
            try add(session)
            remember(digest)
            return (plaintext, true)
        } catch {
            throw Failure.unreadable
        }
    }

    /// Whether there is a session to encrypt with.
    var hasSession: Bool { entries.contains { !$0.onlyReceives } }

    /// The records of sessions that encrypt nothing from now on, as after the recovery of a storage.
    static func receivingOnly(in storage: any CryptoStorage) async throws -> [CryptoRecord] {
        try await storage.cryptoRecords(.olmSession, owner: nil).compactMap { record in
            // An unreadable one stays as it is: nothing is encrypted with it either.
            guard var stored = try? JSONDecoder().decode(StoredSession.self, from: record.value) else { return nil }
            stored.onlyReceives = true
            return CryptoRecord(record.key, value: try JSONEncoder().encode(stored))
        }
    }

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
        let id = ExactText(try session.id)
        entries.append(Entry(session: session, id: id, use: 0, isChanged: true, onlyReceives: false))
        use(entries.count - 1)
        memory.isReported = nil
        while entries.count > Self.maxSessions,
            let oldest = entries.indices.min(by: { entries[$0].use < entries[$1].use })
        {
            removed.insert(CryptoRecord.Key(.olmSession, owner: Self.owner(identityKey), id: entries[oldest].id))
            entries.remove(at: oldest)
        }
    }

    private mutating func use(_ index: Int) {
        entries[index].use = (entries.map(\.use).max() ?? 0) + 1
        entries[index].isChanged = true
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
