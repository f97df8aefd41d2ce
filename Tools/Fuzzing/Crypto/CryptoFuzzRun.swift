import Ratchets

/// Fuzzes one of the parsers of untrusted data that concern encryption.
public protocol CryptoFuzz {
    /// The number of calls after which the state is recreated: what hostile input leaves behind is bounded, not zero.
    static var lifetime: Int { get }
    init() async throws
    /// Returns a fuzzer in its initial state, without changing this one.
    func renewed() async throws -> Self
    /// Returns the violation, if any. An error is a violation, too.
    mutating func violation(of input: inout FuzzInput) async throws -> String?
}

extension CryptoFuzz {
    public static var lifetime: Int { 500 }
    public func renewed() async throws -> Self { try await Self() }
}

/// Feeds the parsers of `MatrixCrypto` with untrusted data from servers, devices, users and files.
public final class CryptoFuzzRun: @unchecked Sendable {
    /// The data to fuzz.
    public enum Kind: String, CaseIterable, Sendable {
        /// Device lists.
        case devices
        /// Cross-signing keys.
        case identities
        /// To-device messages, in the clear and through Olm.
        case messages
        case verifications
        /// The secret storage, and the descriptions of its keys.
        case secrets
        /// Recovery keys as typed.
        case recovery
        /// Key files.
        case keyfile
        /// Sessions in a backup.
        case backup
        /// Encrypted room events.
        case events
        /// Responses to key uploads and claims, and the key counts of a sync.
        case answers
        /// Room settings, reasons for withheld keys, and canonical JSON.
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
    /// The fuzzer in its initial state.
    private var first: (any CryptoFuzz)?
    private var fuzz: (any CryptoFuzz)?
    private var calls = 0
    /// The number of documents, events and actions that the inputs were made into so far.
    public private(set) var steps = 0

    public init(_ type: any CryptoFuzz.Type) { self.type = type }
    public convenience init(_ kind: Kind) { self.init(kind.type) }

    /// Makes documents, events or actions from an input until it is used up. Calls must not overlap.
    /// - Returns: the violation, if any.
    public func violation(of input: [UInt8]) async -> String? {
        do {
            if first == nil { first = try await type.init() }
            var input = FuzzInput(input)
            defer { steps += input.steps }
            repeat {
                if calls.isMultiple(of: type.lifetime) { fuzz = try await first?.renewed() }
                calls += 1
                input.steps += 1
                if let violation = try await fuzz?.violation(of: &input) { return violation }
            } while !input.isEmpty
            return nil
        } catch {
            return "\(type) ends with \(error)"
        }
    }
}
