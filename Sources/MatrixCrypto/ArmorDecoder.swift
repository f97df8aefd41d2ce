import Ratchets

/// Decodes the base64 armor of a key file incrementally.
struct ArmorDecoder {
    private enum Place {
        case before, within, ending, behind
    }

    /// Bytes buffered per line outside the armor; header and trailer are shorter.
    private static let maxLine = 200
    /// How many bytes to scan for the header or trailer before rejecting the file as damaged.
    private static let maxBefore = 64 << 10

    private var place = Place.before
    private var line: [UInt8] = []
    private var skipped = 0
    private var characters: [UInt8] = []
    private var hasEnded = false

    /// - Returns: The bytes that can be decoded so far.
    mutating func feed(_ bytes: some Collection<UInt8>) throws(KeyFile.Failure) -> [UInt8] {
        var rest = bytes[...]
        while let byte = rest.first {
            switch place {
            case .behind: return try decoded()
            case .within:
                let end = rest.firstIndex(of: UInt8(ascii: "-")) ?? rest.endIndex
                characters += rest[..<end].lazy.filter { !Self.isSpace($0) }
                rest = rest[end...]
                if !rest.isEmpty { place = .ending }
            case .before, .ending:
                rest = rest.dropFirst()
                if byte == UInt8(ascii: "\n") {
                    try endLine()
                } else {
                    skipped += 1
                    guard skipped <= Self.maxBefore else { throw .damaged }
                    // A line that is cut off here is too long to equal the header or the trailer.
                    if line.count <= Self.maxLine { line.append(byte) }
                }
            }
        }
        return try decoded()
    }

    /// - Returns: The remaining decoded bytes.
    mutating func finish() throws(KeyFile.Failure) -> [UInt8] {
        if place == .ending { try endLine() }
        guard place == .behind else { throw .damaged }
        guard !characters.isEmpty else { return [] }
        defer { characters = [] }
        return try Self.decode(characters)
    }

    private mutating func endLine() throws(KeyFile.Failure) {
        while let last = line.last, Self.isSpace(last) { line.removeLast() }
        switch place {
        case .before:
            if line == KeyFile.header {
                place = .within
                skipped = 0
            }
        default:
            guard line == KeyFile.trailer else { throw .damaged }
            place = .behind
        }
        line = []
    }

    private mutating func decoded() throws(KeyFile.Failure) -> [UInt8] {
        // Hold back the last group of four: it may be padded.
        let count = max(0, characters.count - 4) / 4 * 4
        guard count > 0 else { return [] }
        let whole = characters.prefix(count)
        guard !whole.contains(UInt8(ascii: "=")) else { throw .damaged }
        defer { characters.removeFirst(count) }
        return try Self.decode(Array(whole))
    }

    private static func decode(_ characters: [UInt8]) throws(KeyFile.Failure) -> [UInt8] {
        guard let bytes = try? Base64.decoded(String(decoding: characters, as: UTF8.self)) else { throw .damaged }
        return bytes
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
