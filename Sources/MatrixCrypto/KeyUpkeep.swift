public import ChatCore
public import Foundation
public import JSONReading
public import Ratchets

/// Keeps the server provided with this device's keys: its identity keys, half of the one-time keys that an account has
/// room for, and one fallback key.
///
/// An upload is stored before it leaves, with the account that has its private keys: after a lost answer the same bytes
/// go again, since a key's identifier must never name two keys. ``unsavedChange(key:)`` is on the disk first.
public final class KeyUpkeep {
    /// One-time keys at the server, below which others are made.
    public static let targetOneTimeKeys = 25
    static let algorithm = "signed_curve25519"

    private struct State: Codable, Equatable {
        /// The server's; `nil` until it has said.
        var oneTimeKeys: Int?
        var hasUnusedFallbackKey: Bool?
        var hasUploadedDevice = false
        /// What was sent, and has no answer.
        var pending: Data?
        /// The newest fallback key, the public part.
        var fallbackKey: Data?
        /// Whether the account may still have the fallback key before that one.
        var hasFormerFallbackKey: Bool?
        var formerFallbackKeyEnd: Date?
    }

    /// How long messages may be on their way that use the former fallback key.
    static let formerFallbackKeyLife: TimeInterval = 3600

    public enum Failure: Error, Hashable, Sendable {
        /// The stored state cannot be read: what the server has is unknown, and nothing may be uploaded.
        case state
        case rejected(RatchetError)
    }

    public let user: ExactText
    public let device: ExactText
    public let account: OlmAccount
    private var state = State()
    /// Counts the changes; what is stored is as it was at one of them.
    private var (revision, savedRevision) = (UInt64(0), UInt64(0))

    private static let accountKey = CryptoRecord.Key(.account, id: "keys")
    private static let stateKey = CryptoRecord.Key(.account, id: "upkeep")

    /// A new device's.
    public init(user: ExactText, device: ExactText) throws(RatchetError) {
        self.user = user
        self.device = device
        account = try OlmAccount()
        revision = 1
    }

    /// - Parameters:
    ///   - records: Those of the kind ``CryptoRecord/Kind/account``.
    ///   - key: What their private parts are encrypted with.
    /// - Returns: `nil` if there are none: the device has no keys yet.
    public init?(user: ExactText, device: ExactText, records: [CryptoRecord], key: KeyMaterial) throws(Failure) {
        let values = Dictionary(records.map { ($0.key, $0.value) }) { first, _ in first }
        guard !values.isEmpty else { return nil }
        guard let pickle = values[Self.accountKey], let stored = values[Self.stateKey],
            let state = try? JSONDecoder().decode(State.self, from: stored)
        else { throw .state }
        do {
            account = try OlmAccount(pickle: Array(pickle), key: key)
        } catch {
            throw .rejected(error)
        }
        self.user = user
        self.device = device
        self.state = state
    }

    /// Account and state, which are stored together or not at all; `nil` if neither has changed since the revision that
    /// ``saved(_:)`` was told.
    public func unsavedChange(key: KeyMaterial) throws -> (change: CryptoChange, revision: UInt64)? {
        guard revision != savedRevision else { return nil }
        let change = CryptoChange(put: [
            CryptoRecord(Self.accountKey, value: Data(try account.pickle(key: key))),
            CryptoRecord(Self.stateKey, value: try JSONEncoder().encode(state)),
        ])
        return (change, revision)
    }

    /// Whether the server has the device's identity keys.
    public var isDeviceUploaded: Bool { state.hasUploadedDevice }

    /// A change is on the disk. Until this is called it is not.
    public func saved(_ revision: UInt64) { savedRevision = max(savedRevision, revision) }

    /// A session was begun with one of the one-time keys: the account has changed.
    /// - Parameter oneTimeKey: The key, which may be a fallback key.
    public func accountChanged(by oneTimeKey: Curve25519Key? = nil, at now: Date = Date()) {
        revision += 1
        guard let oneTimeKey, state.fallbackKey == Data(oneTimeKey.bytes), state.hasFormerFallbackKey == true,
            state.formerFallbackKeyEnd == nil
        else { return }
        // The server gives the newest one out: of the former only messages are left that are under way.
        state.formerFallbackKeyEnd = now.addingTimeInterval(Self.formerFallbackKeyLife)
    }

    /// When ``forgetFormerFallbackKey(at:)`` has something to do.
    public var formerFallbackKeyEnd: Date? { state.formerFallbackKeyEnd }

    /// Forgets the fallback key before the newest one, once its time has come: whoever gets hold of it could read what
    /// was encrypted with it.
    public func forgetFormerFallbackKey(at now: Date) throws {
        guard let end = state.formerFallbackKeyEnd else { return }
        if end <= now {
            try account.forgetPreviousFallbackKey()
            state.formerFallbackKeyEnd = nil
            state.hasFormerFallbackKey = false
            revision += 1
        } else if end.timeIntervalSince(now) > Self.formerFallbackKeyLife {
            // The clock was set back.
            state.formerFallbackKeyEnd = now.addingTimeInterval(Self.formerFallbackKeyLife)
            revision += 1
        }
    }

    public enum Sync: Sendable {
        /// What it does not name is 0, or used.
        case plain
        /// What it does not name is as it was.
        case sliding
    }

    /// What a sync says of the keys at the server.
    public func received(counts: JSONValue?, unusedFallbackKeys: JSONValue?, in sync: Sync) {
        var state = state
        if let count = counts?.object?[Self.algorithm]?.integer {
            state.oneTimeKeys = Int(clamping: max(0, count))
        } else if sync == .plain || counts?.object != nil {
            state.oneTimeKeys = 0
        }
        if let kinds = unusedFallbackKeys?.array {
            state.hasUnusedFallbackKey = kinds.contains { $0.string == Self.algorithm }
        }
        guard state != self.state else { return }
        self.state = state
        revision += 1
    }

    /// What is to be uploaded, if anything is; the same until there is an answer to it.
    public func nextUpload() throws -> Data? {
        if let pending = state.pending { return pending }
        var body: [String: JSONValue] = [:]
        if !state.hasUploadedDevice { body["device_keys"] = .object(try deviceKeys()) }
        // Nothing is made before the server has said what it has.
        if let count = state.oneTimeKeys, count < Self.targetOneTimeKeys {
            let unpublished = try account.unpublishedOneTimeKeys.count
            try account.generateOneTimeKeys(max(0, min(50, Self.targetOneTimeKeys - count - unpublished)))
        }
        if state.hasUnusedFallbackKey == false, try account.unpublishedFallbackKey == nil {
            try account.generateFallbackKey()
            state.fallbackKey = try account.unpublishedFallbackKey.map { Data($0.key.bytes) }
            // Also where no first one was noted: older versions did not.
            (state.hasFormerFallbackKey, state.formerFallbackKeyEnd) = (true, nil)
        }
        if let keys = try signed(account.unpublishedOneTimeKeys, isFallback: false) { body["one_time_keys"] = keys }
        if let fallback = try account.unpublishedFallbackKey {
            body["fallback_keys"] = try signed([fallback], isFallback: true)
        }
        guard !body.isEmpty else { return nil }
        let pending = Data(try CanonicalJSON.bytes(of: .object(body)))
        state.pending = pending
        revision += 1
        return pending
    }

    /// The server took the upload.
    public func uploaded(answer: JSONValue) throws {
        try finish()
        state.hasUploadedDevice = true
        if let count = answer.object?["one_time_key_counts"]?.object?[Self.algorithm]?.integer {
            state.oneTimeKeys = Int(clamping: max(0, count))
        } else {
            // The next sync says.
            state.oneTimeKeys = nil
        }
    }

    /// The server refused it for good, such as for an identifier that it has already: other keys are made, under other
    /// identifiers. Private keys stay, as others may have got the public ones all the same.
    public func refused() throws {
        try finish()
        state.oneTimeKeys = nil
        state.hasUnusedFallbackKey = nil
    }

    private func finish() throws {
        guard state.pending != nil else { return }
        try account.markAsPublished()
        state.pending = nil
        state.hasUnusedFallbackKey = nil
        revision += 1
    }

    /// What this device says of itself, signed.
    public func deviceKeys() throws -> [String: JSONValue] {
        let keys: [String: JSONValue] = [
            "user_id": .string(user.text), "device_id": .string(device.text),
            "algorithms": ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
            "keys": .object([
                "curve25519:\(device.text)": .string("\(account.identityKey)"),
                "ed25519:\(device.text)": .string("\(account.signingKey)"),
            ]),
        ]
        return try SignedJSON.signed(keys, by: user, keyID: device) { try account.sign($0) }
    }

    private func signed(_ keys: [OlmAccount.UnpublishedKey], isFallback: Bool) throws -> JSONValue? {
        var all: [String: JSONValue] = [:]
        for key in keys {
            var object: [String: JSONValue] = ["key": .string("\(key.key)")]
            if isFallback { object["fallback"] = true }
            all["\(Self.algorithm):\(key.id)"] = .object(
                try SignedJSON.signed(object, by: user, keyID: device) { try account.sign($0) })
        }
        return all.isEmpty ? nil : .object(all)
    }
}
