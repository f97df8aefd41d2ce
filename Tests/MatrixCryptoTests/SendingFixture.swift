import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing

/// A machine that sends to a room, and a server with the devices of the readers.
struct SendingFixture {
    var machine: MachineFixture
    var now: Date
    var room: ExactText = "!r:b"
    /// Memberships as the server lists them.
    var members: [ExactText: String] = ["@me:b": "join", "@a:b": "join"]
    var visibility: String? = "shared"
    var readers: [ReadingDevice] = []
    var unreachedServers: Set<String> = []
    /// Users with whom queries are rejected.
    var rejectedUsers: Set<ExactText> = []
    /// Whether a request is rejected.
    var rejects: (CryptoRequest) throws -> Bool = { _ in false }
    private(set) var rejections = 0
    /// The responses to the next claims in place of keys.
    var unusableAnswers: [JSONValue] = []
    /// The number of requests so far, by kind.
    private(set) var counts: [String: Int] = [:]
    private(set) var withheld: [JSONValue] = []
    /// How many upcoming responses to key shares are lost.
    var lostSends = 0
    private(set) var transactions: [String] = []

    init() async throws {
        machine = try await MachineFixture()
        now = machine.start
        _ = try await machine.published()
        readers = [try ReadingDevice("@a:b", "A1")]
        try await EncryptedRoom.note(
            [(room, ["algorithm": "m.megolm.v1.aes-sha2"])], in: machine.storage, at: now)
    }

    var subject: CryptoMachine { machine.machine }

    func reader(_ device: ExactText) throws -> ReadingDevice {
        try #require(readers.first { $0.device.device == device })
    }

    /// Applies a sync with these changes.
    mutating func sync(_ items: [AudienceNews.Item] = [], changed: [ExactText] = []) async throws {
        var sync = CryptoSync(kind: .sliding)
        sync.changed = changed
        _ = try await subject.received(sync, at: now)
        try await subject.received([AudienceNews(room: room, items: items)])
    }

    /// Sends to the room as an account would.
    mutating func say(_ text: String) async throws -> JSONValue {
        for _ in 0..<12 {
            let content: [String: JSONValue] = ["msgtype": "m.text", "body": .string(text)]
            switch try await subject.seal("m.room.message", content, in: room, at: now) {
            case .sealed(let sealed): return sealed
            case .needsMembers(let version):
                counts["members", default: 0] += 1
                _ = try await subject.setMembers(members, visibility: visibility, of: room, since: version)
            case .waits: try await answerAll()
            case .refused(let rejection): throw rejection
            }
        }
        throw CancellationError()
    }

    mutating func answerAll() async throws {
        while let request = try await subject.nextRequest(at: now) {
            if case .query(let query) = request.action, !rejectedUsers.isDisjoint(with: query.users) {
                try await subject.refused(request, at: now)
                continue
            }
            if try rejects(request) {
                rejections += 1
                try await subject.refused(request, at: now)
                continue
            }
            guard let answer = try answer(request.action) else {
                try await subject.failed(request)
                continue
            }
            try await subject.answered(request, with: answer, at: now)
        }
    }

    /// Answers one request.
    mutating func answerNext() async throws {
        guard let request = try await subject.nextRequest(at: now) else { return }
        try await subject.answered(request, with: try answer(request.action) ?? [:], at: now)
    }

    private mutating func answer(_ action: CryptoRequest.Action) throws -> JSONValue? {
        switch action {
        case .upload: return [:]
        case .query(let query):
            counts["query", default: 0] += 1
            let answered = readers.filter { query.users.contains($0.device.user) && !isAway($0.device.user) }
            var members = try TestIdentity.answer(of: answered.map(\.device))
            members["device_keys"] = try Self.answer(answered.map { (id: $0.id, value: try $0.device.json()) })
            members["failures"] = failures
            return .object(members)
        case .claim(let claims):
            counts["claim", default: 0] += 1
            if !unusableAnswers.isEmpty { return unusableAnswers.removeFirst() }
            var keys: [(id: DeviceID, value: JSONValue)] = []
            for claim in claims {
                let found = readers.first { $0.device.user == claim.user && $0.device.device == claim.device }
                guard let found, found.oneTimeKeys, !isAway(claim.user) else { continue }
                keys.append((found.id, try found.claimed()))
            }
            return ["one_time_keys": try Self.answer(keys), "failures": failures]
        case .send, .uploadSignatures: return [:]
        case .sendAll(let batch):
            counts["send", default: 0] += 1
            transactions.append(batch.transaction)
            if lostSends > 0 {
                lostSends -= 1
                return nil
            }
            try deliver(batch)
            return [:]
        }
    }

    /// The devices that a claim or to-device messages concern.
    static func devices(of request: CryptoRequest) throws -> [String] {
        switch request.action {
        case .claim(let claims): return claims.map(\.device.text)
        case .sendAll(let batch):
            let users = try JSONValue(parsing: batch.messages).object ?? [:]
            return users.values.flatMap { Array(($0.object ?? [:]).keys) }
        case .upload, .query, .send, .uploadSignatures: return []
        }
    }

    /// What is read of a response by a server that compares users and devices by their bytes.
    private static func answer(_ values: [(id: DeviceID, value: JSONValue)]) throws -> JSONValue {
        let members = try values.map { (id: $0.id, value: try CanonicalJSON.bytes(of: $0.value)) }
        return try JSONValue(parsing: Data(ExactObject(byDevice: members).bytes))
    }

    private func isAway(_ user: ExactText) -> Bool { unreachedServers.contains { user.text.hasSuffix(":\($0)") } }

    private var failures: JSONValue {
        .object(Dictionary(uniqueKeysWithValues: unreachedServers.map { ($0, .object([:])) }))
    }

    private mutating func deliver(_ batch: DeviceBatch) throws {
        for (id, content) in try DeviceContents(in: batch).all {
            guard batch.type == "m.room.encrypted" else {
                withheld.append(content)
                continue
            }
            try #require(readers.first { $0.id == id }).receive(content)
        }
    }
}

/// The contents of to-device messages, with users and devices compared by their bytes as by a server.
private final class DeviceContents: JSONReceiver {
    private(set) var all: [(id: DeviceID, content: JSONValue)] = []

    init(in batch: DeviceBatch) throws {
        let stream = JSONStream(receiver: self)
        try stream.feed(batch.messages)
        try stream.finish()
    }

    func entersContainer(at path: [JSONStep]) -> Bool { path.count < 2 }

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        guard path.count == 2, case .key(let user) = path[0], case .key(let device) = path[1] else { return }
        all.append((DeviceID(user: ExactText(user), device: ExactText(device)), value))
    }

    func leaveContainer(at path: [JSONStep]) {}
}
