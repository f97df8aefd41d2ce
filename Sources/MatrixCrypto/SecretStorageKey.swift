public import ChatCore
public import JSONReading
public import Ratchets

/// The description of a key that the secret storage is encrypted with: `m.secret_storage.key.ID` of the specification's
/// "Secret storage". It has what a key is recognized by, and not the key.
public struct SecretStorageKey: Equatable, Sendable {
    public enum Failure: Error, Equatable, Sendable {
        case id
        case algorithm
        /// What the key is recognized by cannot be read.
        case check
        /// It has no passphrase, or one in a way that is not known.
        case passphrase
        /// So few that the key can be guessed, or so many that it is made for hours.
        case iterations
        case library(RatchetError)
    }

    /// How a key is made of a passphrase.
    public struct Passphrase: Equatable, Sendable {
        public static let iterations: ClosedRange<Int64> = 100_000...10_000_000
        static let algorithm = "m.pbkdf2"

        public let salt: String
        /// As the description has it, which may be out of ``iterations``.
        public let iterations: Int64

        public init(salt: String, iterations: Int64) {
            self.salt = salt
            self.iterations = iterations
        }

        public var isUsable: Bool { Self.iterations.contains(iterations) }
    }

    /// Whether a key is the one that is described.
    public enum Proof: Equatable, Sendable {
        case proven
        case wrong
        /// The description has nothing that it could be recognized by: what it opens proves it.
        case unproven
    }

    public static let algorithm = "m.secret_storage.v1.aes-hmac-sha2"
    public static let defaultType = "m.secret_storage.default_key"
    private static let maxText = 1_000

    public let id: ExactText
    public let name: String?
    public let passphrase: Passphrase?
    /// What 32 bytes of zero are when the key encrypts them under an empty name.
    private let check: Check?

    private struct Check: Equatable {
        let iv: [UInt8]
        let mac: [UInt8]
    }

    /// The type of its account data.
    public var type: String { Self.type(of: id) }
    public static func type(of id: ExactText) -> String { "m.secret_storage.key.\(id.text)" }

    /// Describes a key under an ID of its own.
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

    /// Reads a description. A passphrase that cannot be used does not stand in the way of the key itself.
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
        // Keys of another length are none here.
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

    /// What is stored as account data.
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

    /// The key that a passphrase makes. Takes up to seconds, on a thread of its own.
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

    /// Whether text that is no recovery key may have been meant as one.
    public static func resemblesRecoveryKey(_ text: String) -> Bool { RecoveryKeyCodec.resembles(text) }
}
