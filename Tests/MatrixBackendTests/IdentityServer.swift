import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization

@testable import MatrixBackend

/// A homeserver's part in the encryption of ``EncryptedAccount/user``: keys, an identity, account data and a backup. It
/// can lose the answer to a write.
final class IdentityServer: Sendable {
    private struct Loss {
        /// The number of writes before it.
        var remaining: Int
        let isPerformed: Bool
        let endsConnection: Bool
    }

    private struct State {
        var devices: [String: JSONValue] = [:]
        /// By the member of a `keys/query` response.
        var identity: [String: JSONValue] = [:]
        var identityUploads = 0
        var accountData: [String: JSONValue] = [:]
        var backup: (version: Int, authData: JSONValue)?
        var lastVersion = 0
        var loss: Loss?
        var hasLost = false
        var isDown = false
        var dropsSignatures = false
        var failsBackups = false
    }

    private let state = Mutex(State())
    private static let user = EncryptedAccount.user.rawValue
    private static let failure: JSONValue = ["status": 502]

    var hasLost: Bool { state.withLock { $0.hasLost } }
    var identityUploads: Int { state.withLock { $0.identityUploads } }
    /// The public key of the backup.
    var backupKey: String? { state.withLock { $0.backup?.authData["public_key"]?.string } }
    var masterKey: JSONValue? { state.withLock { $0.identity["master_keys"] } }

    /// The secret storage, over a connection that loses nothing.
    var storage: SecretStorage {
        let transport = FakeHomeserver { [self] request in state.withLock { Self.perform(request, &$0) } }
        let client = MatrixClient(
            server: URL(string: "https://example.org")!, token: AccessToken("secret"), transport: transport)
        return SecretStorage(client: client, user: EncryptedAccount.user)
    }

    // MARK: Changes

    /// Loses the answer to a write.
    /// - Parameters:
    ///   - number: The number of writes before it.
    ///   - endsConnection: Whether nothing is answered from then on.
    func lose(write number: Int, isPerformed: Bool, endsConnection: Bool) {
        let loss = Loss(remaining: number, isPerformed: isPerformed, endsConnection: endsConnection)
        state.withLock { $0.loss = loss }
    }

    func reconnect() { state.withLock { ($0.isDown, $0.loss) = (false, nil) } }
    func forgetDevices() { state.withLock { $0.devices = [:] } }
    func dropSignatures(_ drops: Bool) { state.withLock { $0.dropsSignatures = drops } }
    func failBackups(_ fails: Bool) { state.withLock { $0.failsBackups = fails } }

    /// Sets the identity, as if another device had created it.
    func set(_ identity: [String: JSONValue]) { state.withLock { $0.identity = identity } }

    /// Replaces the backup, as another device would.
    func replaceBackup(_ authData: [String: JSONValue]) {
        state.withLock { Self.addBackup(.object(authData), &$0) }
    }

    private static func addBackup(_ authData: JSONValue, _ state: inout State) {
        state.lastVersion += 1
        state.backup = (state.lastVersion, authData)
    }

    // MARK: Requests

    func answer(_ request: MatrixRequest) -> JSONValue? {
        state.withLock { state in
            guard !state.isDown else { return Self.failure }
            let path = request.url.path
            let isWrite =
                request.method == .put && path.contains("/account_data/")
                || path.hasSuffix("/keys/device_signing/upload")
            guard isWrite, let loss = state.loss else { return Self.perform(request, &state) }
            guard loss.remaining == 0 else {
                state.loss?.remaining -= 1
                return Self.perform(request, &state)
            }
            if loss.isPerformed { _ = Self.perform(request, &state) }
            (state.loss, state.hasLost, state.isDown) = (nil, true, loss.endsConnection)
            return Self.failure
        }
    }

    private static func perform(_ request: MatrixRequest, _ state: inout State) -> JSONValue? {
        let path = request.url.path
        if path.contains("/account_data/") {
            let type = request.url.pathComponents.last ?? ""
            guard request.method == .put else { return state.accountData[type] }
            state.accountData[type] = request.json
            return [:]
        }
        if path.contains("/room_keys/") { return performBackup(request, &state) }
        if path.hasSuffix("/keys/device_signing/upload") {
            state.identityUploads += 1
            for name in ["master_key", "self_signing_key", "user_signing_key"] {
                state.identity["\(name)s"] = .object([user: request.json?[name] ?? .null])
            }
            return [:]
        }
        if path.hasSuffix("/keys/signatures/upload") {
            for (id, object) in request.json?[user]?.object ?? [:]
            where state.devices[id] != nil && !state.dropsSignatures {
                state.devices[id] = object
            }
            return ["failures": [:]]
        }
        if path.hasSuffix("/keys/query") {
            return .object(state.identity.merging(["device_keys": .object([user: .object(state.devices)])]) { $1 })
        }
        guard path.hasSuffix("/keys/upload") else { return nil }
        if let keys = request.json?["device_keys"] { state.devices["D"] = keys }
        return ["one_time_key_counts": ["signed_curve25519": 50]]
    }

    private static func performBackup(_ request: MatrixRequest, _ state: inout State) -> JSONValue? {
        guard !state.failsBackups else { return failure }
        guard request.url.path.contains("/room_keys/version") else { return ["etag": "1", "count": 0, "rooms": [:]] }
        switch request.method {
        case .post:
            addBackup(request.json?["auth_data"] ?? [:], &state)
            return ["version": .string("\(state.lastVersion)")]
        case .delete:
            state.backup = nil
            return [:]
        default:
            return state.backup.map { backup in
                [
                    "version": .string("\(backup.version)"), "algorithm": .string(ListedBackup.algorithm),
                    "auth_data": backup.authData, "etag": "1", "count": 0,
                ]
            }
        }
    }
}
