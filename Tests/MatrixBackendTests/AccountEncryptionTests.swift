import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend

/// The keys of an account across restarts, and the requests that upload them.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct AccountEncryptionTests {
    private static let user = MemberID("@me:example.org")
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()

    /// A server that accepts all keys and has no devices.
    private static func server(_ answer: @escaping @Sendable (MatrixRequest) -> JSONValue? = { _ in nil })
        -> FakeHomeserver
    {
        FakeHomeserver { request in
            if let answer = answer(request) { return answer }
            return switch request.url.path {
            case "/_matrix/client/v3/keys/query": ["device_keys": [:]]
            case "/_matrix/client/v3/keys/upload": ["one_time_key_counts": ["signed_curve25519": 25]]
            default: nil
            }
        }
    }

    private func encryption(_ server: FakeHomeserver = Self.server(), token: String? = "secret") throws
        -> AccountEncryption
    {
        let client = MatrixClient(
            server: try #require(URL(string: "https://example.org")), token: token.map { AccessToken($0) },
            transport: server)
        return AccountEncryption(
            user: Self.user, client: client, folder: folder.url, clock: ManualClock(), now: { Fixtures.date })
    }

    /// Repeats a sync until its key count has an effect: the response to an upload may arrive later, and replaces it.
    private static func take(
        _ sync: CryptoSync, in encryption: AccountEncryption, until condition: () -> Bool
    ) async throws {
        var attempt = 0
        while !condition() {
            if attempt.isMultiple(of: 100) { try await encryption.take(sync) }
            attempt += 1
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private var credential: KeyCredential { stored(in: credentials) }

    private func stored(in place: any CredentialStore, others: [any CredentialStore] = []) -> KeyCredential {
        KeyCredential(account: Self.user.rawValue, place: place, others: others)
    }

    /// Opens the keys as at a start, and closes them again.
    private func start(_ device: String = "D", credential: KeyCredential? = nil) async throws -> EncryptionCondition {
        let encryption = try encryption(token: nil)
        await encryption.open(device: device, credential: credential ?? self.credential)
        let condition = encryption.condition
        await encryption.close()
        return condition
    }

    @Test("The records of a repaired file are outdated once, even if the process ends before that is stored")
    func repairIsOver() async throws {
        #expect(try await start() == .on)
        try KeyStore.repair(in: folder.url)
        let key = CryptoRecord.Key(.outboundGroupSession, owner: "!r:b", id: "s")
        for isLeft in [false, true] {
            let store = try KeyStore(folder: folder.url, isNew: false)
            #expect(try await store.wasRepaired() != isLeft)
            // Unreadable, but nothing reads it.
            try await store.commit(CryptoChange(put: [CryptoRecord(key, value: Data("x".utf8))]))
            try await store.close()
            #expect(try await start() == .on)
            let after = try KeyStore(folder: folder.url, isNew: false)
            #expect(try await (after.cryptoRecord(key) != nil) == isLeft)
            try await after.close()
        }
    }

    private var file: URL { folder.path("keys.sqlite") }
    private var files: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path)) }
    }

    @Test func keysAreMadeOnceAndUploaded() async throws {
        let server = Self.server()
        let encryption = try encryption(server)
        await encryption.open(device: "D", credential: credential)
        #expect(encryption.condition == .on)
        try await server.receives("/keys/upload")
        #expect(server.paths == ["/_matrix/client/v3/keys/query", "/_matrix/client/v3/keys/upload"])
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 0]
        // The second upload shows that the response to the first was processed.
        try await Self.take(sync, in: encryption) { server.paths.count >= 3 }
        await encryption.close()
        let again = Self.server()
        let later = try self.encryption(again)
        await later.open(device: "D", credential: credential)
        #expect(later.condition == .on)
        try await later.take(sync)
        try await again.receives("/keys/upload")
        let body = try #require(again.requests.last { $0.url.path.hasSuffix("/keys/upload") }?.json)
        #expect(body["device_keys"] == nil && body["one_time_keys"]?.object?.count == 25)
        await later.close()
    }

    @Test func withoutASessionNothingIsAsked() async throws {
        let server = Self.server()
        let encryption = try encryption(server, token: nil)
        await encryption.open(device: "D", credential: credential)
        try await encryption.take(CryptoSync(kind: .sliding))
        #expect(server.paths.isEmpty)
        await encryption.close()
    }

    // MARK: What cannot be opened

    @Test func aMissingFileIsAStateAndNoNewDevice() async throws {
        #expect(try await start() == .on)
        try FileManager.default.removeItem(at: file)
        #expect(try await start() == .off(.missing))
        #expect(try await start() == .off(.missing))
        #expect(try !files.contains("keys.sqlite"))
    }

    @Test func aLostCredentialIsAStateAndNothingIsDeleted() async throws {
        #expect(try await start() == .on)
        let before = try Data(contentsOf: file)
        let lost = stored(in: MemoryCredentialStore())
        #expect(try await start(credential: lost) == .off(.credentialLost))
        #expect(try Data(contentsOf: file) == before)
        // No new credential is created, either.
        #expect(try await start(credential: lost) == .off(.credentialLost))
        let other = MemoryCredentialStore()
        await other.store(AccountCredential("not a key"), of: KeyCredential.name(of: Self.user.rawValue))
        #expect(try await start(credential: stored(in: other)) == .off(.credentialLost))
        _ = try await stored(in: other).make()
        #expect(try await start(credential: stored(in: other)) == .off(.credentialLost))
        #expect(try await start() == .on)
    }

    @Test func aLockedKeyringIsAStateUntilItOpens() async throws {
        #expect(try await start() == .on)
        let locked = LockedStore()
        #expect(
            try await start(credential: stored(in: locked)) == .off(.locked(.locked)))
        // The credential is not where the user has chosen since, but in another place.
        let moved = stored(in: MemoryCredentialStore(), others: [locked, credentials])
        #expect(try await start(credential: moved) == .on)
        #expect(try await start(credential: moved) == .on)
    }

    @Test("The credential moves to the place that the user has chosen, and an interrupted move goes on")
    func movedCredential() async throws {
        #expect(try await start() == .on)
        let name = KeyCredential.name(of: Self.user.rawValue)
        let original = try #require(await credentials.credential(of: name))
        let keyring = FakeCredentialStore()
        #expect(try await start(credential: stored(in: keyring, others: [credentials])) == .on)
        #expect(await credentials.credential(of: name) == nil)
        #expect(await keyring.credentials[name]?.value == original.value)
        // The process ended between both.
        await credentials.store(original, of: name)
        #expect(try await start(credential: stored(in: keyring, others: [credentials])) == .on)
        #expect(await credentials.credential(of: name) == nil)
        #expect(try await start(credential: stored(in: keyring)) == .on)

        // A keyring from which nothing has to be moved is left alone.
        await credentials.store(original, of: name)
        let lookups = await keyring.lookups
        #expect(try await start(credential: stored(in: credentials, others: [keyring])) == .on)
        #expect(await keyring.lookups == lookups)
    }

    @Test("A credential that the chosen place does not store, or that opens nothing, stays where it is")
    func unmovedCredential() async throws {
        #expect(try await start() == .on)
        let name = KeyCredential.name(of: Self.user.rawValue)
        let locked = KeyCredential(
            account: Self.user.rawValue, place: FakeCredentialStore(failure: .locked), others: [credentials])
        #expect(try await start(credential: locked) == .on)
        #expect(await credentials.credential(of: name) != nil)

        let (wrong, place) = (MemoryCredentialStore(), MemoryCredentialStore())
        _ = try await stored(in: wrong).make()
        #expect(try await start(credential: stored(in: place, others: [wrong])) == .off(.credentialLost))
        #expect(await wrong.credential(of: name) != nil)
        #expect(await place.credential(of: name) == nil)
    }

    @Test func aDamagedFileIsRepairedOrLeftAsItIs() async throws {
        #expect(try await start() == .on)
        try Data(repeating: 0x55, count: 20_000).write(to: file)
        guard case .off(.damaged) = try await start() else { return #expect(Bool(false)) }
        #expect(try files.contains { $0.hasPrefix("keys.sqlite-damaged-") })
    }

    @Test func anotherDeviceOfTheSameUserGoesOnWithTheCredential() async throws {
        #expect(try await start("D") == .on)
        #expect(try await start("E") == .on)
        #expect(try files.filter { $0.hasPrefix("keys.sqlite-earlier") }.isEmpty)
        // Without the credential, the old keys remain next to the new ones.
        let lost = stored(in: MemoryCredentialStore())
        #expect(try await start("E", credential: lost) == .off(.credentialLost))
        #expect(try await start("F", credential: lost) == .on)
        #expect(try files.filter { $0.hasPrefix("keys.sqlite-earlier") }.count == 1)
        #expect(try await start("F", credential: lost) == .on)
        #expect(try await start("") == .off(.noDevice))
    }

    @Test("An error or a backup of keys that were opened anew since does not concern the present ones")
    func formerKeys() async throws {
        let encryption = try encryption(token: nil)
        await encryption.open(device: "D", credential: credential)
        let former = try #require(await encryption.machine)
        await encryption.open(device: "D", credential: credential)
        let present = try #require(await encryption.machine)
        #expect(present !== former)
        await #expect(throws: RatchetError.pickle) { try await encryption.end(for: RatchetError.pickle, of: former) }
        #expect(encryption.condition == .on)
        let client = MatrixClient(
            server: try #require(URL(string: "https://example.org")), token: nil, transport: Self.server())
        let backup = KeyBackup(
            user: Self.user, machine: former, client: client, folder: folder.url, clock: ManualClock(),
            now: { Fixtures.date },
            hooks: KeyBackup.Hooks(sign: { $0 }, isTrusted: { _ in false }, didImport: { _ in }))
        await encryption.attach(backup)
        let isAttached = await encryption.backup != nil
        #expect(!isAttached)
        try await encryption.end(for: KeyUpkeep.Failure.rejected(.pickle), of: present)
        #expect(encryption.condition == .off(.credentialLost))
        await encryption.close()
    }

    @Test("Only the record of the account itself says that its credential is lost")
    func undecryptedRecords() async throws {
        let cases: [(error: any Error, problem: EncryptionCondition.Problem)] = [
            (RatchetError.pickle, .damaged(reason: "RatchetError")),
            (KeyUpkeep.Failure.rejected(.mac), .damaged(reason: "Failure")),
            (KeyUpkeep.Failure.rejected(.pickle), .credentialLost),
        ]
        for (error, problem) in cases {
            let encryption = try encryption(token: nil)
            await encryption.open(device: "D", credential: credential)
            let machine = try #require(await encryption.machine)
            try await encryption.end(for: error, of: machine)
            #expect(encryption.condition == .off(problem))
            await encryption.close()
        }
    }

    @Test("Keys are not opened after the account was closed")
    func openingAfterClosing() async throws {
        let encryption = try encryption(token: nil)
        await encryption.close()
        await encryption.open(device: "D", credential: credential)
        let isOpen = await encryption.machine != nil
        #expect(!isOpen)
        #expect(try !files.contains("keys.sqlite"))
    }

    @Test func keysOfAnotherProgramAreLeftAlone() async throws {
        let server = Self.server { request in
            request.url.path.hasSuffix("/keys/query")
                ? ["device_keys": ["@me:example.org": ["D": ["keys": ["ed25519:D": "other"]]]]] : nil
        }
        let encryption = try encryption(server)
        let conditions = encryption.conditionChanges()
        await encryption.open(device: "D", credential: credential)
        for await condition in conditions where condition == .off(.replaced) { break }
        // The messages to the device are the other program's: acknowledging them would delete them.
        let transport = FakeTransport(200, #"{"pos":"1"}"#)
        let sync = SlidingSync(client: transport.client, crypto: try await encryption.position())
        try await encryption.take(try await sync.next(after: "20:0", wait: .zero))
        let extensions = try #require(transport.requests.last?.json?["extensions"])
        #expect(extensions["to_device"] == nil && extensions["e2ee"] == nil)
        // Nor does such a sync make all devices outdated.
        #expect(await encryption.makeAllRequests())
        #expect(server.paths == ["/_matrix/client/v3/keys/query"])
        await encryption.close()
        let later = try self.encryption(token: nil)
        await later.open(device: "D", credential: credential)
        #expect(later.condition == .off(.replaced))
        #expect(try await later.position() == nil)
        await later.close()
    }

    @Test func anUploadThatIsRefusedIsNotRepeated() async throws {
        let server = Self.server { request in
            guard request.url.path.hasSuffix("/keys/upload"), request.json?["one_time_keys"] != nil else { return nil }
            return ["errcode": "M_UNKNOWN", "error": "already exists", "status": 400]
        }
        let client = MatrixClient(
            server: try #require(URL(string: "https://example.org")), token: AccessToken("secret"), transport: server)
        let clock = ManualClock()
        let encryption = AccountEncryption(
            user: Self.user, client: client, folder: folder.url, clock: clock, now: { Fixtures.date })
        await encryption.open(device: "D", credential: credential)
        try await server.receives("/keys/upload")
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 0]
        func uploads() -> [JSONValue] {
            server.requests.filter { $0.url.path.hasSuffix("/keys/upload") }.compactMap { $0.json?["one_time_keys"] }
        }
        try await Self.take(sync, in: encryption) { !uploads().isEmpty }
        // Until a sync reports the number of keys on the server, nothing else is uploaded.
        sync.keyCounts = ["signed_curve25519": 1]
        while uploads().count < 2 {
            // Repeat the sync: the first may be processed before the rejection.
            try await encryption.take(sync)
            clock.advance(by: .seconds(60))
            try await Task.sleep(for: .milliseconds(5))
        }
        let names = uploads().map { Set(($0.object ?? [:]).keys) }
        #expect(names[0].isDisjoint(with: names[1]))
        await encryption.close()
    }

    // MARK: Syncs

    @Test func aSlidingSyncAsksForWhatIsNotStored() async throws {
        let transport = FakeTransport(
            200,
            """
            {"pos":"1","extensions":{"to_device":{"next_batch":"9","events":[{"type":"m.dummy"}]},"e2ee":{
            "device_lists":{"changed":["@a:b",5],"left":["@c:b"]},"device_one_time_keys_count":{"signed_curve25519":7},
            "device_unused_fallback_key_types":["signed_curve25519"]}}}
            """)
        let update = try await SlidingSync(
            client: transport.client, crypto: AccountEncryption.Position(since: "8")
        ).next(after: "20:0", wait: .zero)
        let asked = transport.requests.last?.json?["extensions"]
        #expect(asked?["to_device"] == ["enabled": true, "limit": 100, "since": "8"])
        #expect(asked?["e2ee"] == ["enabled": true])
        var expected = CryptoSync(kind: .sliding)
        expected.events = [["type": "m.dummy"]]
        expected.position = "9"
        (expected.changed, expected.left) = (["@a:b"], ["@c:b"])
        expected.keyCounts = ["signed_curve25519": 7]
        expected.unusedFallbackKeys = ["signed_curve25519"]
        #expect(update.crypto == expected)
        var smallest = SyncWindow()
        while smallest.shrink() {}
        let full = try await SlidingSync(
            client: transport.client, window: smallest, crypto: AccountEncryption.Position(since: "8")
        ).next(after: "20:0", wait: .zero)
        #expect(full.crypto?.isFull == true)
        // Without keys, the request omits the encryption extensions, so that the server retains to-device messages.
        let without = try await SlidingSync(client: transport.client).next(after: "20:0", wait: .zero)
        let extensions = transport.requests.last?.json?["extensions"]
        #expect(without.crypto == nil && extensions?["to_device"] == nil && extensions?["e2ee"] == nil)
    }

    @Test func aPlainSyncSaysTheSame() throws {
        let update = try PlainSync.read(
            [
                "next_batch": "s", "to_device": ["events": [["type": "m.dummy"]]],
                "device_lists": ["changed": ["@a:b"], "left": ["@c:b", .null]],
                "device_one_time_keys_count": ["signed_curve25519": 7], "device_unused_fallback_key_types": [],
            ], since: nil)
        var expected = CryptoSync(kind: .plain)
        expected.events = [["type": "m.dummy"]]
        (expected.changed, expected.left) = (["@a:b"], ["@c:b"])
        expected.keyCounts = ["signed_curve25519": 7]
        expected.unusedFallbackKeys = []
        expected.isWhole = true
        #expect(update.crypto == expected)
        for odd: JSONValue in [.null, 5, "x", [5], ["events": 5, "changed": "x"]] {
            let update = try PlainSync.read(
                [
                    "next_batch": "s", "to_device": odd, "device_lists": odd, "device_one_time_keys_count": odd,
                    "device_unused_fallback_key_types": odd,
                ], since: "t")
            #expect(update.crypto?.events == [] && update.crypto?.changed == [])
        }
    }

    /// A sync token acknowledges the to-device messages of the response: it is stored after them, or not at all.
    @Test func theTokenIsStoredAfterWhatItBrought() async throws {
        let server = Self.server()
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await MatrixBackend.start(
            over: store, server: try #require(URL(string: "https://example.org")), ownUserID: Self.user, token: nil,
            hasSlidingSync: false, transport: server, clock: ManualClock())
        await backend.openKeys(of: "D", credential: credential)
        #expect(backend.keys.condition == .on)
        await backend.resume(with: AccessToken("secret"))
        server.sync(["next_batch": "s1", "device_one_time_keys_count": ["signed_curve25519": 0]])
        try await server.waitUntilConsumed()
        try await server.receives("/keys/upload")
        // A record becomes unreadable during use: encryption is turned off, and the sync continues.
        let names: [String] = server.requests.compactMap { request in
            request.json?["device_keys"]?["keys"]?["curve25519:D"]?.string
        }
        let own = try #require(names.last)
        let sender = "\(try OlmAccount().identityKey)"
        // Nothing writes the account meanwhile.
        _ = await backend.keys.makeAllRequests()
        let other = try KeyStore(folder: folder.path("store"), isNew: false)
        let key = CryptoRecord.Key(.account, id: "keys")
        try await other.commit(CryptoChange(put: [CryptoRecord(key, value: Data("damaged".utf8))]))
        try await other.close()
        // A change that fails has the machine read its records again.
        let machine = try #require(await backend.keys.machine)
        await #expect(throws: CryptoMachine.VerificationFailure.noDevice) {
            try await machine.verifyDevice(nil, at: Fixtures.date)
        }
        server.sync([
            "next_batch": "s2",
            "to_device": [
                "events": [
                    [
                        "type": "m.room.encrypted", "sender": "@a:b",
                        "content": [
                            "algorithm": "m.olm.v1.curve25519-aes-sha2", "sender_key": .string(sender),
                            "ciphertext": .object([own: ["type": 0, "body": "AAAA"]]),
                        ],
                    ]
                ]
            ],
        ])
        try await server.waitUntilConsumed()
        #expect(try await store.setting("matrix.sync.plain") == "s2")
        #expect(backend.keys.condition.problem != nil)
        await backend.close()
        await store.close()
    }
}

/// A keyring that the user does not unlock.
private struct LockedStore: CredentialStore {
    func credential(of account: String) async throws -> AccountCredential? { throw CredentialStoreError.locked }
    func store(_ credential: AccountCredential, of account: String) async throws { throw CredentialStoreError.locked }
    func removeCredential(of account: String) async throws { throw CredentialStoreError.locked }
}
