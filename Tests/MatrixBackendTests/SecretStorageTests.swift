import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// A server with the account data of one user.
final class AccountDataServer: Sendable {
    static let user = MemberID("@me:example.org")
    private let stored = Mutex<[String: JSONValue]>([:])
    private let remaining = Mutex<Int?>(nil)
    private let writes = Mutex<[String]>([])

    var data: [String: JSONValue] {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    /// The written event types, in order.
    var written: [String] { writes.withLock { $0 } }

    /// Makes the server reject all writes after this many; `nil` for no limit.
    func takeWrites(_ count: Int?) { remaining.withLock { $0 = count } }

    var client: MatrixClient {
        FakeTransport.responding { [self] request in answer(request) }.client
    }

    func answer(_ request: MatrixRequest) -> JSONValue? {
        guard let type = request.url.pathComponents.last else { return nil }
        guard request.method == .put else { return data[type] }
        let isAccepted = remaining.withLock { remaining in
            guard let left = remaining else { return true }
            remaining = max(0, left - 1)
            return left > 0
        }
        guard isAccepted else { return ["status": 502] }
        stored.withLock { $0[type] = request.json }
        writes.withLock { $0.append(type) }
        return [:]
    }
}

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SecretStorageTests {
    private let server = AccountDataServer()
    private var storage: SecretStorage { SecretStorage(client: server.client, user: AccountDataServer.user) }

    private static func secrets() throws -> [SecretName: KeyMaterial] {
        try Dictionary(uniqueKeysWithValues: SecretName.allCases.map { ($0, try KeyMaterial()) })
    }

    private func isSame(_ one: [SecretName: KeyMaterial], _ other: [SecretName: KeyMaterial]) -> Bool {
        one.count == other.count && one.allSatisfy { other[$0.key]?.isEqual(to: $0.value) == true }
    }

    @Test("The displayed recovery key opens the stored secrets.") func roundTrip() async throws {
        #expect(try await storage.state() == nil)
        let secrets = try Self.secrets()
        let created = try await storage.create(secrets)
        #expect(created.isFormerKeyRemoved)
        let state = try #require(try await storage.state())
        #expect(state.missing.isEmpty && !state.hasPassphrase && !state.hasOtherKeys && state.malformed.isEmpty)
        let opened = try await storage.open(with: created.recoveryKey.text)
        #expect(isSame(opened.secrets, secrets) && opened.unreadable.isEmpty && opened.key.isEqual(to: created.key))
        // The key is made the default only once it is complete.
        #expect(server.written.last == "m.secret_storage.default_key" && server.written.count == 6)
        #expect(server.written.first == state.key.type)
        let text = server.data.values.compactMap(\.text).joined()
        #expect(!text.contains(created.recoveryKey.text.prefix(9)))
    }

    @Test("A mistyped recovery key is distinguished from a wrong one.") func wrongKeys() async throws {
        let created = try await storage.create(try Self.secrets())
        await #expect(throws: EncryptionError.wrongRecoveryKey) {
            try await storage.open(with: RecoveryKeyCodec.text(of: KeyMaterial()).text)
        }
        for typed in ["", "hello", String(created.recoveryKey.text.dropLast())] {
            await #expect(throws: EncryptionError.malformedRecoveryKey) { try await storage.open(with: typed) }
        }
        server.data = [:]
        await #expect(throws: EncryptionError.noRecovery) { try await storage.open(with: created.recoveryKey.text) }
    }

    @Test("The passphrase and the recovery key open a storage that another client has created.")
    func passphrase() async throws {
        let secrets = try Self.secrets()
        let bytes = try KeyDerivation.pbkdf2SHA512(
            passphrase: "correct horse", salt: Array("salt".utf8), rounds: 100_000, count: 32)
        let key = try KeyMaterial(bytes: bytes)
        var content = try SecretStorageKey(describing: key).content.object ?? [:]
        content["passphrase"] = ["algorithm": "m.pbkdf2", "salt": "salt", "iterations": 100_000]
        server.data = ["m.secret_storage.default_key": ["key": "k"], "m.secret_storage.key.k": .object(content)]
        for (name, secret) in secrets {
            let encrypted = try EncryptedSecret(name, secret, with: key)
            server.data[name.rawValue] = EncryptedSecret.content(["k": encrypted])
        }
        #expect(try await storage.state()?.hasPassphrase == true)
        #expect(isSame(try await storage.open(with: "correct horse").secrets, secrets))
        #expect(isSame(try await storage.open(with: RecoveryKeyCodec.text(of: key).text).secrets, secrets))
        await #expect(throws: EncryptionError.wrongRecoveryKey) { try await storage.open(with: "Correct horse") }
        let mistyped = String(RecoveryKeyCodec.text(of: key).text.dropLast()) + "1"
        await #expect(throws: EncryptionError.malformedRecoveryKey) { try await storage.open(with: mistyped) }
        // A malicious server could require years of computation.
        content["passphrase"] = ["algorithm": "m.pbkdf2", "salt": "salt", "iterations": .integer(.max)]
        server.data["m.secret_storage.key.k"] = .object(content)
        #expect(try await storage.state()?.hasPassphrase == false)
        await #expect(throws: EncryptionError.malformedRecoveryKey) { try await storage.open(with: "correct horse") }
    }

    @Test("Without a key check, decrypting a secret proves the key.") func unproven() async throws {
        let created = try await storage.create(try Self.secrets())
        let type = try #require(try await storage.state()).key.type
        server.data[type] = ["algorithm": "m.secret_storage.v1.aes-hmac-sha2"]
        #expect(try await storage.open(with: created.recoveryKey.text).secrets.count == 4)
        await #expect(throws: EncryptionError.wrongRecoveryKey) {
            try await storage.open(with: RecoveryKeyCodec.text(of: KeyMaterial()).text)
        }
        for name in SecretName.allCases { server.data[name.rawValue] = nil }
        await #expect(throws: EncryptionError.incompleteRecovery) {
            try await storage.open(with: created.recoveryKey.text)
        }
    }

    @Test("A secret that fails authentication is not opened and does not affect the others.")
    func damagedEntry() async throws {
        let created = try await storage.create(try Self.secrets())
        let id = try #require(try await storage.state()).key.id
        // Encrypted with another key, but stored under the ID of this one.
        let foreign = try EncryptedSecret(.backup, KeyMaterial(), with: KeyMaterial())
        server.data[SecretName.backup.rawValue] = EncryptedSecret.content([id: foreign])
        server.data[SecretName.master.rawValue] = ["encrypted": .object([id.text: ["iv": 5]])]
        let state = try #require(try await storage.state())
        #expect(state.malformed == [.master] && state.missing == [.master])
        let opened = try await storage.open(with: created.recoveryKey.text)
        #expect(Set(opened.secrets.keys) == [.selfSigning, .userSigning])
        #expect(opened.unreadable == [.backup, .master])
    }

    @Test("A failed request does not count as a missing storage.") func failures() async throws {
        _ = try await storage.create(try Self.secrets())
        let all = server.data
        for failing in all.keys {
            for answer: JSONValue? in [
                ["status": 502], ["status": 403, "errcode": "M_FORBIDDEN"], ["status": 404],
                ["status": 404, "errcode": "M_UNRECOGNIZED"], ["status": 429, "errcode": "M_LIMIT_EXCEEDED"],
            ] {
                let client = FakeTransport.responding { request in
                    let type = request.url.pathComponents.last ?? ""
                    return type == failing ? answer : all[type]
                }.client
                await #expect(throws: MatrixError.self, "\(failing)") {
                    try await SecretStorage(client: client, user: AccountDataServer.user).state()
                }
            }
        }
    }

    @Test("An unusable storage does not count as a missing one.") func unusable() async throws {
        _ = try await storage.create([:])
        let all = server.data
        let type = try #require(try await storage.state()).key.type
        let id = type.dropFirst("m.secret_storage.key.".count)
        let damaged: [[String: JSONValue?]] = [
            [type: nil], [type: [:]], [type: ["algorithm": "other"]], ["m.secret_storage.default_key": ["key": 5]],
            ["m.secret_storage.default_key": ["key": ""]],
            ["m.secret_storage.default_key": ["key": .string(String(repeating: "x", count: 300))]],
            ["m.secret_storage.default_key": ["key": .string(id + "x")]],
        ]
        for changes in damaged {
            server.data = all
            for (name, value) in changes { server.data[name] = value }
            await #expect(throws: EncryptionError.incompleteRecovery) { try await storage.state() }
        }
        // Clients delete account data by storing an empty object.
        server.data["m.secret_storage.default_key"] = [:]
        #expect(try await storage.state() == nil)
    }

    @Test("A storage whose default key is none is replaced, but not one that cannot be read.") func unusableDefault()
        async throws
    {
        let type = SecretStorageKey.defaultType
        for name: JSONValue in [5, "", .string(String(repeating: "x", count: 300))] {
            server.data = [type: ["key": name]]
            let secrets = try Self.secrets()
            let created = try await storage.create(secrets)
            #expect(isSame(try await storage.open(with: created.recoveryKey.text).secrets, secrets))
            #expect(try await storage.state()?.hasOtherKeys == false)
        }
        let written = Mutex(0)
        let client = FakeTransport.responding { request in
            guard request.method == .put else { return ["status": 502] }
            written.withLock { $0 += 1 }
            return [:]
        }.client
        await #expect(throws: MatrixError.self) {
            try await SecretStorage(client: client, user: AccountDataServer.user).create(Self.secrets())
        }
        let count = written.withLock { $0 }
        #expect(count == 0)
    }

    @Test("If replacing the key is interrupted, one of the two opens all.") func interrupted() async throws {
        let secrets = try Self.secrets()
        let former = try await storage.create(secrets)
        let all = server.data
        var isReplaced = 0
        for count in 0...20 {
            server.data = all
            server.takeWrites(count)
            let created = try? await storage.create(secrets)
            server.takeWrites(nil)
            let shown = created?.recoveryKey ?? former.recoveryKey
            #expect(isSame(try await storage.open(with: shown.text).secrets, secrets), "\(count)")
            guard let created else { continue }
            isReplaced += 1
            #expect(created.isFormerKeyRemoved == (try await storage.state()?.hasOtherKeys == false))
            try await storage.removeOtherKeys()
            #expect(try await storage.state()?.hasOtherKeys == false)
            await #expect(throws: EncryptionError.wrongRecoveryKey) {
                try await storage.open(with: former.recoveryKey.text)
            }
        }
        #expect(isReplaced > 5)
    }

    @Test("A secret is added to a storage with its key only.") func addition() async throws {
        var secrets = try Self.secrets()
        secrets[.backup] = nil
        let created = try await storage.create(secrets)
        #expect(try await storage.state()?.missing == [.backup])
        secrets[.backup] = try KeyMaterial()
        let backup = try #require(secrets[.backup])
        await #expect(throws: EncryptionError.wrongRecoveryKey) {
            try await storage.add(.backup, backup, with: KeyMaterial())
        }
        try await storage.add(.backup, backup, with: created.key)
        #expect(isSame(try await storage.open(with: created.recoveryKey.text).secrets, secrets))
        server.data = [:]
        await #expect(throws: EncryptionError.noRecovery) { try await storage.add(.backup, backup, with: created.key) }
    }
}
