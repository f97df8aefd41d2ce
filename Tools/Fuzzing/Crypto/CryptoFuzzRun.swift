import Ratchets

/// One of the readers of what others say to encryption.
public protocol CryptoFuzz {
    /// After how many calls everything begins anew: what hostile input leaves behind is bounded, and not nothing.
    static var lifetime: Int { get }
    init() async throws
    /// One that is as this one was made, while this one is left as it is.
    func renewed() async throws -> Self
    /// What is wrong, if anything is. An error is wrong, too.
    mutating func violation(of input: inout FuzzInput) async throws -> String?
}

extension CryptoFuzz {
    public static var lifetime: Int { 500 }
    public func renewed() async throws -> Self { try await Self() }
}

/// Feeds the readers of `MatrixCrypto` with what servers, devices, people and files may say.
public final class CryptoFuzzRun: @unchecked Sendable {
    /// What is fuzzed.
    public enum Kind: String, CaseIterable, Sendable {
        /// Device lists.
        case devices
        /// The keys of cross-signing.
        case identities
        /// Messages to devices, in the clear and by Olm.
        case messages
        case verifications
        /// The secret storage and the keys that it describes.
        case secrets
        /// Recovery keys as they are typed.
        case recovery
        /// Key files.
        case keyfile
        /// Sessions in a backup.
        case backup
        /// Encrypted events of rooms.
        case events
        /// Answers to uploads and claims of keys, and counts of a sync.
        case answers
        /// What is said of rooms, and canonical JSON.
        case rooms

        public var type: any CryptoFuzz.Type {
            switch self {
            case .devices: DeviceListFuzz.self
            case .identities: IdentityFuzz.self
            case .messages: DeviceMessageFuzz.self
            case .verifications: VerificationFuzz.self
            case .secrets: SecretFuzz.self
            case .recovery: RecoveryKeyFuzz.self
            case .keyfile: KeyFileFuzz.self
            case .backup: BackupFuzz.self
            case .events: RoomEventFuzz.self
            case .answers: KeyAnswerFuzz.self
            case .rooms: RoomSettingsFuzz.self
            }
        }
    }

    private let type: any CryptoFuzz.Type
    /// As it was made.
    private var first: (any CryptoFuzz)?
    private var fuzz: (any CryptoFuzz)?
    private var calls = 0

    public init(_ type: any CryptoFuzz.Type) { self.type = type }
    public convenience init(_ kind: Kind) { self.init(kind.type) }

    /// What is wrong, if anything is. One call at a time.
    public func violation(of input: [UInt8]) async -> String? {
        do {
            if first == nil { first = try await type.init() }
            if calls.isMultiple(of: type.lifetime) { fuzz = try await first?.renewed() }
            calls += 1
            var input = FuzzInput(input)
            return try await fuzz?.violation(of: &input)
        } catch {
            return "\(type) ends with \(error)"
        }
    }
}
