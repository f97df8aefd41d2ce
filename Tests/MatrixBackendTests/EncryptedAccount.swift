import ChatCore
import ChatStore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization
import Testing

@testable import MatrixBackend

/// An account with keys in one encrypted room, over a server whose responses the test provides.
final class EncryptedAccount {
    static let user = MemberID("@me:example.org")
    static let room = RoomID("!r:example.org")

    let server: FakeHomeserver
    private let devices: KnownDevices
    let store: ChatStore
    let backend: MatrixBackend
    private let folder: TemporaryFolder
    private static let numbers = Mutex(0)

    var room: RoomID { Self.room }

    /// - Parameters:
    ///   - credentials: `nil` for a start without keys.
    ///   - devices: the other devices that the server reports.
    ///   - sliding: whether the server has sliding sync.
    static func start(
        in folder: TemporaryFolder, _ credentials: MemoryCredentialStore?, devices: KnownDevices = KnownDevices(),
        sliding: Bool = false, clock: any Clock<Duration> = ManualClock(),
        answering: @escaping @Sendable (MatrixRequest) -> JSONValue? = { _ in nil },
        now: @escaping @Sendable () -> Date = { Fixtures.date }
    ) async throws -> EncryptedAccount {
        let server = FakeHomeserver { request in
            if request.url.path.hasSuffix("/keys/query"), let answer = devices.answer() { return answer }
            if let answer = answering(request) { return answer }
            return switch request.url.path {
            case "/_matrix/client/v3/keys/query": ["device_keys": [:]]
            case "/_matrix/client/v3/keys/upload":
                ["one_time_key_counts": ["signed_curve25519": request.json?["one_time_keys"] == nil ? 0 : 25]]
            default: nil
            }
        }
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await MatrixBackend.start(
            over: store, server: try #require(URL(string: "https://example.org")), ownUserID: user, token: nil,
            hasSlidingSync: sliding, transport: server, clock: clock, now: now)
        if let credentials {
            let credential = KeyCredential(account: user.rawValue, place: credentials)
            await backend.openKeys(of: "D", credential: credential)
            #expect(backend.keys.condition == .on)
        }
        await backend.resume(with: AccessToken("secret"))
        return EncryptedAccount(folder, server, devices, store, backend)
    }

    private init(
        _ folder: TemporaryFolder, _ server: FakeHomeserver, _ devices: KnownDevices, _ store: ChatStore,
        _ backend: MatrixBackend
    ) {
        self.folder = folder
        self.devices = devices
        self.server = server
        self.store = store
        self.backend = backend
    }

    func close() async {
        await backend.close()
        await store.close()
    }

    /// The initial state of the room with the user and Ann.
    static let state: [JSONValue] = [
        Events.event("$create", "m.room.create", [:], stateKey: ""),
        Events.event("$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: ""),
        Events.member(user.rawValue, "Me"), Events.member("@ann:example.org", "Ann"),
    ]

    /// Makes the server send a sync response, and waits until it was processed.
    func sync(
        _ events: [JSONValue] = [], toDevice: [JSONValue] = [], accountData: [JSONValue] = [],
        _ more: [String: JSONValue] = [:]
    ) async throws {
        offer(events, toDevice: toDevice, accountData: accountData, more)
        try await server.waitUntilConsumed()
    }

    func offer(
        _ events: [JSONValue] = [], toDevice: [JSONValue] = [], accountData: [JSONValue] = [],
        _ more: [String: JSONValue] = [:]
    ) {
        let number = Self.numbers.withLock { number in
            number += 1
            return number
        }
        var joined = more
        joined["timeline"] = joined["timeline"] ?? ["events": .array(events)]
        server.sync([
            "next_batch": .string("s\(number)"), "device_one_time_keys_count": ["signed_curve25519": 0],
            "to_device": ["events": .array(toDevice)], "account_data": ["events": .array(accountData)],
            "rooms": ["join": .object([Self.room.rawValue: .object(joined)])],
        ])
    }

    /// Returns another user's device that has received the account's published keys, and that the account knows.
    func peer(_ user: String = "@ann:example.org") async throws -> SealingPeer {
        let peer = try await unknownPeer(user)
        try await know(peer)
        return peer
    }

    /// Returns another user's device that has received the account's published keys, and that no query has shown.
    func unknownPeer(_ user: String = "@ann:example.org") async throws -> SealingPeer {
        try await sync(Self.state)
        try await server.receives("/keys/upload")
        for attempt in 1... {
            // The response to the first upload may replace the sync's key count of zero: repeat the sync.
            if attempt.isMultiple(of: 100) { try await sync() }
            let uploads = server.requests.filter { $0.url.path.hasSuffix("/keys/upload") }.compactMap(\.json)
            for upload in uploads {
                guard let key = upload["one_time_keys"]?.object?.values.first?["key"]?.string else { continue }
                let own = try #require(uploads.compactMap { $0["device_keys"] }.first)
                return try SealingPeer(user, writingTo: own["keys"] ?? .null, oneTimeKey: key)
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        fatalError("the attempts never end")
    }

    /// Publishes a confirmed device, and makes the account query it.
    func know(_ peer: SealingPeer) async throws {
        try devices.add(peer.device)
        let machine = try #require(await backend.keys.machine)
        try await machine.track([peer.device.user])
        #expect(await backend.keys.makeAllRequests())
    }

    var messages: [Message] {
        get async throws {
            try await store.messages(in: room, before: .max, limit: 100).messages.filter { $0.event == nil }
        }
    }

    func message(_ id: String) async throws -> Message? {
        try await store.messages([MessageID(id)], in: room).first
    }

    /// Waits until a stored message satisfies a condition.
    func message(_ id: String, where condition: (Message) -> Bool) async throws -> Message {
        while true {
            if let found = try await message(id), condition(found) { return found }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    func found(_ text: String) async throws -> [MessageID] {
        try await store.search(SearchQuery(text: text, room: room)).messages.map(\.id)
    }
}

/// Encrypts messages for an ``EncryptedAccount`` like another client.
final class SealingPeer {
    let user: String
    let device: TestDevice
    private var account: OlmAccount { device.account }
    private let session: OlmSession
    private let target: JSONValue
    private(set) var group: OutboundGroupSession

    /// - Parameter target: the public keys of the account's device.
    init(_ user: String, writingTo target: JSONValue, oneTimeKey: String) throws {
        self.user = user
        self.target = target
        device = try TestDevice(ExactText(user), "PEER")
        session = try device.account.session(
            with: Curve25519Key(base64: target["curve25519:D"]?.string ?? ""),
            oneTimeKey: Curve25519Key(base64: oneTimeKey))
        group = try OutboundGroupSession()
    }

    func rotate() throws { group = try OutboundGroupSession() }

    /// Returns a to-device message with the room key at its current index.
    func key(in room: RoomID = EncryptedAccount.room) throws -> JSONValue {
        let payload: JSONValue = [
            "type": "m.room_key", "sender": .string(user), "recipient": .string(EncryptedAccount.user.rawValue),
            "recipient_keys": ["ed25519": target["ed25519:D"] ?? .null],
            "keys": ["ed25519": .string("\(account.signingKey)")],
            "content": [
                "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string(room.rawValue),
                "session_id": .string(try group.id), "session_key": .string(Base64.encoded(try group.sessionKey)),
            ],
        ]
        let message = try session.encrypt(Array(payload.encoded()))
        return [
            "type": "m.room.encrypted", "sender": .string(user),
            "content": [
                "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": .string("\(account.identityKey)"),
                "ciphertext": .object([
                    target["curve25519:D"]?.string ?? "": [
                        "type": .integer(Int64(message.kind.rawValue)), "body": .string(Base64.encoded(message.bytes)),
                    ]
                ]),
            ],
        ]
    }

    /// Returns a notice that the key is withheld.
    func withheld(_ code: String) throws -> JSONValue {
        [
            "type": "m.room_key.withheld", "sender": .string(user),
            "content": [
                "algorithm": "m.megolm.v1.aes-sha2", "code": .string(code),
                "room_id": .string(EncryptedAccount.room.rawValue), "session_id": .string(try group.id),
            ],
        ]
    }

    /// Returns an encrypted event.
    /// - Parameters:
    ///   - relation: the unencrypted relation.
    ///   - change: changes the unencrypted content.
    func event(
        _ id: String, _ content: JSONValue, type: String = "m.room.message", relation: JSONValue? = nil,
        at time: Int64 = 1_800_000_000_000, room: RoomID = EncryptedAccount.room, unsigned: JSONValue = [:],
        _ change: (inout [String: JSONValue]) -> Void = { _ in }
    ) throws -> JSONValue {
        let payload: JSONValue = [
            "type": .string(type), "content": content, "room_id": .string(room.rawValue),
        ]
        let bytes = try group.encrypt(Array(payload.encoded()))
        var sealed: [String: JSONValue] = [
            "algorithm": "m.megolm.v1.aes-sha2", "session_id": .string(try group.id),
            "ciphertext": .string(Base64.encoded(bytes)),
        ]
        sealed["m.relates_to"] = relation
        change(&sealed)
        return Events.event(id, "m.room.encrypted", .object(sealed), by: user, at: time, unsigned: unsigned)
    }

    func text(_ id: String, _ body: String, relation: JSONValue? = nil) throws -> JSONValue {
        try event(id, ["msgtype": "m.text", "body": .string(body)], relation: relation)
    }

    func edit(_ id: String, of target: String, to body: String) throws -> JSONValue {
        let text: JSONValue = ["msgtype": "m.text", "body": .string(body)]
        return try event(
            id, ["msgtype": "m.text", "body": .string("* " + body), "m.new_content": text],
            relation: ["rel_type": "m.replace", "event_id": .string(target)])
    }
}

/// The devices that a server reports.
final class KnownDevices: Sendable {
    private let members = Mutex<[String: [String: JSONValue]]>([:])
    private let failures = Mutex(0)

    /// Makes the next queries fail, or all that follow (`.max`).
    func fail(_ count: Int) { failures.withLock { $0 = count } }

    func add(_ device: TestDevice) throws {
        let identity = try TestIdentity.answer(of: [device])
        let json = try device.json()
        members.withLock { members in
            for (name, users) in identity { members[name, default: [:]].merge(users.object ?? [:]) { $1 } }
            var devices = members["device_keys"]?[device.user.text]?.object ?? [:]
            devices[device.device.text] = json
            members["device_keys", default: [:]][device.user.text] = .object(devices)
        }
    }

    /// Returns the response to a query, or `nil` without devices.
    func answer() -> JSONValue? {
        let fails = failures.withLock { failures in
            guard failures > 0 else { return false }
            failures -= 1
            return true
        }
        guard !fails else { return ["status": 504] }
        let members = members.withLock(\.self)
        return members.isEmpty ? nil : .object(members.mapValues { .object($0) })
    }
}

extension MatrixRequest {
    var json: JSONValue? {
        guard case .json(let data) = body else { return nil }
        return try? JSONValue(parsing: data)
    }
}
