import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization
import Testing

@testable import MatrixBackend

/// A server with any number of room key backups.
final class BackupServer: MatrixTransport {
    private struct State {
        var backups: [(version: String, authData: JSONValue)] = []
        /// The keys of all backups, by version, room and session.
        var keys: [String: [String: [String: JSONValue]]] = [:]
        var accountData: [String: JSONValue] = [:]
        var last = 0
        var requests: [MatrixRequest] = []
        var failures: [Failure] = []
    }

    /// A failure of the next requests whose path contains a text.
    struct Failure: Sendable {
        let method: MatrixRequest.Method
        let path: String
        var answer: JSONValue = ["status": 502]
        /// Whether the server performs the request nevertheless.
        var arrives = false
        var count = 1
        /// How long the response takes.
        var delay = Duration.zero
    }

    private let state = Mutex(State())

    var client: MatrixClient {
        MatrixClient(server: URL(string: "https://example.org")!, token: AccessToken("secret"), transport: self)
    }

    var requests: [MatrixRequest] { state.withLock { $0.requests } }
    var uploads: [MatrixRequest] { requests.filter { $0.method == .put && $0.url.path.hasSuffix("/room_keys/keys") } }
    var accountData: [String: JSONValue] { state.withLock { $0.accountData } }
    var versions: [String] { state.withLock { $0.backups.map(\.version) } }

    func fail(_ failure: Failure) { state.withLock { $0.failures.append(failure) } }

    @discardableResult
    func add(_ key: BackupKey, signed: Bool = false) -> String {
        add(["public_key": .string("\(key.publicKey)"), "signatures": signed ? ["x": "y"] : [:]])
    }

    private func add(_ authData: JSONValue) -> String {
        state.withLock { state in
            state.last += 1
            state.backups.append(("\(state.last)", authData))
            return "\(state.last)"
        }
    }

    func keys(_ version: String) -> [String: [String: JSONValue]] { state.withLock { $0.keys[version] ?? [:] } }
    func count(_ version: String) -> Int { keys(version).values.map(\.count).reduce(0, +) }
    func set(_ key: JSONValue, _ version: String, _ room: String, _ session: String) {
        state.withLock { $0.keys[version, default: [:]][room, default: [:]][session] = key }
    }
    /// Adds a session, as if backed up by another device.
    func add(_ session: ExportedSession, _ version: String, _ key: BackupKey) throws {
        let data = try BackedUpData(Array(session.json.encoded()), for: key.publicKey)
        let entry: JSONValue = [
            "first_message_index": 0, "forwarded_count": 0, "is_verified": false,
            "session_data": [
                "ephemeral": .string("\(data.ephemeralKey)"), "mac": .string(Base64.encoded(data.mac)),
                "ciphertext": .string(Base64.encoded(data.ciphertext)),
            ],
        ]
        set(entry, version, session.room.text, session.id.text)
    }
    func removeAll() { state.withLock { $0.backups = [] } }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        let failure: Failure? = state.withLock { state in
            state.requests.append(request)
            let path = request.url.path
            guard
                let index = state.failures.firstIndex(where: {
                    $0.method == request.method && path.contains($0.path)
                })
            else { return nil }
            state.failures[index].count -= 1
            defer { if state.failures[index].count == 0 { state.failures.remove(at: index) } }
            return state.failures[index]
        }
        var answer = failure?.answer
        if failure?.arrives ?? true {
            let real = take(request)
            if failure == nil { answer = real }
        }
        if let delay = failure?.delay, delay > .zero { try await Task.sleep(for: delay) }
        let found = answer ?? ["status": 404, "errcode": "M_NOT_FOUND"]
        if found["limit"] != nil { throw TransportError.tooLarge(limit: request.limit) }
        let status = found["status"]?.integer.map { Int($0) } ?? 200
        var body = try found.encoded()
        if let text = found["raw"]?.string { body = Data(text.utf8) }
        if case .file(let file) = request.destination, status == 200 {
            try body.write(to: file)
            body = Data()
        }
        return MatrixResponse(status: status, body: body)
    }

    /// `nil` for a request that has nothing to do with backups.
    func answer(_ request: MatrixRequest) -> JSONValue? {
        request.url.path.contains("/room_keys/") ? take(request) : nil
    }

    private func take(_ request: MatrixRequest) -> JSONValue? {
        // Identifiers contain slashes, which are percent-encoded.
        let path = request.url.absoluteString.split(separator: "?")[0].split(separator: "/")
            .map { $0.removingPercentEncoding ?? "" }
        if path.contains("account_data") {
            return state.withLock { state in
                guard request.method == .put else { return state.accountData[path.last ?? ""] }
                state.accountData[path.last ?? ""] = request.json
                return [:]
            }
        }
        guard let index = path.firstIndex(of: "room_keys") else { return nil }
        let rest = Array(path[(index + 1)...])
        if rest[0] == "version" { return takeVersion(request, rest) }
        let version =
            URLComponents(url: request.url, resolvingAgainstBaseURL: false)?
            .queryItems?.first { $0.name == "version" }?.value ?? ""
        return takeKeys(request, Array(rest.dropFirst()), version)
    }

    private func takeVersion(_ request: MatrixRequest, _ path: [String]) -> JSONValue? {
        switch request.method {
        case .post: return ["version": .string(add(request.json?["auth_data"] ?? [:]))]
        case .delete:
            return state.withLock { state in
                state.backups.removeAll { $0.version == path.last }
                state.keys[path.last ?? ""] = nil
                return [:]
            }
        default:
            return state.withLock { state in
                state.backups.last.map { backup in
                    [
                        "version": .string(backup.version), "algorithm": .string(ListedBackup.algorithm),
                        "auth_data": backup.authData, "etag": "1",
                        "count": .integer(Int64((state.keys[backup.version] ?? [:]).values.map(\.count).reduce(0, +))),
                    ]
                }
            }
        }
    }

    private func takeKeys(_ request: MatrixRequest, _ path: [String], _ version: String) -> JSONValue? {
        state.withLock { state in
            guard state.backups.contains(where: { $0.version == version }) else { return nil }
            guard request.method == .put else {
                let rooms = state.keys[version] ?? [:]
                switch path.count {
                case 0: return ["rooms": .object(rooms.mapValues { ["sessions": .object($0)] })]
                case 1: return ["sessions": .object(rooms[path[0]] ?? [:])]
                default: return rooms[path[0]]?[path[1]]
                }
            }
            guard state.backups.last?.version == version else {
                return [
                    "status": 403, "errcode": "M_WRONG_ROOM_KEYS_VERSION",
                    "current_version": .string(state.backups.last?.version ?? ""),
                ]
            }
            for (room, value) in request.json?["rooms"]?.object ?? [:] {
                state.keys[version, default: [:]][room, default: [:]]
                    .merge(value["sessions"]?.object ?? [:]) { $1 }
            }
            return ["etag": "2", "count": 0]
        }
    }
}

/// A device whose keys are backed up to a ``BackupServer``.
final class BackedUpDevice: Sendable {
    static let user = MemberID("@me:example.org")
    let server: BackupServer
    let machine: CryptoMachine
    let backup: KeyBackup
    let clock: ManualClock
    let store: KeyStore
    private let time = MutexBox(Fixtures.date)
    private let imported = MutexBox<[Set<SessionID>]>([])
    private let folder: TemporaryFolder
    private let key: KeyMaterial

    var arrivals: [Set<SessionID>] { imported.lock.withLock { $0 } }

    init(_ server: BackupServer, restarting other: BackedUpDevice? = nil) async throws {
        let folder = other?.folder ?? TemporaryFolder()
        let key = try other?.key ?? KeyMaterial()
        let user = ExactText(Self.user.rawValue)
        let store = try other?.store ?? KeyStore(folder: folder.url, isNew: true)
        if other == nil { try await CryptoMachine.begin(user: user, device: "D", in: store, key: key) }
        let machine = try await CryptoMachine(user: user, device: "D", storage: store, key: key)
        let clock = ManualClock()
        (self.server, self.folder, self.key, self.store, self.machine, self.clock) =
            (server, folder, key, store, machine, clock)
        backup = KeyBackup(
            user: Self.user, machine: machine, client: server.client, folder: folder.url, clock: clock,
            now: { [time] in time.lock.withLock { $0 } },
            hooks: KeyBackup.Hooks(
                sign: { $0.merging(["signatures": ["@me:example.org": ["ed25519:D": "signed"]]]) { $1 } },
                isTrusted: { $0["signatures"]?["x"] == "y" },
                didImport: { [imported] sessions in imported.lock.withLock { $0.append(sessions) } }))
    }

    /// Advances the time and the clock of sleeping tasks.
    func pass(_ seconds: Int) {
        time.lock.withLock { $0 += TimeInterval(seconds) }
        clock.advance(by: .seconds(seconds))
    }

    @discardableResult
    func reaches(_ condition: (KeyBackup.Standing) -> Bool) async -> KeyBackup.Standing? {
        for await standing in backup.standings() where condition(standing) { return standing }
        return nil
    }

    /// Waits until all keys are backed up and restored.
    func isComplete() async { await reaches { $0.backup == .on(remaining: 0) && $0.restore == nil } }

    /// Creates sessions and imports them into the device.
    @discardableResult
    func addSessions(_ count: Int) async throws -> [ExportedSession] {
        let sessions = try Self.sessions(count)
        _ = try await machine.imported(sessions)
        return sessions
    }

    static func exported(
        _ session: InboundGroupSession, in room: String, by sender: Curve25519Key
    ) throws -> ExportedSession {
        try ExportedSession([
            "algorithm": "m.megolm.v1.aes-sha2", "room_id": .string(room), "session_id": .string(try session.id),
            "sender_key": .string("\(sender)"),
            "session_key": .string(Base64.encoded(try session.exported(at: session.firstKnownIndex))),
        ])
    }

    static func sessions(_ count: Int) throws -> [ExportedSession] {
        let sender = try OlmAccount().identityKey
        return try (0..<count).map { number in
            let out = try OutboundGroupSession()
            let session = try InboundGroupSession(sessionKey: out.sessionKey)
            return try exported(session, in: "!\(number % 5):example.org", by: sender)
        }
    }
}

/// A lock that closures can share.
final class MutexBox<Value: Sendable>: Sendable {
    let lock: Mutex<Value>
    init(_ value: Value) { lock = Mutex(value) }
}
