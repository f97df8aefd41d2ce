public import ChatCore
public import JSONReading
public import Ratchets

/// The description of a secret storage key: `m.secret_storage.key.ID` in the specification's "Secret storage". It has
/// the data to check a key, but not the key.
public struct SecretStorageKey: Equatable, Sendable {
    public enum Failure: Error, Equatable, Sendable {
        case id
        case algorithm
        /// The data to check the key is unreadable.
        case check
        /// It has no passphrase, or uses an unsupported derivation.
        case passphrase
        /// So few iterations that the key can be guessed, or so many that deriving it would take hours.
        case iterations
        case library(RatchetError)
    }

    /// How the key is derived from a passphrase.
    public struct Passphrase: Equatable, Sendable {
        public static let iterations: ClosedRange<Int64> = 100_000...10_000_000
        static let algorithm = "m.pbkdf2"

        public let salt: String
        /// As stated in the description; may be outside the accepted range.
        public let iterations: Int64

        public init(salt: String, iterations: Int64) {
            self.salt = salt
            self.iterations = iterations
        }

        public var isUsable: Bool { Self.iterations.contains(iterations) }
    }

    /// Whether a key matches the description.
    public enum Proof: Equatable, Sendable {
        case proven
        case wrong
        /// The description has no data to check the key; only decrypting a secret proves it.
        case unproven
    }

    public static let algorithm = "m.secret_storage.v1.aes-hmac-sha2"
    public static let defaultType = "m.secret_storage.default_key"
    private static let maxText = 1_000

    public let id: ExactText
    public let name: String?
    public let passphrase: Passphrase?
    /// The IV and MAC of 32 zero bytes, encrypted with the key under an empty name.
    private let check: Check?

    private struct Check: Equatable {
        let iv: [UInt8]
        let mac: [UInt8]
    }

    /// The type of its account data event.
    public var type: String { Self.type(of: id) }
    public static func type(of id: ExactText) -> String { "m.secret_storage.key.\(id.text)" }

    /// Describes a key under a new random ID.
    public init(describing key: KeyMaterial, name: String? = nil) throws(Failure) {
        do throws(RatchetError) {
            let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef".utf8)
            id = ExactText(bytes: try Randomness.bytes(32).map { letters[Int($0 & 31)] })
            let encrypted = try EncryptedSecret(Self.zeros, name: "", key: key)
            check = Check(iv: Array(encrypted.iv), mac: Array(encrypted.mac))
        } catch {
            throw .library(error)
        }
        self.name = name
        passphrase = nil
    }

    /// Parses a description. An unusable passphrase is no error: the key itself can still be entered.
    public init(id: ExactText, content: JSONValue) throws(Failure) {
        guard (1...255).contains(id.bytes.count) else { throw .id }
        guard content["algorithm"]?.string == Self.algorithm else { throw .algorithm }
        self.id = id
        name = content["name"]?.string.map { String($0.prefix(Self.maxText)) }
        passphrase = content["passphrase"].flatMap(Self.passphrase)
        switch (content["iv"] ?? .null, content["mac"] ?? .null) {
        case (.null, .null), (.string, .null): check = nil
        case (.string(let iv), .string(let mac)):
            guard let iv = Self.bytes(iv, count: 16), let mac = Self.bytes(mac, count: 32) else { throw .check }
            check = Check(iv: iv, mac: mac)
        default: throw .check
        }
    }

    private static func passphrase(_ json: JSONValue) -> Passphrase? {
        guard json["algorithm"]?.string == Passphrase.algorithm, let salt = json["salt"]?.string,
            salt.utf8.count <= maxText, case .integer(let iterations)? = json["iterations"]
        else { return nil }
        // Keys of other lengths are not supported.
        switch json["bits"] {
        case nil, .null?, .integer(256)?: return Passphrase(salt: salt, iterations: iterations)
        default: return nil
        }
    }

    static func bytes(_ base64: String, count: Int) -> [UInt8]? {
        guard base64.utf8.count <= 2 * count, let bytes = try? Base64.decoded(base64), bytes.count == count else {
            return nil
        }
        return bytes
    }

    /// The content to store as account data.
    public var content: JSONValue {
        var content: [String: JSONValue] = ["algorithm": .string(Self.algorithm)]
        content["name"] = name.map { .string($0) }
        if let check {
            content["iv"] = .string(Base64.encoded(check.iv))
            content["mac"] = .string(Base64.encoded(check.mac))
        }
        if let passphrase {
            content["passphrase"] = [
                "algorithm": .string(Passphrase.algorithm), "salt": .string(passphrase.salt),
                "iterations": .integer(passphrase.iterations),
            ]
        }
        return .object(content)
    }

    private static let zeros = [UInt8](repeating: 0, count: 32)

    public func proof(of key: KeyMaterial) throws(Failure) -> Proof {
        guard let check else { return .unproven }
        do throws(RatchetError) {
            let encrypted = try EncryptedSecret(Self.zeros, name: "", key: key, iv: check.iv)
            return ConstantTime.equal(Array(encrypted.mac), check.mac) ? .proven : .wrong
        } catch {
            throw .library(error)
        }
    }

    /// Derives the key from a passphrase on a thread of its own, which can take seconds.
    public func key(from typed: String) async throws(Failure) -> KeyMaterial {
        guard let passphrase else { throw .passphrase }
        guard passphrase.isUsable else { throw .iterations }
        do throws(RatchetError) {
            let bytes = try await PassphraseKey.bytes(
                from: typed, salt: Array(passphrase.salt.utf8), rounds: UInt32(passphrase.iterations),
                count: KeyMaterial.count)
            return try KeyMaterial(bytes: bytes)
        } catch {
            throw .library(error)
        }
    }

    /// Whether text that is not a valid recovery key looks like a mistyped one.
    public static func resemblesRecoveryKey(_ text: String) -> Bool { RecoveryKeyCodec.resembles(text) }
}
