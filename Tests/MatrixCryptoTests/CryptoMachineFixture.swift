import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing

/// In-memory storage that fails on demand.
actor FakeCryptoStorage: CryptoStorage {
    struct Full: Error {}

    private(set) var records: [CryptoRecord.Key: Data] = [:]
    private(set) var read: [GroupMessage: ExactText] = [:]
    private(set) var commits = 0
    private var failures = 0
    private var failsAt = 0

    private var unreadable: Set<CryptoRecord.Kind> = []

    func fail(_ count: Int) { failures = count }
    /// Makes reading the records of several owners fail for these kinds.
    func failReading(_ kinds: Set<CryptoRecord.Kind>) { unreadable = kinds }
    /// Makes reading this record by its key fail; `nil` for none.
    func failReading(of key: CryptoRecord.Key?) { unreadableKey = key }
    private var unreadableKey: CryptoRecord.Key?
    /// Makes the change with this number fail, counted from 1.
    func fail(at number: Int) { failsAt = number }
    func set(_ value: Data?, for key: CryptoRecord.Key) {
        records[key] = value
        changes += 1
    }
    private var changes: UInt64 = 0
    /// The number of records of the largest change so far.
    private(set) var largestChange = 0
    /// The number of records of a kind that were read at once at most, of one owner.
    private(set) var largestReads: [CryptoRecord.Kind: Int] = [:]
    private func note(_ count: Int, _ kind: CryptoRecord.Kind) {
        largestReads[kind] = max(largestReads[kind] ?? 0, count)
    }
    /// The number of records that were read by key.
    private(set) var singleReads = 0
    func changeCount() -> UInt64 { changes }

    /// How often the records of one owner were read, by kind.
    private(set) var ownerReads: [CryptoRecord.Kind: Int] = [:]

    func cryptoRecords(_ kind: CryptoRecord.Kind, owner: ExactText?) -> [CryptoRecord] {
        if owner != nil { ownerReads[kind, default: 0] += 1 }
        return records.filter { $0.key.kind == kind && (owner == nil || $0.key.owner == owner) }
            .map { CryptoRecord($0.key, value: $0.value) }
            .sorted { ($0.key.owner, $0.key.id) < ($1.key.owner, $1.key.id) }
    }
    func cryptoRecords(
        _ kind: CryptoRecord.Kind, owners: Set<ExactText>, limit: Int?
    ) throws -> [ExactText: [CryptoRecord]] {
        guard !unreadable.contains(kind) else { throw Full() }
        let found = Dictionary(
            grouping: cryptoRecords(kind, owner: nil).filter { owners.contains($0.key.owner) }, by: \.key.owner
        ).mapValues { Array($0.prefix(limit ?? .max)) }
        for records in found.values { note(records.count, kind) }
        return found
    }
    func cryptoRecords(_ kind: CryptoRecord.Kind, after key: CryptoRecord.Key?, limit: Int) -> [CryptoRecord] {
        let all = cryptoRecords(kind, owner: nil)
        let page = all.filter { record in
            guard let key else { return true }
            return (key.owner, key.id) < (record.key.owner, record.key.id)
        }.prefix(limit)
        note(page.count, kind)
        return Array(page)
    }
    func cryptoRecordCount(_ kind: CryptoRecord.Kind) -> Int { cryptoRecords(kind, owner: nil).count }
    func cryptoRecord(_ key: CryptoRecord.Key) throws -> CryptoRecord? {
        singleReads += 1
        guard key != unreadableKey else { throw Full() }
        return records[key].map { CryptoRecord(key, value: $0) }
    }
    func events(readFrom messages: Set<GroupMessage>) -> [GroupMessage: ExactText] {
        read.filter { messages.contains($0.key) }
    }
    private var interruption: (key: CryptoRecord.Key, action: @Sendable () async throws -> Void)?
    /// Runs an action right before the next change of a record is stored.
    func interrupt(changeOf key: CryptoRecord.Key, by action: @escaping @Sendable () async throws -> Void) {
        interruption = (key, action)
    }
    func commit(_ change: CryptoChange) async throws {
        if let (key, action) = interruption,
            change.removed.contains(key) || change.put.contains(where: { $0.key == key })
        {
            interruption = nil
            try await action()
        }
        if failures > 0 {
            failures -= 1
            throw Full()
        }
        failsAt -= 1
        if failsAt == 0 { throw Full() }
        guard change.read.allSatisfy({ read[$0.key] ?? $0.value == $0.value }) else { throw Full() }
        changes += 1
        largestChange = max(largestChange, change.put.count + change.removed.count)
        for key in change.removed { records[key] = nil }
        for record in change.put { records[record.key] = record.value }
        read.merge(change.read) { first, _ in first }
        commits += 1
    }
}

/// A machine with in-memory storage, whose requests the fixture answers.
struct MachineFixture {
    let storage = FakeCryptoStorage()
    let key: KeyMaterial
    let start = Date(timeIntervalSince1970: 1_000_000)
    private(set) var machine: CryptoMachine

    init(user: ExactText = "@me:b", device: ExactText = "ME") async throws {
        key = try KeyMaterial()
        try await CryptoMachine.begin(user: user, device: device, in: storage, key: key)
        machine = try await CryptoMachine(user: user, device: device, storage: storage, key: key)
    }

    mutating func restart() async throws {
        machine = try await CryptoMachine(user: machine.user, device: machine.device, storage: storage, key: key)
    }

    /// Answers all requests like a server that has these devices, until none is left.
    /// - Returns: The requests.
    @discardableResult
    func answerAll(_ devices: [TestDevice] = [], claims: [ExactText: JSONValue] = [:], at now: Date? = nil) async throws
        -> [CryptoRequest.Action]
    {
        var actions: [CryptoRequest.Action] = []
        while let request = try await machine.nextRequest(at: now ?? start) {
            actions.append(request.action)
            guard actions.count < 50 else { break }
            try await answer(request, of: devices, claims: claims, at: now)
        }
        return actions
    }

    /// Answers a request like a server that has these devices.
    func answer(
        _ request: CryptoRequest, of devices: [TestDevice], claims: [ExactText: JSONValue] = [:], at now: Date? = nil
    ) async throws {
        var answer: JSONValue = [:]
        switch request.action {
        case .query:
            var users: [String: [String: JSONValue]] = [:]
            for one in devices { users[one.user.text, default: [:]][one.device.text] = try one.json() }
            var members = try TestIdentity.answer(of: devices, to: machine.user)
            members["device_keys"] = .object(users.mapValues { .object($0) })
            answer = .object(members)
        case .claim(let all):
            var users: [String: JSONValue] = [:]
            for claim in all {
                if let key = claims[claim.device] { users[claim.user.text] = [claim.device.text: key] }
            }
            answer = ["one_time_keys": .object(users)]
        case .upload, .send, .sendAll, .uploadSignatures: break
        }
        try await machine.answered(request, with: answer, at: now ?? start)
    }

    /// Makes the machine query these devices and the identities that confirm them.
    func know(_ devices: [TestDevice]) async throws {
        try await machine.track(devices.map(\.user))
        try await answerAll(devices)
    }

    /// Makes the machine upload its keys.
    /// - Returns: The device keys, and the one-time keys.
    func published() async throws -> (device: DeviceKeys, oneTimeKeys: [Curve25519Key]) {
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 0]
        sync.unusedFallbackKeys = []
        _ = try await machine.received(sync, at: start)
        var (device, keys): (DeviceKeys?, [Curve25519Key]) = (nil, [])
        for case .upload(let body) in try await answerAll() {
            let upload = try JSONValue(parsing: Data(body))
            if let json = upload["device_keys"] {
                device = try DeviceKeys(json, of: machine.user, device: machine.device)
            }
            for value in (upload["one_time_keys"]?.object ?? [:]).values {
                keys.append(try Curve25519Key(base64: value["key"]?.string ?? ""))
            }
        }
        return (try #require(device), keys)
    }

    /// Another device, with a session that uses one of the machine's one-time keys.
    func peer(_ user: ExactText = "@a:b", _ device: ExactText = "PEER") async throws -> TestPeer {
        let (own, keys) = try await published()
        return try TestPeer(user, device, to: own, with: try #require(keys.first))
    }

    /// Applies a sync with these to-device messages.
    @discardableResult
    func receive(_ events: [JSONValue], at now: Date? = nil) async throws -> CryptoReceipt {
        var sync = CryptoSync(kind: .sliding)
        sync.events = events
        return try await machine.received(sync, at: now ?? start)
    }
}

/// Another device, which sends messages to the machine.
struct TestPeer {
    let device: TestDevice
    let target: DeviceKeys
    let session: OlmSession

    init(_ user: ExactText, _ id: ExactText, to target: DeviceKeys, with key: Curve25519Key) throws {
        try self.init(try TestDevice(user, id), to: target, with: key)
    }

    /// Another session of a device.
    init(_ device: TestDevice, to target: DeviceKeys, with key: Curve25519Key) throws {
        self.device = device
        self.target = target
        session = try device.account.session(with: target.identityKey, oneTimeKey: key)
    }

    func payload(_ type: String, _ content: JSONValue) throws -> [String: JSONValue] {
        [
            "type": .string(type), "content": content, "sender": .string(device.user.text),
            "recipient": .string(target.user.text), "recipient_keys": ["ed25519": .string("\(target.signingKey)")],
            "keys": ["ed25519": .string("\(device.account.signingKey)")], "sender_device_keys": try device.json(),
        ]
    }

    func sealed(_ payload: [String: JSONValue], from sender: ExactText? = nil) throws -> JSONValue {
        let message = try session.encrypt(Array(CanonicalJSON.bytes(of: .object(payload))))
        return [
            "type": "m.room.encrypted", "sender": .string((sender ?? device.user).text),
            "content": [
                "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": .string("\(device.account.identityKey)"),
                "ciphertext": .object([
                    "\(target.identityKey)": [
                        "type": .integer(Int64(message.kind.rawValue)), "body": .string(Base64.encoded(message.bytes)),
                    ]
                ]),
            ],
        ]
    }

    func roomKey(of group: OutboundGroupSession, room: String = "!r:b") throws -> JSONValue {
        [
            "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string(room), "session_id": .string(try group.id),
            "session_key": .string(Base64.encoded(try group.sessionKey)),
        ]
    }

    func share(_ group: OutboundGroupSession, room: String = "!r:b") throws -> JSONValue {
        try sealed(payload("m.room_key", roomKey(of: group, room: room)))
    }

    func say(_ text: String, with group: OutboundGroupSession, as event: ExactText, room: ExactText = "!r:b") throws
        -> SealedEvent
    {
        let payload: JSONValue = [
            "type": "m.room.message", "content": ["body": .string(text)], "room_id": .string(room.text),
        ]
        let bytes = try group.encrypt(CanonicalJSON.bytes(of: payload))
        return SealedEvent(
            room: room, event: event, sender: device.user,
            content: [
                "algorithm": "m.megolm.v1.aes-sha2", "session_id": .string(try group.id),
                "ciphertext": .string(Base64.encoded(bytes)),
            ])
    }
}
