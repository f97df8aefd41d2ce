import ChatCore
import CryptoTestSupport
import Foundation
public import Fuzzing
import JSONReading
import MatrixBackend
import MatrixCrypto
import Ratchets
import Synchronization

/// What a server says of an account's secret storage and backup: account data, the version of a backup, and all its keys.
public struct AccountDataFuzz: CryptoFuzz {
    private static let user = MemberID("@me:b")

    private let server = AccountServer()
    private let client: MatrixClient
    private let storage: SecretStorage
    private let key: KeyMaterial
    private let secrets: [SecretName: KeyMaterial]
    private let id: ExactText
    private let accountData: [String: JSONValue]
    /// The bodies of the responses with them.
    private let bodies: [String: Data]
    private let backupKey: BackupKey
    private let version: JSONValue
    private let backup: JSONValue
    private let damage: JSONDamage

    public init() async throws {
        guard let url = URL(string: "https://b") else { throw RatchetError.argument }
        client = MatrixClient(server: url, token: AccessToken("token"), transport: server)
        storage = SecretStorage(client: client, user: Self.user)
        key = try KeyMaterial()
        let (other, described) = (try KeyMaterial(), try SecretStorageKey(describing: key))
        id = described.id
        var secrets: [SecretName: KeyMaterial] = [:]
        var documents = [
            SecretStorageKey.defaultType: ["key": .string(described.id.text)], described.type: described.content,
        ]
        for name in SecretName.allCases {
            let secret = try KeyMaterial()
            secrets[name] = secret
            documents[name.rawValue] = EncryptedSecret.content([
                described.id: try EncryptedSecret(name, secret, with: key),
                "other": try EncryptedSecret(name, secret, with: other),
            ])
        }
        (self.secrets, accountData) = (secrets, documents)
        bodies = documents.mapValues { AccountServer.body(of: $0) }
        backupKey = try BackupKey(KeyMaterial())
        version = [
            "algorithm": "m.megolm_backup.v1.curve25519-aes-sha2", "version": "1", "etag": "0", "count": 3,
            "auth_data": ["public_key": .string("\(backupKey.publicKey)"), "signatures": [:]],
        ]
        let device = try TestDevice("@a:b", "ONE")
        var sessions: [String: JSONValue] = [:]
        for _ in 0..<2 {
            let (id, json) = try BackupFuzz.session(of: device)
            sessions[id] = try BackupFuzz.record(json, for: backupKey.publicKey)
        }
        backup = ["rooms": ["!r:b": ["sessions": .object(sessions)], "!s:b": ["sessions": .object(sessions)]]]
        damage = JSONDamage(
            Array(sessions.keys) + Array(documents.keys) + [
                described.id.text, "other", "key", "encrypted", "iv", "mac", "ciphertext", "passphrase", "algorithm",
                "rooms", "sessions", "!r:b", "session_data", "public_key", "auth_data", "version", "count",
                "\(backupKey.publicKey)",
            ])
    }

    public mutating func violation(of input: inout FuzzInput) async throws -> String? {
        switch input.number(below: 3) {
        case 0: try await storageViolation(&input)
        case 1: try await versionViolation(&input)
        default: try backupViolation(&input)
        }
    }

    // MARK: The secret storage

    private func storageViolation(_ input: inout FuzzInput) async throws -> String? {
        let name = input.choice(of: accountData.keys.sorted())
        var documents = accountData
        documents[name] = damage.applied(to: documents[name] ?? .null, by: &input)
        let isWhole = documents == accountData
        var answers = bodies
        answers[name] = documents[name].map { AccountServer.body(of: $0) }
        server.answer { [answers] path in answers[path.last ?? ""] }
        do {
            guard let state = try await storage.state() else { return isWhole ? "a storage is not found" : nil }
            let opened = try SecretStorage.open(state, with: key)
            for (name, secret) in opened.secrets where secrets[name]?.isEqual(to: secret) != true {
                return "\(name) is another"
            }
            if isWhole, opened.secrets.count < secrets.count || !opened.unreadable.isEmpty { return "a secret is lost" }
        } catch is EncryptionError {
            if isWhole { return "a storage is refused" }
        } catch is MatrixError {
            // What was no JSON.
            return nil
        }
        // Another default key has others beside it.
        let isSameKey = documents[SecretStorageKey.defaultType] == accountData[SecretStorageKey.defaultType]
        return isSameKey ? try await removalViolation() : nil
    }

    /// What the key opens stays when what other keys open is removed.
    private func removalViolation() async throws -> String? {
        try await storage.removeOtherKeys()
        for (path, content) in server.takeWritten() {
            guard let name = path.last.flatMap(SecretName.init(rawValue:)),
                case .encrypted(let secret) = EncryptedSecret.entry(in: content, for: id),
                // One that was damaged before stays so.
                (try? secret.secret(name, with: key)).map({ secrets[name]?.isEqual(to: $0) == true }) ?? true
            else { return "\(path) is written over" }
        }
        return nil
    }

    // MARK: The backup

    private func versionViolation(_ input: inout FuzzInput) async throws -> String? {
        let json = damage.applied(to: version, by: &input)
        let body = AccountServer.body(of: json)
        server.answer { _ in body }
        let listed: ListedBackup?
        do {
            listed = try await client.keyBackup()
        } catch is MatrixError {
            return json == version ? "a backup is refused" : nil
        }
        guard let listed else { return "a backup is taken for none" }
        if listed.version.isEmpty || listed.version.utf8.count > 255 { return "a version is '\(listed.version)'" }
        if listed.count ?? 0 < 0 { return "there are \(listed.count ?? 0) keys" }
        if let publicKey = listed.publicKey, json["auth_data"]?["public_key"]?.string == nil {
            return "\(publicKey) is nobody's"
        }
        return json == version && (listed.publicKey != backupKey.publicKey || listed.count != 3)
            ? "a backup is another" : nil
    }

    /// What is read piece by piece is what is read at once.
    private func backupViolation(_ input: inout FuzzInput) throws -> String? {
        let room: ExactText? = input.flag() ? "!r:b" : nil
        let segments = 1 + Int(input.byte())
        let whole = room == nil ? backup : backup["rooms"]?["!r:b"] ?? .null
        let json = damage.applied(to: whole, by: &input)
        guard let bytes = try? CanonicalJSON.bytes(of: json) else { return nil }
        let reader = BackupReader(key: backupKey, room: room)
        let stream = JSONStream(receiver: reader)
        var sessions: [ExportedSession] = []
        do {
            for start in stride(from: 0, to: bytes.count, by: max(1, bytes.count / segments)) {
                try stream.feed(Data(bytes[start..<min(bytes.count, start + max(1, bytes.count / segments))]))
                sessions += reader.takeSessions()
            }
            try stream.finish()
            sessions += reader.takeSessions()
        } catch {
            // Too deep, or no list: it is refused as a whole.
            return json == whole ? "a backup is refused: \(error)" : nil
        }
        let rooms = room == nil ? json["rooms"]?.object ?? [:] : ["!r:b": json]
        var (expected, rejected): ([ExportedSession], Int) = ([], 0)
        for (room, value) in rooms {
            for (id, record) in value["sessions"]?.object ?? [:] {
                if let one = try? ExportedSession(
                    backedUp: record, room: ExactText(room), id: ExactText(id), key: backupKey)
                {
                    expected.append(one)
                } else {
                    rejected += 1
                }
            }
        }
        func order(_ one: ExportedSession, _ other: ExportedSession) -> Bool {
            (one.room, one.id) < (other.room, other.id)
        }
        return sessions.sorted(by: order) == expected.sorted(by: order) && reader.rejected == rejected
            ? nil
            : "\(sessions.count) of \(expected.count) sessions are read, \(reader.rejected) of \(rejected) rejected"
    }
}

/// A server that answers with what it is told.
private final class AccountServer: MatrixTransport {
    private struct State {
        var answer: @Sendable ([String]) -> Data? = { _ in nil }
        var written: [(path: [String], content: JSONValue)] = []
    }

    private let state = Mutex(State())

    /// Returns the body of a response. What has no canonical form is sent as what is no JSON.
    static func body(of json: JSONValue) -> Data {
        (try? CanonicalJSON.bytes(of: json)).map { Data($0) } ?? Data("x".utf8)
    }

    func answer(_ answer: @escaping @Sendable ([String]) -> Data?) {
        state.withLock { $0 = State(answer: answer) }
    }

    func takeWritten() -> [(path: [String], content: JSONValue)] {
        state.withLock { state in
            defer { state.written = [] }
            return state.written
        }
    }

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        let path = request.url.path.split(separator: "/").map(String.init)
        if request.method == .put, case .json(let body) = request.body {
            let content = try JSONValue(parsing: body)
            state.withLock { $0.written.append((path, content)) }
            return MatrixResponse(status: 200, body: Data("{}".utf8))
        }
        let answer = state.withLock { $0.answer }
        guard let body = answer(path) else {
            return MatrixResponse(status: 404, body: Data(#"{"errcode":"M_NOT_FOUND"}"#.utf8))
        }
        return MatrixResponse(status: 200, body: body)
    }
}
