import CRatchets

/// Why the library refused something. No case carries data: none can overflow a secret into a log.
public enum RatchetError: Error, Hashable, Sendable {
    /// A wrong length or a call at the wrong time: a mistake of the caller.
    case argument
    /// It cannot be read at all.
    case malformed
    /// A public key that is none, or of small order.
    case key
    /// A signature that does not hold.
    case signature
    /// Damaged, or encrypted with another key.
    case mac
    /// It begins a session with a one-time key that is not here, or no longer.
    case unknownOneTimeKey
    /// From before the first message that the session can read, or the session has no index left.
    case unknownIndex
    /// The key of the message was used already, or lies too far ahead.
    case messageKey
    /// A pickle that is damaged, or was encrypted with another key.
    case pickle
    /// Of another session, or from another device than it should be.
    case mismatch
    /// The system has no random numbers.
    case random
    /// The program was built without the library.
    case absent

    init?(_ status: ratchet_status) {
        switch Int(status) {
        case RATCHET_OK: return nil
        case RATCHET_MALFORMED: self = .malformed
        case RATCHET_KEY: self = .key
        case RATCHET_SIGNATURE: self = .signature
        case RATCHET_MAC: self = .mac
        case RATCHET_UNKNOWN_ONE_TIME_KEY: self = .unknownOneTimeKey
        case RATCHET_UNKNOWN_INDEX: self = .unknownIndex
        case RATCHET_MESSAGE_KEY: self = .messageKey
        case RATCHET_PICKLE: self = .pickle
        case RATCHET_MISMATCH: self = .mismatch
        case RATCHET_RANDOM: self = .random
        case RATCHET_ABSENT: self = .absent
        // An unknown number is an error as well.
        default: self = .argument
        }
    }
}

func check(_ status: ratchet_status) throws(RatchetError) {
    if let error = RatchetError(status) { throw error }
}

/// What a call hands over, copied; the library's own copy is wiped.
func output(_ body: (UnsafeMutablePointer<ratchet_bytes>) -> ratchet_status) throws(RatchetError) -> [UInt8] {
    var bytes = ratchet_bytes(data: nil, length: 0)
    try check(body(&bytes))
    defer { ratchet_bytes_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes.data, count: bytes.length))
}

/// What a call writes into a buffer of `count` bytes.
func filled(_ count: Int, _ body: (UnsafeMutablePointer<UInt8>) -> ratchet_status) throws(RatchetError) -> [UInt8] {
    var status: ratchet_status = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        buffer.initialize(repeating: 0)
        initialized = count
        if let start = buffer.baseAddress { status = body(start) }
    }
    try check(status)
    return bytes
}

/// The object that a call makes.
func made(_ body: (UnsafeMutablePointer<OpaquePointer?>) -> ratchet_status) throws(RatchetError) -> OpaquePointer {
    var handle: OpaquePointer?
    try check(body(&handle))
    guard let handle else { throw .argument }
    return handle
}

/// Text of the library's own making, such as an identifier; it is ASCII.
func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
