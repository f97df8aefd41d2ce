import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixBackend
import MatrixCrypto
import Ratchets
import Synchronization

/// An in-memory homeserver, as cheap as possible: the data of other users is encoded beforehand.
final class BenchHomeserver: MatrixTransport {
    private struct State {
        var requests: [String] = []
        /// The user's devices by ID, and the keys of the identity by their members in `keys/query`.
        var devices: [String: JSONValue] = [:]
        var identity: [String: JSONValue] = [:]
        /// The one-time keys that the user's devices have uploaded.
        var oneTimeKeys: [String] = []
        var accountData: [String: JSONValue] = [:]
        var backup: JSONValue?
        var backedUpKeys = Data(#"{"rooms":{}}"#.utf8)
        var sent = 0
        /// The devices of other users that were sent an encrypted message, as a room key is.
        var reached: Set<String> = []
        /// Pending sync responses. A later account continues with those that an earlier one has left.
        var syncs: [Data] = []
        /// Whether all sync responses have been processed, which the next sync request shows.
        var isConsumed = false
    }

    static let user = "@me:example.org"
    static let room = "!r:example.org"
    static let url = URL(string: "https://example.org") ?? URL(filePath: "/")

    private let state = Mutex(State())
    private let users: BenchUsers

    init(users: BenchUsers = BenchUsers()) { self.users = users }

    /// The requests so far, except for syncs: methods, and paths without IDs.
    var requests: [String] { state.withLock { $0.requests } }
    var sent: Int { state.withLock { $0.sent } }
    var reachedDevices: Int { state.withLock { $0.reached.count } }
    var oneTimeKeys: [String] { state.withLock { $0.oneTimeKeys } }
    var backup: JSONValue? { state.withLock { $0.backup } }

    func device(_ id: String) -> JSONValue? { state.withLock { $0.devices[id] } }
    func setBackedUpKeys(_ keys: Data) { state.withLock { $0.backedUpKeys = keys } }

    static func encoded(_ value: JSONValue) throws -> Data { Data(try CanonicalJSON.bytes(of: value)) }

    // MARK: Syncs

    func sync(_ answer: JSONValue) throws {
        let answer = try Self.encoded(answer)
        state.withLock { state in
            state.syncs.append(answer)
            state.isConsumed = false
        }
    }

    /// Waits until all sync responses have been processed.
    func waitUntilConsumed() async throws {
        try await wait { $0.isConsumed }
    }

    /// Waits until no request has arrived for a while, as after a start.
    func waitUntilQuiet() async throws {
        var count = -1
        while count != requests.count {
            count = requests.count
            try await Task.sleep(for: .milliseconds(300))
        }
    }

    func waitUntilSent(_ count: Int) async throws { try await wait { $0.sent >= count } }
    func waitForOneTimeKeys() async throws { try await wait { !$0.oneTimeKeys.isEmpty } }

    private func wait(_ condition: (State) -> Bool) async throws {
        for _ in 0..<30_000 {
            if state.withLock({ condition($0) }) { return }
            try await Task.sleep(for: .milliseconds(2))
        }
        throw SoakTimeout(requests: requests)
    }

    struct SoakTimeout: Error { let requests: [String] }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        if request.url.path.hasSuffix("/sync") {
            while true {
                let next = state.withLock { state in
                    state.isConsumed = state.syncs.isEmpty
                    return state.syncs.isEmpty ? nil : state.syncs.removeFirst()
                }
                if let next { return MatrixResponse(status: 200, body: next) }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        guard let body = try answer(request) else {
            return MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8))
        }
        guard case .file(let file) = request.destination else { return MatrixResponse(status: 200, body: body) }
        try body.write(to: file)
        return MatrixResponse(status: 200)
    }

    // MARK: Answers

    private func answer(_ request: MatrixRequest) throws -> Data? {
        let path = request.url.absoluteString.split(separator: "?")[0].split(separator: "/").dropFirst(5)
            .map { $0.removingPercentEncoding ?? "" }
        var json: JSONValue = .null
        if case .json(let body) = request.body { json = try JSONValue(parsing: body) }
        let named = path.filter { !$0.hasPrefix("!") && !$0.hasPrefix("@") && !$0.hasPrefix("~") }
        state.withLock { $0.requests.append("\(request.method.rawValue) \(named.prefix(4).joined(separator: "/"))") }
        switch (path.first, path.count > 1 ? path[1] : "") {
        case ("keys", "query"): return keysQuery(json)
        case ("keys", "claim"): return users.claim(json["one_time_keys"]?.object ?? [:])
        case ("keys", _): return try Self.encoded(takeKeys(path, json))
        case ("sendToDevice", let type):
            if type == "m.room.encrypted" { noteReached(json["messages"]?.object ?? [:]) }
            return Data("{}".utf8)
        case ("user", _) where path.contains("account_data"): return try accountData(path.last ?? "", request, json)
        case ("room_keys", _): return try backup(path, request, json)
        case ("rooms", _) where path.last == "members": return users.members
        case ("rooms", _) where path.contains("m.room.encryption"):
            return Data(#"{"algorithm":"m.megolm.v1.aes-sha2"}"#.utf8)
        case ("rooms", _) where path.contains("send"):
            let number = state.withLock { state in
                state.sent += 1
                return state.sent
            }
            return Data(#"{"event_id":"$sent\#(number)"}"#.utf8)
        default: return nil
        }
    }

    private func noteReached(_ messages: [String: JSONValue]) {
        let devices = messages.filter { $0.key != Self.user }.flatMap { user, messages in
            (messages.object ?? [:]).keys.map { "\(user) \($0)" }
        }
        state.withLock { $0.reached.formUnion(devices) }
    }

    private func keysQuery(_ json: JSONValue) -> Data {
        let users = (json["device_keys"]?.object ?? [:]).keys
        let (devices, identity) = state.withLock { ($0.devices, $0.identity) }
        var own: [String: JSONValue] = ["device_keys": .object(devices)]
        if users.contains(Self.user) { own.merge(identity) { $1 } }
        return self.users.query(users.filter { $0 != Self.user }, own: own)
    }

    private func takeKeys(_ path: [String], _ json: JSONValue) throws -> JSONValue {
        state.withLock { state in
            switch path[1] {
            case "upload":
                if let keys = json["device_keys"], let id = keys["device_id"]?.string { state.devices[id] = keys }
                let keys = (json["one_time_keys"]?.object ?? [:]).values.compactMap { $0["key"]?.string }
                state.oneTimeKeys += keys
                // The first upload may precede the first sync, and contain no one-time keys.
                return ["one_time_key_counts": ["signed_curve25519": .integer(Int64(state.oneTimeKeys.count))]]
            case "device_signing":
                for (name, member) in [
                    ("master_key", "master_keys"), ("self_signing_key", "self_signing_keys"),
                    ("user_signing_key", "user_signing_keys"),
                ] { state.identity[member] = json[name] }
                return [:]
            default:
                // Signatures of a device: the objects differ in nothing else.
                for (id, object) in json[Self.user]?.object ?? [:] where state.devices[id] != nil {
                    var known = state.devices[id]?.object ?? [:]
                    var own = known["signatures"]?[Self.user]?.object ?? [:]
                    own.merge(object["signatures"]?[Self.user]?.object ?? [:]) { $1 }
                    known["signatures"] = [Self.user: .object(own)]
                    state.devices[id] = .object(known)
                }
                return [:]
            }
        }
    }

    private func accountData(_ type: String, _ request: MatrixRequest, _ json: JSONValue) throws -> Data? {
        guard request.method == .put else { return try state.withLock { $0.accountData[type] }.map(Self.encoded) }
        state.withLock { $0.accountData[type] = json }
        return Data("{}".utf8)
    }

    private func backup(_ path: [String], _ request: MatrixRequest, _ json: JSONValue) throws -> Data? {
        guard path[1] == "version" else {
            return request.method == .put
                ? Data(#"{"etag":"1","count":1}"#.utf8) : state.withLock { $0.backedUpKeys }
        }
        guard request.method == .post else { return try backup.map(Self.encoded) }
        var made = json.object ?? [:]
        made.merge(["version": "1", "etag": "1", "count": 0]) { $1 }
        state.withLock { $0.backup = .object(made) }
        return Data(#"{"version":"1"}"#.utf8)
    }
}

/// Other users, and a server's data about them in encoded form.
struct BenchUsers: Sendable {
    /// By user: the members of a `keys/query` response.
    private var known: [String: [String: String]] = [:]
    /// Encoded one-time keys by user ID and device ID.
    private var oneTimeKeys: [String: [String: String]] = [:]
    /// The response to a request for the room's members.
    private(set) var members = Data()

    init() { try? setMembers([]) }

    /// Creates users with this many devices each, all of them confirmed.
    init(_ count: Int, devices: Int) throws {
        var users: [String] = []
        for number in 0..<count {
            let user = "@user\(number):example.org"
            users.append(user)
            try add(user, (0..<devices).map { try TestDevice(ExactText(user), ExactText("DEVICE\($0)")) })
        }
        try setMembers(users)
    }

    mutating func add(_ user: String, _ devices: [TestDevice]) throws {
        let identity = try TestIdentity.answer([TestIdentity(ExactText(user))])
        var members = identity.mapValues { $0[user] ?? .null }
        var lists: [String: JSONValue] = [:]
        for device in devices {
            lists[device.device.text] = try device.json()
            try device.account.generateOneTimeKeys(1)
            guard let key = try device.account.unpublishedOneTimeKeys.first else { continue }
            let account = device.account
            let signed = try SignedJSON.signed(
                ["key": .string("\(key.key)")], by: device.user, keyID: device.device
            ) { try account.sign($0) }
            oneTimeKeys[user, default: [:]][device.device.text] = try Self.text(
                ["signed_curve25519:AAAAAQ": .object(signed)])
        }
        members["device_keys"] = .object(lists)
        known[user] = try members.mapValues { try Self.text($0) }
    }

    mutating func setMembers(_ users: [String]) throws {
        let events = (users + [BenchHomeserver.user]).map { BenchEvents.member($0) }
        members = try BenchHomeserver.encoded(["chunk": .array(events)])
    }

    private static func text(_ value: JSONValue) throws -> String {
        String(decoding: try CanonicalJSON.bytes(of: value), as: UTF8.self)
    }

    func query(_ users: [String], own: [String: JSONValue]) -> Data {
        var members: [String: [String]] = [:]
        for user in users {
            for (member, text) in known[user] ?? [:] { members[member, default: []].append("\"\(user)\":\(text)") }
        }
        for (member, value) in own {
            // The value was parsed, so it can be serialized.
            let text = (try? Self.text(value)) ?? "null"
            members[member, default: []].append("\"\(BenchHomeserver.user)\":\(text)")
        }
        let all = members.map { "\"\($0.key)\":{\($0.value.joined(separator: ","))}" }
        return Data("{\(all.joined(separator: ","))}".utf8)
    }

    func claim(_ requested: [String: JSONValue]) -> Data {
        let users = requested.map { user, devices in
            let keys = (devices.object ?? [:]).keys.compactMap { device in
                oneTimeKeys[user]?[device].map { "\"\(device)\":\($0)" }
            }
            return "\"\(user)\":{\(keys.joined(separator: ","))}"
        }
        return Data(#"{"one_time_keys":{\#(users.joined(separator: ","))}}"#.utf8)
    }
}

/// Events as servers send them.
enum BenchEvents {
    static func event(
        _ id: String, _ type: String, _ content: JSONValue, by sender: String, at time: Int64 = 1_700_000_000_000,
        stateKey: String? = nil
    ) -> JSONValue {
        var members: [String: JSONValue] = [
            "event_id": .string(id), "type": .string(type), "sender": .string(sender),
            "origin_server_ts": .integer(time), "content": content, "unsigned": [:],
        ]
        members["state_key"] = stateKey.map { .string($0) }
        return .object(members)
    }

    static func member(_ user: String) -> JSONValue {
        event(
            "$member\(user)", "m.room.member", ["membership": "join", "displayname": .string(user)], by: user,
            stateKey: user)
    }

    /// The initial state of a room.
    static func state(isEncrypted: Bool, members: [String]) -> [JSONValue] {
        let user = BenchHomeserver.user
        var events = [event("$create", "m.room.create", [:], by: user, stateKey: "")]
        if isEncrypted {
            events.append(
                event(
                    "$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], by: user, stateKey: ""))
        }
        return events + (members + [user]).map { member($0) }
    }

    /// A sync response with these events of rooms.
    static func sync(_ number: Int, _ rooms: [String: [JSONValue]], toDevice: [JSONValue] = []) -> JSONValue {
        [
            "next_batch": .string("s\(number)"),
            // A new device has no keys on the server yet.
            "device_one_time_keys_count": ["signed_curve25519": number == 0 ? 0 : 50],
            "device_unused_fallback_key_types": ["signed_curve25519"],
            "to_device": ["events": .array(toDevice)],
            "rooms": ["join": .object(rooms.mapValues { ["timeline": ["events": .array($0)]] })],
        ]
    }
}
