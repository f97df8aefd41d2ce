import ChatCore
import JSONReading
import Ratchets

/// The key exchange of one verification (`m.sas.v1`), from `m.key.verification.start` to the MACs: a state machine that
/// returns the messages to send.
struct SasExchange {
    /// One side, with its keys as known when the exchange starts. These are the keys that are verified, whatever a
    /// server reports later.
    struct Party: Equatable {
        let user: ExactText
        let device: ExactText
        let signingKey: Ed25519Key
        let master: Ed25519Key?
    }

    /// Why the verification is canceled, by the codes of the specification.
    enum Failure: String, Error {
        case unknownMethod = "m.unknown_method"
        case unexpectedMessage = "m.unexpected_message"
        case invalidMessage = "m.invalid_message"
        case mismatchedCommitment = "m.mismatched_commitment"
        case mismatchedSAS = "m.mismatched_sas"
        case keyMismatch = "m.key_mismatch"
        case userMismatch = "m.user_mismatch"
    }

    enum MAC: String {
        case fixed = "hkdf-hmac-sha256.v2"
        /// Has a flaw in its base64 encoding; used only if the other side offers nothing else.
        case old = "hkdf-hmac-sha256"
    }

    /// What the other side's MACs prove.
    struct Proof: Equatable {
        let party: Party
        /// Whether the MACs cover the other user's master key, as known to this device.
        let coversMaster: Bool
    }

    private enum Step: Equatable {
        /// Waiting for the other side's `accept`.
        case started
        /// Waiting for the other side's `key`.
        case accepted
        case comparing
    }

    static let method = "m.sas.v1"
    private static let agreement = "curve25519-hkdf-sha256"
    private static let hash = "sha256"

    let transaction: ExactText
    let own: Party
    let other: Party
    let isStarter: Bool
    private let sas: ShortAuthentication
    /// The canonical JSON of `m.key.verification.start`, which the commitment covers.
    private let startBytes: [UInt8]
    private var step: Step
    private var mac: MAC = .fixed
    private var hasEmoji = false
    private var commitment: String?
    private var theirKey: Curve25519Key?
    private var theirMACs: JSONValue?
    private var hasConfirmed = false

    // MARK: Beginning

    /// The content of a `start` by this device, without the transaction ID.
    static func start(from device: ExactText) -> [String: JSONValue] {
        [
            "from_device": .string(device.text), "method": .string(method),
            "key_agreement_protocols": [.string(agreement)], "hashes": [.string(hash)],
            "message_authentication_codes": [.string(MAC.fixed.rawValue), .string(MAC.old.rawValue)],
            "short_authentication_string": ["decimal", "emoji"],
        ]
    }

    /// Begins as the side that sends `start`.
    /// - Parameter content: The complete content as sent.
    init(starting content: JSONValue, as transaction: ExactText, own: Party, other: Party) throws {
        self.transaction = transaction
        (self.own, self.other) = (own, other)
        isStarter = true
        sas = try ShortAuthentication()
        startBytes = try CanonicalJSON.bytes(of: content)
        step = .started
    }

    /// Begins as the side that receives `start`.
    /// - Returns: The exchange, and the content of `accept`.
    static func accepting(
        _ start: JSONValue, as transaction: ExactText, own: Party, other: Party
    ) throws -> (exchange: SasExchange, accept: [String: JSONValue]) {
        func offers(_ name: String, _ value: String) -> Bool {
            start[name]?.array?.prefix(16).contains { $0.string == value } ?? false
        }
        guard start["method"]?.string == method, offers("key_agreement_protocols", agreement), offers("hashes", hash),
            offers("short_authentication_string", "decimal"),
            let mac = [MAC.fixed, .old].first(where: { offers("message_authentication_codes", $0.rawValue) })
        else { throw Failure.unknownMethod }
        guard let bytes = try? CanonicalJSON.bytes(of: start) else { throw Failure.invalidMessage }
        var exchange = SasExchange(
            transaction: transaction, own: own, other: other, isStarter: false, sas: try ShortAuthentication(),
            startBytes: bytes, step: .accepted)
        exchange.mac = mac
        exchange.hasEmoji = offers("short_authentication_string", "emoji")
        let strings: [JSONValue] = exchange.hasEmoji ? ["decimal", "emoji"] : ["decimal"]
        let accept: [String: JSONValue] = [
            "method": .string(method), "key_agreement_protocol": .string(agreement), "hash": .string(hash),
            "message_authentication_code": .string(mac.rawValue), "short_authentication_string": .array(strings),
            "commitment": .string(try exchange.commitment(to: exchange.sas.publicKey)),
        ]
        return (exchange, accept)
    }

    private init(
        transaction: ExactText, own: Party, other: Party, isStarter: Bool, sas: ShortAuthentication,
        startBytes: [UInt8], step: Step
    ) {
        self.transaction = transaction
        (self.own, self.other) = (own, other)
        self.isStarter = isStarter
        self.sas = sas
        self.startBytes = startBytes
        self.step = step
    }

    private func commitment(to key: Curve25519Key) throws -> String {
        Base64.encoded(try SHA256.digest(of: Array("\(key)".utf8) + startBytes))
    }

    // MARK: Messages of the other side

    /// - Returns: The content of `key`, to be sent.
    mutating func received(accept: JSONValue) throws -> [String: JSONValue] {
        guard isStarter, step == .started else { throw Failure.unexpectedMessage }
        guard accept["key_agreement_protocol"]?.string == Self.agreement, accept["hash"]?.string == Self.hash,
            let mac = accept["message_authentication_code"]?.string.flatMap({ MAC(rawValue: $0) }),
            let strings = accept["short_authentication_string"]?.array?.prefix(16),
            strings.contains(where: { $0.string == "decimal" || $0.string == "emoji" })
        else { throw Failure.unknownMethod }
        guard let commitment = accept["commitment"]?.string else { throw Failure.invalidMessage }
        self.mac = mac
        self.commitment = commitment
        hasEmoji = strings.contains { $0.string == "emoji" }
        step = .accepted
        return ["key": .string("\(sas.publicKey)")]
    }

    /// - Returns: The content of this side's `key`, if it is due now.
    mutating func received(key: JSONValue) throws -> [String: JSONValue]? {
        guard step == .accepted else { throw Failure.unexpectedMessage }
        guard let text = key["key"]?.string, let theirs = try? Curve25519Key(base64: text) else {
            throw Failure.invalidMessage
        }
        if isStarter {
            // Committed to before the other side knew our key, so it cannot have searched for a key that yields chosen
            // emoji.
            guard let commitment, try self.commitment(to: theirs) == commitment else {
                throw Failure.mismatchedCommitment
            }
        }
        do {
            try sas.agree(with: theirs)
        } catch {
            throw Failure.invalidMessage
        }
        theirKey = theirs
        step = .comparing
        return isStarter ? nil : ["key": .string("\(sas.publicKey)")]
    }

    mutating func received(mac: JSONValue) throws {
        guard step == .comparing, theirMACs == nil else { throw Failure.unexpectedMessage }
        theirMACs = mac
    }

    // MARK: Comparing

    /// The emoji and numbers that both sides show; `nil` before the keys are exchanged.
    func shortStrings() throws -> (emoji: [Int], numbers: [Int])? {
        guard step == .comparing, let theirKey else { return nil }
        let ours = "\(own.user)|\(own.device)|\(sas.publicKey)"
        let theirs = "\(other.user)|\(other.device)|\(theirKey)"
        let (first, second) = isStarter ? (ours, theirs) : (theirs, ours)
        let info = "MATRIX_KEY_VERIFICATION_SAS|\(first)|\(second)|\(transaction)"
        return (hasEmoji ? try sas.emoji(info: info) : [], try sas.numbers(info: info))
    }

    /// The user confirms that both sides show the same.
    /// - Returns: The content of `mac`, to be sent.
    mutating func confirm() throws -> [String: JSONValue] {
        guard step == .comparing, !hasConfirmed else { throw Failure.unexpectedMessage }
        hasConfirmed = true
        let info = Self.info(from: own, to: other, transaction)
        var keys = ["ed25519:\(own.device)": "\(own.signingKey)"]
        if let master = own.master { keys["ed25519:\(master)"] = "\(master)" }
        var macs: [String: JSONValue] = [:]
        for (id, key) in keys { macs[id] = .string(try code(of: key, info: info + id)) }
        let ids = Self.list(keys.keys)
        return ["mac": .object(macs), "keys": .string(try code(of: ids, info: info + "KEY_IDS"))]
    }

    /// The proof, once the user has confirmed and the other side's MACs have arrived.
    func proof() throws -> Proof? {
        guard hasConfirmed, let theirMACs else { return nil }
        guard let macs = theirMACs["mac"]?.object, let all = theirMACs["keys"]?.string, macs.count <= 64 else {
            throw Failure.invalidMessage
        }
        let info = Self.info(from: other, to: own, transaction)
        try verify(all, of: Self.list(macs.keys), info: info + "KEY_IDS")
        let deviceID = ExactText("ed25519:\(other.device)")
        guard let deviceMAC = macs.member(deviceID)?.string else { throw Failure.keyMismatch }
        try verify(deviceMAC, of: "\(other.signingKey)", info: info + deviceID.text)
        guard let master = other.master else { return Proof(party: other, coversMaster: false) }
        let masterID = ExactText("ed25519:\(master)")
        guard masterID != deviceID, let masterMAC = macs.member(masterID)?.string else {
            return Proof(party: other, coversMaster: false)
        }
        try verify(masterMAC, of: "\(master)", info: info + masterID.text)
        return Proof(party: other, coversMaster: true)
    }

    private static func info(from one: Party, to other: Party, _ transaction: ExactText) -> String {
        "MATRIX_KEY_VERIFICATION_MAC\(one.user)\(one.device)\(other.user)\(other.device)\(transaction)"
    }

    /// Sorts by bytes, as the MAC of the key IDs requires.
    private static func list(_ ids: some Sequence<String>) -> String {
        ids.map { ExactText($0) }.sorted().map(\.text).joined(separator: ",")
    }

    private func code(of text: String, info: String) throws -> String {
        switch mac {
        case .fixed: try sas.mac(of: text, info: info)
        case .old: try sas.oldMAC(of: text, info: info)
        }
    }

    private func verify(_ code: String, of text: String, info: String) throws {
        do {
            switch mac {
            case .fixed: try sas.verify(mac: code, of: text, info: info)
            case .old: try sas.verify(oldMAC: code, of: text, info: info)
            }
        } catch {
            throw Failure.keyMismatch
        }
    }
}
