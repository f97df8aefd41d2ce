import ChatCore
import ChatStore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixBackend
import MatrixCrypto
import Ratchets
import ToolSupport

/// Restoring 10,000 keys from a backup on a new device with the recovery key.
struct RestoreBench {
    let folder: URL

    private static let count = 10_000

    func rows() async throws -> [BenchmarkRow] {
        let server = BenchHomeserver()
        let recoveryKey = try await makeIdentity(on: server)
        guard let text = server.backup?["auth_data"]?["public_key"]?.string else { throw SoakFailure("no backup") }
        server.setBackedUpKeys(try Self.backup(for: Curve25519Key(base64: text)))
        let place = folder.appending(path: "new")
        let account = try await BenchAccount.start(in: place, server, MemoryCredentialStore(), device: "NEW")
        try server.sync(BenchEvents.sync(1, [:]))
        try await server.waitUntilConsumed()
        let start = ContinuousClock.now
        let cpu = try await ProcessTime.of {
            try await account.backend.recover(with: recoveryKey.text)
            // Restoring starts after the recovery, and takes long enough to be observed.
            for await status in account.backend.encryptionStatuses() where status.isRestoring { break }
            for await status in account.backend.encryptionStatuses()
            where status.identity == .confirmed && !status.isRestoring {
                if case .on = status.backup { break }
            }
        }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        await account.close()
        let keys = try KeyStore(folder: place, isNew: false)
        let restored = try await keys.cryptoRecordCount(.inboundGroupSession)
        try await keys.close()
        guard restored >= Self.count else { throw SoakFailure("\(restored) keys were restored") }
        return [
            BenchmarkRow(name: "encryption: restoring \(Self.count) keys", value: cpu, unit: "s CPU", target: 10),
            BenchmarkRow(name: "encryption: restoring \(Self.count) keys, elapsed", value: elapsed, unit: "s"),
        ]
    }

    private func makeIdentity(on server: BenchHomeserver) async throws -> RecoveryKey {
        let account = try await BenchAccount.start(
            in: folder.appending(path: "old"), server, MemoryCredentialStore(), device: "OLD")
        try server.sync(BenchEvents.sync(0, [:]))
        try await server.waitUntilConsumed()
        let key = try await account.backend.createIdentity(password: nil)
        await account.close()
        return key
    }

    /// A server's response with the backed-up keys.
    private static func backup(for key: Curve25519Key) throws -> Data {
        let device = try TestDevice("@ann:example.org", "PEER")
        let sessions = try (0..<count).map { number in
            let group = try OutboundGroupSession()
            let session = try InboundGroupSession(sessionKey: group.sessionKey)
            let json: JSONValue = [
                "algorithm": "m.megolm.v1.aes-sha2", "sender_key": .string("\(device.account.identityKey)"),
                "sender_claimed_keys": ["ed25519": .string("\(device.account.signingKey)")],
                "session_key": .string(Base64.encoded(try session.exported(at: 0))),
                "forwarding_curve25519_key_chain": [],
            ]
            let data = try BackedUpData(CanonicalJSON.bytes(of: json), for: key)
            return """
                "\(try group.id)":{"first_message_index":0,"forwarded_count":0,"is_verified":false,"session_data":\
                {"ephemeral":"\(data.ephemeralKey)","mac":"\(Base64.encoded(data.mac))",\
                "ciphertext":"\(Base64.encoded(data.ciphertext))"}}
                """
        }
        let rooms = stride(from: 0, to: count, by: 100).map { first in
            "\"!room\(first):example.org\":{\"sessions\":{\(sessions[first..<first + 100].joined(separator: ","))}}"
        }
        return Data("{\"rooms\":{\(rooms.joined(separator: ","))}}".utf8)
    }
}
