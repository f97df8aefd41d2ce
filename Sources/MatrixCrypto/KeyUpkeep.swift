public import ChatCore
public import Foundation
public import JSONReading
public import Ratchets

/// Keeps the server supplied with this device's keys: its identity keys, half as many one-time keys as an account can
/// hold, and one fallback key.
///
/// An upload is stored before it is sent, with the account that has its private keys: after a lost response the same
/// bytes are sent again, since a key ID must never name two keys. Store ``unsavedChange(key:)`` before sending.
public final class KeyUpkeep {
    /// The number of one-time keys on the server below which more are generated.
    public static let targetOneTimeKeys = 25
    static let algorithm = "signed_curve25519"

    private struct State: Codable, Equatable {
        /// The server's count; `nil` until the server reports it.
        var oneTimeKeys: Int?
        var hasUnusedFallbackKey: Bool?
        var hasUploadedDevice = false
        /// The upload that was sent and not answered yet.
        var pending: Data?
        /// The public part of the newest fallback key.
        var fallbackKey: Data?
        /// Whether the account may still have the previous fallback key.
        var hasFormerFallbackKey: Bool?
        var formerFallbackKeyEnd: Date?
    }

    /// How long messages that use the former fallback key may be in transit.
    static let formerFallbackKeyLife: TimeInterval = 3600

    public enum Failure: Error, Hashable, Sendable {
        /// The stored state is unreadable: it is unknown what the server has, so nothing may be uploaded.
        case state
        case rejected(RatchetError)
    }

    public let user: ExactText
    public let device: ExactText
    public let account: OlmAccount
    private var state = State()
    /// Whether the next sync may have been composed before the last upload: it would report the fallback key that the
    /// upload replaced as used, and another new one would drop a key that messages in transit still use.
    private var isNextSyncOld = false
    /// The current revision of the state, and the last one that is stored.
    private var (revision, savedRevision) = (UInt64(0), UInt64(0))

    private static let accountKey = CryptoRecord.Key(.account, id: "keys")
    private static let stateKey = CryptoRecord.Key(.account, id: "upkeep")

    /// Creates the keys of a new device.
    public init(user: ExactText, device: ExactText) throws(RatchetError) {
        self.user = user
        self.device = device
        account = try OlmAccount()
        revision = 1
    }

    /// - Parameters:
    ///   - records: Records of the kind ``CryptoRecord/Kind/account``.
    ///   - key: Decrypts their private parts.
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

    /// Account and state, which must be stored together; `nil` if neither has changed since the last ``saved(_:)``.
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

    /// Marks a revision as stored.
    public func saved(_ revision: UInt64) { savedRevision = max(savedRevision, revision) }

    /// Notes that a session was established with a one-time key, which has changed the account.
    /// - Parameter oneTimeKey: The key, which may be a fallback key.
    public func accountChanged(by oneTimeKey: Curve25519Key? = nil, at now: Date = Date()) {
        revision += 1
        guard let oneTimeKey, state.fallbackKey == Data(oneTimeKey.bytes), state.hasFormerFallbackKey == true,
            state.formerFallbackKeyEnd == nil
        else { return }
        // The server hands out the newest key now: only messages in transit still use the former one.
        state.formerFallbackKeyEnd = now.addingTimeInterval(Self.formerFallbackKeyLife)
    }

    /// When ``forgetFormerFallbackKey(at:)`` has something to discard.
    public var formerFallbackKeyEnd: Date? { state.formerFallbackKeyEnd }

    /// Discards the previous fallback key once its lifetime has ended: anyone who obtained it could read what was
    /// encrypted with it.
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
        /// A sync without key counts means that the server has no keys.
        case plain
        /// A sync without key counts means that they are unchanged.
        case sliding
    }

    /// Applies the key counts of a sync.
    public func received(counts: JSONValue?, unusedFallbackKeys: JSONValue?, in sync: Sync) {
        var state = state
        if let count = counts?.object?[Self.algorithm]?.integer {
            state.oneTimeKeys = Int(clamping: max(0, count))
        } else if sync == .plain || counts?.object != nil {
            state.oneTimeKeys = 0
        }
        if let kinds = unusedFallbackKeys?.array {
            let isUnused = kinds.contains { $0.string == Self.algorithm }
            if isUnused || !isNextSyncOld { state.hasUnusedFallbackKey = isUnused }
            isNextSyncOld = false
        }
        guard state != self.state else { return }
        self.state = state
        revision += 1
    }

    /// The next upload, if one is needed; the same until it is answered.
    public func nextUpload() throws -> Data? {
        if let pending = state.pending { return pending }
        var body: [String: JSONValue] = [:]
        if !state.hasUploadedDevice { body["device_keys"] = .object(try deviceKeys()) }
        // Generates nothing before the server has reported what it has.
        if let count = state.oneTimeKeys, count < Self.targetOneTimeKeys {
            let unpublished = try account.unpublishedOneTimeKeys.count
            try account.generateOneTimeKeys(max(0, min(50, Self.targetOneTimeKeys - count - unpublished)))
        }
        if state.hasUnusedFallbackKey == false, try account.unpublishedFallbackKey == nil {
            try account.generateFallbackKey()
            state.fallbackKey = try account.unpublishedFallbackKey.map { Data($0.key.bytes) }
            // Set even if no former key was recorded, as earlier versions recorded none.
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

    /// Handles the server's acceptance of the upload.
    public func uploaded(answer: JSONValue) throws {
        if state.pending != nil, try account.unpublishedFallbackKey != nil { isNextSyncOld = true }
        let upload = try state.pending.map { try JSONValue(parsing: $0) }
        try finish()
        // An upload from before ``uploadAgain()`` may not have them.
        if upload?["device_keys"] != nil { state.hasUploadedDevice = true }
        if let count = answer.object?["one_time_key_counts"]?.object?[Self.algorithm]?.integer {
            state.oneTimeKeys = Int(clamping: max(0, count))
        } else {
            // The next sync reports the count.
            state.oneTimeKeys = nil
        }
    }

    /// Makes the next upload include the device's keys and new one-time keys: the server has deleted the device, with
    /// all of its keys, and knows it again by a new sign-in.
    public func uploadAgain() {
        guard state.hasUploadedDevice else { return }
        state.hasUploadedDevice = false
        (state.oneTimeKeys, state.hasUnusedFallbackKey) = (0, false)
        revision += 1
    }

    /// Handles a permanent rejection, such as of a key ID that is already in use: new keys are generated under new IDs.
    /// The private keys stay, as others may have received the public ones all the same.
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

    /// This device's signed `device_keys` object.
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
