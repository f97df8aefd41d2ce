/// The parts of a token that spans chunks or has escapes, as UTF-8.
struct GatheredText {
    private(set) var bytes: [UInt8] = []
    /// Whether U+FFFD replaces an unpaired surrogate.
    private(set) var isRepaired = false
    /// A high surrogate that awaits its low surrogate.
    private var highSurrogate: UInt16?

    var isEmpty: Bool { bytes.isEmpty && highSurrogate == nil }

    mutating func append(_ part: RawSpan) {
        if part.isEmpty { return }
        end()
        part.withUnsafeBytes { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ byte: UInt8) {
        end()
        bytes.append(byte)
    }

    /// Appends a UTF-16 code unit; a surrogate pair yields one character.
    mutating func append(_ unit: UInt16) {
        if let high = highSurrogate, UTF16.isTrailSurrogate(unit) {
            highSurrogate = nil
            append(UTF16.decode(UTF16.EncodedScalar([high, unit])))
            return
        }
        end()
        if UTF16.isLeadSurrogate(unit) {
            highSurrogate = unit
        } else if let scalar = Unicode.Scalar(unit) {
            append(scalar)
        } else {
            repair()
        }
    }

    /// Replaces a high surrogate that no low surrogate follows.
    mutating func end() {
        guard highSurrogate != nil else { return }
        highSurrogate = nil
        repair()
    }

    mutating func clear() {
        // Keep the capacity for short tokens only.
        if !bytes.isEmpty { bytes.removeAll(keepingCapacity: bytes.count < 4096) }
        isRepaired = false
    }

    private mutating func repair() {
        append("\u{FFFD}" as Unicode.Scalar)
        isRepaired = true
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
}
