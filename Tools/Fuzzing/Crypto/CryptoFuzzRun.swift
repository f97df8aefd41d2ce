import Ratchets

/// One of the readers of what others say to encryption.
protocol CryptoFuzz {
    /// After how many calls everything begins anew: what hostile input leaves behind is bounded, and not nothing.
    static var lifetime: Int { get }
    init() async throws
    /// What is wrong, if anything is. An error is wrong, too.
    mutating func violation(of input: inout FuzzInput) async throws -> String?
}

extension CryptoFuzz {
    static var lifetime: Int { 500 }
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

        fileprivate var type: any CryptoFuzz.Type {
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

    private let kind: Kind
    private var fuzz: (any CryptoFuzz)?
    private var calls = 0

    public init(_ kind: Kind) { self.kind = kind }

    /// What is wrong, if anything is. One call at a time.
    public func violation(of input: [UInt8]) async -> String? {
        do {
            if fuzz == nil || calls.isMultiple(of: kind.type.lifetime) { fuzz = try await kind.type.init() }
            calls += 1
            var input = FuzzInput(input)
            return try await fuzz?.violation(of: &input)
        } catch {
            return "\(kind.rawValue) end with \(error)"
        }
    }
}
