import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// Secrets that come from other devices through Olm, or that the user opens.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SecretSharingTests {
    private let user: ExactText = "@me:b"

    /// A device with only the self-signing key.
    private struct Asking {
        let fixture: MachineFixture
        /// Another confirmed device of the user.
        let peer: TestPeer
        /// A device of another user.
        let other: TestPeer
        /// The IDs of the requests for the missing secrets.
        let requests: [SecretName: String]
    }

    private func asking() async throws -> Asking {
        let fixture = try await MachineFixture()
        let (own, keys) = try await fixture.published()
        let peer = try TestPeer(user, "PEER", to: own, with: try #require(keys.first))
        let other = try TestPeer("@a:b", "OTHER", to: own, with: try #require(keys.last))
        var sync = CryptoSync(kind: .sliding)
        sync.changed = [user]
        _ = try await fixture.machine.received(sync, at: fixture.start)
        try await fixture.answerAll([peer.device])
        var secrets = try TestIdentity(user).secrets
        secrets[.userSigning] = nil
        #expect(try await fixture.machine.adopt(secrets) == [.master, .selfSigning])
        try await fixture.machine.store(nil, as: .master)
        try await fixture.answerAll([peer.device])
        try await fixture.machine.requestMissingSecrets()
        var requests: [SecretName: String] = [:]
        for case .send(let message) in try await fixture.answerAll([peer.device])
        where message.type == "m.secret.request" && message.device == "PEER" {
            let content = try JSONValue(parsing: message.content)
            let name = try #require(SecretName(rawValue: content["name"]?.string ?? ""))
            requests[name] = content["request_id"]?.string
        }
        #expect(Set(requests.keys) == [.master, .userSigning, .backup])
        return Asking(fixture: fixture, peer: peer, other: other, requests: requests)
    }

    private func answer(_ request: String, _ secret: KeyMaterial, by peer: TestPeer) throws -> JSONValue {
        let bytes = secret.withBytes { Array(UnsafeBufferPointer(start: $0, count: KeyMaterial.count)) }
        return try peer.sealed(
            peer.payload(
                "m.secret.send", ["request_id": .string(request), "secret": .string(Base64.encoded(bytes))]))
    }

    @Test("A secret is stored if a confirmed device sends it on request, and not twice.") func onRequest() async throws
    {
        let all = try await asking()
        let (fixture, peer, requests) = (all.fixture, all.peer, all.requests)
        let (request, master) = (try #require(requests[.master]), try #require(try TestIdentity(user).secrets[.master]))
        try await fixture.receive([answer(request, master, by: peer)])
        #expect(try await fixture.machine.storedSecrets()[.master]?.isEqual(to: master) == true)
        // The request is answered.
        try await fixture.machine.store(nil, as: .master)
        try await fixture.receive([answer(request, master, by: peer)])
        #expect(try await fixture.machine.storedSecrets()[.master] == nil)
    }

    @Test("A secret that was not requested is not stored.") func unrequested() async throws {
        let all = try await asking()
        let (fixture, peer) = (all.fixture, all.peer)
        let master = try #require(try TestIdentity(user).secrets[.master])
        for request in ["", "other"] { try await fixture.receive([answer(request, master, by: peer)]) }
        #expect(try await Set(fixture.machine.storedSecrets().keys) == [.selfSigning])
        #expect(try await fixture.machine.unprovenBackupKey() == nil)
    }

    @Test("A secret of another identity is not stored, and the request stays open for the right one.")
    func wrongSecret() async throws {
        let all = try await asking()
        let (fixture, peer, requests) = (all.fixture, all.peer, all.requests)
        let request = try #require(requests[.master])
        for secret in [try KeyMaterial(), try #require(try TestIdentity(user).secrets[.userSigning])] {
            try await fixture.receive([answer(request, secret, by: peer)])
        }
        #expect(try await fixture.machine.storedSecrets()[.master] == nil)
        let master = try #require(try TestIdentity(user).secrets[.master])
        try await fixture.receive([answer(request, master, by: peer)])
        #expect(try await fixture.machine.storedSecrets()[.master]?.isEqual(to: master) == true)
    }

    @Test("A secret from a device that is not confirmed any more is not stored.") func unconfirmedSender() async throws
    {
        let all = try await asking()
        let (fixture, peer, requests) = (all.fixture, all.peer, all.requests)
        var device = peer.device
        device.isConfirmed = false
        try await fixture.machine.outdateOwnDevices()
        try await fixture.answerAll([device])
        let master = try #require(try TestIdentity(user).secrets[.master])
        for (name, request) in requests {
            try await fixture.receive([answer(request, name == .master ? master : KeyMaterial(), by: peer)])
        }
        #expect(try await Set(fixture.machine.storedSecrets().keys) == [.selfSigning])
        #expect(try await fixture.machine.unprovenBackupKey() == nil)
    }

    @Test("A secret for a device without one-time keys waits until the next claim, and holds up no other request.")
    func noOneTimeKey() async throws {
        let all = try await asking()
        let (fixture, peer) = (all.fixture, all.peer)
        var now = fixture.start + 1000
        try await fixture.answerAll([peer.device], at: now)
        let wish: JSONValue = [
            "type": "m.secret.request", "sender": .string(user.text),
            "content": [
                "action": "request", "name": .string(SecretName.selfSigning.rawValue), "request_id": "r",
                "requesting_device_id": "PEER",
            ],
        ]
        try await fixture.receive([wish], at: now)
        try await fixture.machine.track(["@c:b"])
        let first = try await fixture.answerAll([peer.device], at: now).map(\.kind)
        #expect(first.count { $0 == .claim } == 1 && first.contains(.query))
        #expect(try await fixture.machine.nextAttempt(after: now) == now + 15)
        #expect(try await fixture.answerAll([peer.device], at: now + 14).isEmpty)
        now += 15
        // The server is asked about the user's devices first.
        try await fixture.machine.outdateOwnDevices()
        let key = try ReadingDevice(peer.device).claimed()
        let second = try await fixture.answerAll([peer.device], claims: ["PEER": key], at: now)
        let kinds = second.map(\.kind).filter { $0 == .query || $0 == .claim }
        #expect(kinds == [.query, .claim])
        let isSent = second.contains { action in
            guard case .send(let message) = action else { return false }
            return message.type == "m.room.encrypted" && message.device == "PEER"
        }
        #expect(isSent)
    }

    @Test("Another user's device cannot answer, even if it knows the request.") func otherUser() async throws {
        let all = try await asking()
        let (fixture, other, requests) = (all.fixture, all.other, all.requests)
        try await fixture.know([other.device])
        let master = try #require(try TestIdentity(user).secrets[.master])
        try await fixture.receive([answer(try #require(requests[.master]), master, by: other)])
        try await fixture.receive([answer(try #require(requests[.backup]), KeyMaterial(), by: other)])
        #expect(try await fixture.machine.storedSecrets()[.master] == nil)
        #expect(try await fixture.machine.unprovenBackupKey() == nil)
    }

    @Test("The key of a replaced backup is requested, once, although a former one is stored.")
    func outdatedBackupKey() async throws {
        let server = TestServer()
        let old = try await server.signIn(user, "OLD")
        try await server.makeIdentity(on: old)
        let new = try await server.signIn(user, "NEW")
        #expect(try await new.machine.adopt(try await old.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        let (former, current) = (try KeyMaterial(), try KeyMaterial())
        try await new.machine.setBackupKey(former)
        try await old.machine.setBackupKey(current)
        func requests() -> Int { server.sent.count { $0.type == "m.secret.request" } }
        let before = requests()
        try await new.machine.requestBackupKey(for: BackupKey(former).publicKey, as: .replaced)
        try await server.exchangeAll()
        #expect(requests() == before)
        for _ in 0..<2 {
            try await new.machine.requestBackupKey(for: BackupKey(current).publicKey, as: .replaced)
            try await server.exchangeAll()
        }
        #expect(requests() == before + 1)
        #expect(try await new.machine.unprovenBackupKey()?.isEqual(to: current) == true)
        try await new.machine.requestBackupKey(for: BackupKey(current).publicKey, as: .needed)
        try await server.exchangeAll()
        #expect(requests() == before + 2)
    }

    @Test("After a device has sent the key of a former backup, the current one is requested, once.")
    func rejectedBackupKey() async throws {
        let server = TestServer()
        let old = try await server.signIn(user, "OLD")
        try await server.makeIdentity(on: old)
        let new = try await server.signIn(user, "NEW")
        #expect(try await new.machine.adopt(try await old.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        let (former, current) = (try KeyMaterial(), try KeyMaterial())
        let publicKey = try BackupKey(current).publicKey
        func requests() -> Int { server.sent.count { $0.type == "m.secret.request" } }
        try await old.machine.setBackupKey(former)
        try await new.machine.requestMissingSecrets()
        try await server.exchangeAll()
        #expect(try await new.machine.unprovenBackupKey()?.isEqual(to: former) == true)
        try await new.machine.dropUnprovenBackupKey(former)
        let before = requests()
        // A missing key was requested already.
        try await new.machine.requestBackupKey(for: publicKey, as: .replaced)
        try await server.exchangeAll()
        #expect(requests() == before)
        try await old.machine.setBackupKey(current)
        for _ in 0..<2 {
            try await new.machine.requestBackupKey(for: publicKey, as: .rejected)
            try await server.exchangeAll()
        }
        #expect(requests() == before + 1)
        #expect(try await new.machine.unprovenBackupKey()?.isEqual(to: current) == true)
    }

    // MARK: Opened secrets

    @Test(
        "The secrets of the user's identity confirm no master key that the server has put above its self-signing key.",
        arguments: [false, true])
    func madeUpMaster(wasConfirmed: Bool) async throws {
        let server = TestServer()
        let old = try await server.confirmed(user, "OLD")
        let secrets = try await old.machine.storedSecrets()
        let selfSigning = try SigningKey(seed: try #require(secrets[.selfSigning]))
        let identity = try TestIdentity(user, number: 1, selfSigning: selfSigning)
        let upload: JSONValue = [
            "master_key": try identity.masterKey(), "self_signing_key": try identity.selfSigningKey,
            "user_signing_key": try identity.userSigningKey,
        ]
        try server.publishIdentity(upload, of: user)
        try await server.exchangeAll()
        let client = try await wasConfirmed ? old : server.signIn(user, "NEW")
        let standing: EncryptionStatus.Identity = wasConfirmed ? .replaced : .unconfirmed
        #expect(try await client.machine.ownIdentity() == standing)
        #expect(try await client.machine.adopt(secrets).isEmpty)
        try await server.exchangeAll()
        #expect(try await client.machine.ownIdentity() == standing)
        if !wasConfirmed { #expect(try await client.machine.storedSecrets().isEmpty) }
    }

    @Test("The secrets that the user opens confirm the device only if the master key is among them.")
    func missingMaster() async throws {
        let server = TestServer()
        let old = try await server.confirmed(user, "OLD")
        let new = try await server.signIn(user, "NEW")
        let secrets = try await old.machine.storedSecrets()
        var others = secrets
        others[.master] = nil
        #expect(try await new.machine.adopt(others).isEmpty)
        try await server.exchangeAll()
        #expect(try await new.machine.ownIdentity() == .unconfirmed)
        #expect(try await new.machine.storedSecrets().isEmpty)
        #expect(try await new.machine.adopt(secrets) == [.master, .selfSigning, .userSigning])
        try await server.exchangeAll()
        #expect(try await new.machine.ownIdentity() == .confirmed)
    }

    // MARK: Room keys

    @Test("Room keys are neither requested from devices nor sent on request.") func noRoomKeyRequests() async throws {
        let all = try await asking()
        let (fixture, peer) = (all.fixture, all.peer)
        let (known, unknown) = (try OutboundGroupSession(), try OutboundGroupSession())
        try await fixture.receive([peer.share(known)])
        let event = try peer.say("Tea?", with: unknown, as: "$1")
        #expect(try await fixture.machine.read([event]) == [.failure(.noKey)])
        let request: JSONValue = [
            "type": "m.room_key_request", "sender": .string(user.text),
            "content": [
                "action": "request", "request_id": "r", "requesting_device_id": "PEER",
                "body": [
                    "algorithm": "m.megolm.v1.aes-sha2", "room_id": "!r:b", "session_id": .string(try known.id),
                    "sender_key": .string("\(peer.device.account.identityKey)"),
                ],
            ],
        ]
        try await fixture.receive([request])
        for action in try await fixture.answerAll([peer.device]) {
            switch action {
            case .send, .sendAll, .claim: Issue.record("\(action)")
            case .upload, .query, .uploadSignatures: break
            }
        }
    }

    // MARK: New sign-ins

    @Test("A recovery key that is not saved stays so after a new sign-in, until it is saved.")
    func unsavedKeyStays() async throws {
        let fixture = try await MachineFixture()
        let secret = try KeyMaterial()
        try await fixture.machine.setRecoveryKeyUnsaved(true)
        try await fixture.machine.stageRecoveryKey(secret, as: "id")
        let next = try await CryptoMachine.begun(user: user, device: "NEXT", in: fixture.storage, key: fixture.key)
        #expect(try await next.isRecoveryKeyUnsaved())
        #expect(try await next.stagedRecoveryKey("id")?.isEqual(to: secret) == true)
        #expect(try await next.stagedRecoveryKey("other") == nil)
        try await next.setRecoveryKeyUnsaved(false)
        #expect(try await !next.isRecoveryKeyUnsaved())
        #expect(try await next.stagedRecoveryKey("id") == nil)
    }

    @Test("Keys of a former identity count as missing, and are requested when the device is confirmed for the new one.")
    func formerIdentity() async throws {
        let server = TestServer()
        let old = try await server.signIn("@me:b", "OLD")
        try await server.makeIdentity(on: old)
        #expect(try await old.machine.isRecoveryKeyUnsaved())
        let new = try await server.signIn("@me:b", "NEW")
        try await server.makeIdentity(on: new)
        #expect(try await old.machine.ownIdentity() == .replaced)
        #expect(try await old.machine.storedSecrets().keys.allSatisfy { $0 == .backup })

        let id = try await old.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        for (action, client) in [(Verification.Action.accept, new), (.confirmMatch, old), (.confirmMatch, new)] {
            #expect(try await client.machine.perform(action, in: id, at: server.now).isEmpty)
            try await server.exchangeAll()
        }
        #expect(try await old.machine.ownIdentity() == .confirmed)
        let (given, made) = (try await old.machine.storedSecrets(), try await new.machine.storedSecrets())
        for name in [SecretName.master, .selfSigning, .userSigning] {
            let secret = try #require(made[name])
            #expect(given[name]?.isEqual(to: secret) == true)
        }
        #expect(try await !old.machine.isRecoveryKeyUnsaved(), "it would open the former keys")
    }
}
