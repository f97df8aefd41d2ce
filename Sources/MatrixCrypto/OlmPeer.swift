import ChatCore
import Foundation
import Ratchets

/// The Olm sessions with one device, by its identity key, and what is remembered of its messages.
///
/// It is made for one change and thrown away with it: sessions move on with each message, so after a change that did not
/// reach the disk they are read from there again.
struct OlmPeer {
    enum Failure: Error, Hashable, Sendable {
        /// It was decrypted before: the server may deliver it again.
        case repeated
        /// No session reads it, and it begins none.
        case unreadable
    }

    /// More sessions than two honest devices need; the one that was used the longest ago goes.
    static let maxSessions = 10
    /// More messages than one answer of a server has.
    static let maxDigests = 256
    static let repairInterval: TimeInterval = 3600

    private struct Entry {
        let session: OlmSession
        let id: ExactText
        /// A greater number was used later.
        var use: UInt64
        var isChanged: Bool
    }

    private struct StoredSession: Codable {
        let use: UInt64
        let pickle: Data
    }

    private struct Memory: Codable, Equatable {
        var digests: [Data] = []
        var repairedAt: Date?
        /// Whether it was told that there is no session with it.
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

    /// Reads what is stored of a device. What cannot be read is an error, not a device without sessions.
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
                isChanged: false)
        }
        if let record { memory = try JSONDecoder().decode(Memory.self, from: record.value) }
        storedMemory = memory
    }

    /// Reads what is stored of many devices.
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

    /// What has changed, to be stored together with the account.
    func change(key: KeyMaterial) throws -> CryptoChange {
        var change = CryptoChange(removed: removed)
        for entry in entries where entry.isChanged {
            let stored = StoredSession(use: entry.use, pickle: Data(try entry.session.pickle(key: key)))
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

    /// Decrypts with the session that the message is of, or with the one that it begins. What throws changes nothing.
    /// - Returns: Whether a one-time key of the account was used up.
    mutating func decrypt(
        _ message: OlmMessage, with account: OlmAccount
    ) throws -> (plaintext: [UInt8], changesAccount: Bool) {
        let digest = Data(
            try SHA256.digest(of: [UInt8(truncatingIfNeeded: message.kind.rawValue)] + message.bytes).prefix(16))
        guard !memory.digests.contains(digest) else { throw Failure.repeated }
        for index in entries.indices.sorted(by: { entries[$0].use > entries[$1].use }) {
            if message.kind == .beginning {
                // A message that cannot even be read is of none.
                guard (try? entries[index].session.begins(with: message.bytes)) == true else { continue }
            }
            do throws(RatchetError) {
                let plaintext = try entries[index].session.decrypt(message)
                use(index)
                remember(digest)
                return (plaintext, false)
            } catch {
                // The session of its beginning is this one and no other.
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

    var hasSession: Bool { !entries.isEmpty }

    /// Encrypts with the session that was used last. It is stored before the message leaves.
    mutating func encrypt(_ plaintext: [UInt8]) throws -> OlmMessage {
        guard let index = entries.indices.max(by: { entries[$0].use < entries[$1].use }) else {
            throw RatchetError.argument
        }
        entries[index].isChanged = true
        return try entries[index].session.encrypt(plaintext)
    }

    /// Whether the device is still to be told that there is no session with it; asks once.
    mutating func mayReport() -> Bool {
        guard memory.isReported != true else { return false }
        memory.isReported = true
        return true
    }

    /// Adds a session, and takes it for the one to write with.
    mutating func add(_ session: OlmSession) throws(RatchetError) {
        let id = ExactText(try session.id)
        entries.append(Entry(session: session, id: id, use: 0, isChanged: true))
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

    /// Whether a new session is to be made because nothing reads the device's messages: at most once an hour, whatever
    /// it sends.
    mutating func mayRepair(at now: Date) -> Bool {
        if let last = memory.repairedAt, now.timeIntervalSince(last) < Self.repairInterval, last <= now { return false }
        memory.repairedAt = now
        return true
    }
}
