/// Splits a document, in chunks of any size, into tokens on demand.
///
/// Accepts exactly the grammar of RFC 8259, with an optional byte order mark. Values are repaired, so that one
/// sender's does not make a whole response unreadable: invalid UTF-8 and unpaired surrogates become U+FFFD, and
/// numbers beyond the range of `Double` become infinite. A strict tokenizer throws an error instead.
/// Existing libraries reject the document: simdjson and Foundation for both invalid UTF-8 and unpaired surrogates,
/// yyjson for unpaired surrogates. They would need this parser as a fallback, and would save about a third of the
/// time when producing Swift values.
///
/// Between chunks it holds only the incomplete token and one bit for each open container.
struct JSONTokenizer {
    private enum Expectation {
        case value, elementOrEnd, key, keyOrEnd, colon, separatorOrEnd, nothing
    }

    /// The state at the end of the last chunk.
    private enum Unfinished {
        case nothing
        case byteOrderMark(bytes: Int)
        case text
        /// After a backslash.
        case escape
        case unicodeEscape(digits: Int, unit: UInt16)
        case number
        case literal(Literal, bytes: Int)
    }

    private enum Literal {
        case null, yes, no

        var spelling: StaticString {
            switch self {
            case .null: "null"
            case .yes: "true"
            case .no: "false"
            }
        }

        var value: JSONValue {
            switch self {
            case .null: .null
            case .yes: .bool(true)
            case .no: .bool(false)
            }
        }
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private(set) var depth = 0
    /// The current line, from 1.
    private(set) var line = 1
    private var expectation = Expectation.value
    private var unfinished = Unfinished.byteOrderMark(bytes: 0)
    /// One bit for each open container, set for objects.
    private var kinds: [UInt64] = []
    private var isInObject = false
    /// Whether the current string is a key.
    private var isKey = false
    /// The token that spans chunks or has escapes.
    private var gathered = GatheredText()
    private let isStrict: Bool

    init(isStrict: Bool = false) {
        self.isStrict = isStrict
    }

    /// Whether the document is complete, except for a top-level number that might continue (``finish()``).
    var isComplete: Bool {
        if case .nothing = expectation { !isUnfinished } else { false }
    }

    private var isUnfinished: Bool {
        if case .nothing = unfinished { false } else { true }
    }

    /// Returns the next token that ends in a chunk.
    /// - Parameters:
    ///   - bytes: The chunk.
    ///   - offset: The start, which is moved after the token.
    /// - Returns: `nil` at the end of the chunk.
    /// - Throws: ``JSONError/malformed(line:reason:)``.
    @inline(__always)
    mutating func next(in bytes: RawSpan, from offset: inout Int) throws(JSONError) -> JSONToken? {
        if isUnfinished {
            if let token = try resume(in: bytes, from: &offset) { return token }
            if isUnfinished { return nil }
        }
        while offset < bytes.byteCount {
            let byte = bytes.byte(at: offset)
            switch byte {
            case 0x20, 0x09, 0x0D: offset += 1
            case 0x0A:
                offset += 1
                line += 1
            case UInt8(ascii: ","):
                guard case .separatorOrEnd = expectation else { throw unexpected(byte) }
                expectation = isInObject ? .key : .value
                offset += 1
            case UInt8(ascii: ":"):
                guard case .colon = expectation else { throw unexpected(byte) }
                expectation = .value
                offset += 1
            case UInt8(ascii: "\""):
                switch expectation {
                case .value, .elementOrEnd: isKey = false
                case .key, .keyOrEnd: isKey = true
                default: throw unexpected(byte)
                }
                offset += 1
                return try text(in: bytes, from: &offset)
            default:
                return try structure(byte, in: bytes, from: &offset)
            }
        }
        return nil
    }

    /// Ends the document.
    /// - Returns: The number if the document is a single number.
    /// - Throws: ``JSONError/truncated`` if the document is incomplete.
    mutating func finish() throws(JSONError) -> JSONToken? {
        if case .number = unfinished, depth == 0, let value = JSONNumber.value(of: gathered.bytes.span.bytes) {
            unfinished = .nothing
            return try endNumber(value)
        }
        guard isComplete else { throw .truncated }
        return nil
    }

    // MARK: Containers, numbers and literals

    private mutating func structure(
        _ byte: UInt8, in bytes: RawSpan, from offset: inout Int
    ) throws(JSONError) -> JSONToken? {
        switch byte {
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            try close(byte)
            offset += 1
            return .end
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try expectValue(byte)
            offset += 1
            return open(isObject: byte == UInt8(ascii: "{"))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try expectValue(byte)
            return try number(in: bytes, from: &offset)
        case UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "f"):
            try expectValue(byte)
            let literal: Literal =
                byte == UInt8(ascii: "n") ? .null : byte == UInt8(ascii: "t") ? .yes : .no
            return try self.literal(literal, matched: 0, in: bytes, from: &offset)
        default:
            throw unexpected(byte)
        }
    }

    private func expectValue(_ byte: UInt8) throws(JSONError) {
        switch expectation {
        case .value, .elementOrEnd: return
        default: throw unexpected(byte)
        }
    }

    private mutating func endValue() {
        expectation = depth == 0 ? .nothing : .separatorOrEnd
    }

    private mutating func open(isObject: Bool) -> JSONToken {
        let (word, bit) = (depth >> 6, UInt64(1) << UInt64(depth & 63))
        if word == kinds.count { kinds.append(0) }
        if isObject { kinds[word] |= bit } else { kinds[word] &= ~bit }
        depth += 1
        isInObject = isObject
        expectation = isObject ? .keyOrEnd : .elementOrEnd
        return isObject ? .beginObject : .beginArray
    }

    private mutating func close(_ byte: UInt8) throws(JSONError) {
        switch expectation {
        case .keyOrEnd, .elementOrEnd, .separatorOrEnd: break
        default: throw unexpected(byte)
        }
        guard depth > 0, isInObject == (byte == UInt8(ascii: "}")) else { throw unexpected(byte) }
        depth -= 1
        if depth > 0 { isInObject = kinds[(depth - 1) >> 6] & (1 << UInt64((depth - 1) & 63)) != 0 }
        endValue()
    }

    private mutating func literal(
        _ literal: Literal, matched: Int, in bytes: RawSpan, from offset: inout Int
    ) throws(JSONError) -> JSONToken? {
        var matched = matched
        while matched < literal.spelling.utf8CodeUnitCount {
            guard offset < bytes.byteCount else {
                unfinished = .literal(literal, bytes: matched)
                return nil
            }
            guard bytes.byte(at: offset) == literal.spelling.utf8Start[matched] else {
                throw unexpected(bytes.byte(at: offset))
            }
            matched += 1
            offset += 1
        }
        unfinished = .nothing
        endValue()
        return .scalar(literal.value)
    }

    private mutating func number(in bytes: RawSpan, from offset: inout Int) throws(JSONError) -> JSONToken? {
        let start = offset
        while offset < bytes.byteCount, JSONNumber.mayContain(bytes.byte(at: offset)) { offset += 1 }
        let digits = bytes.extracting(start..<offset)
        let isContinued = if case .number = unfinished { true } else { false }
        // The next chunk may continue the number.
        if offset == bytes.byteCount || isContinued {
            gathered.append(digits)
            unfinished = .number
            if offset == bytes.byteCount { return nil }
            unfinished = .nothing
            return try endNumber(JSONNumber.value(of: gathered.bytes.span.bytes))
        }
        return try endNumber(JSONNumber.value(of: digits))
    }

    private mutating func endNumber(_ value: JSONValue?) throws(JSONError) -> JSONToken {
        guard let value else { throw malformed("a number of no number's form") }
        if isStrict, case .number(let number) = value, !number.isFinite { throw malformed("a number out of range") }
        gathered.clear()
        endValue()
        return .scalar(value)
    }

    // MARK: Strings

    /// - Parameter offset: The position after the quotation mark, or after the part already read.
    private mutating func text(in bytes: RawSpan, from offset: inout Int) throws(JSONError) -> JSONToken? {
        while true {
            let start = offset
            offset = bytes.endOfPlainText(from: start)
            if offset == bytes.byteCount {
                gathered.append(bytes.extracting(start..<offset))
                unfinished = .text
                return nil
            }
            let byte = bytes.byte(at: offset)
            guard byte >= 0x20 else { throw malformed("a control character in a text") }
            if byte == UInt8(ascii: "\"") {
                let rest = bytes.extracting(start..<offset)
                offset += 1
                return try endText(with: rest)
            }
            gathered.append(bytes.extracting(start..<offset))
            offset += 1
            guard try escape(in: bytes, from: &offset) else { return nil }
        }
    }

    private mutating func endText(with rest: RawSpan) throws(JSONError) -> JSONToken {
        unfinished = .nothing
        let text: String
        if gathered.isEmpty {
            text = try decoded(rest)
        } else {
            gathered.append(rest)
            gathered.end()
            if isStrict, gathered.isRepaired { throw notUnicode }
            text = try decoded(gathered.bytes.span.bytes)
            gathered.clear()
        }
        if isKey {
            expectation = .colon
            return .key(text)
        }
        endValue()
        return .scalar(.string(text))
    }

    @inline(__always)
    private func decoded(_ bytes: RawSpan) throws(JSONError) -> String {
        if !isStrict { return String(repairing: bytes) }
        guard let text = String(validating: bytes) else { throw notUnicode }
        return text
    }

    /// - Returns: Whether the escape is complete in this chunk.
    private mutating func escape(in bytes: RawSpan, from offset: inout Int) throws(JSONError) -> Bool {
        guard offset < bytes.byteCount else {
            unfinished = .escape
            return false
        }
        let byte = bytes.byte(at: offset)
        let meant: UInt8
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): meant = byte
        case UInt8(ascii: "b"): meant = 0x08
        case UInt8(ascii: "f"): meant = 0x0C
        case UInt8(ascii: "n"): meant = 0x0A
        case UInt8(ascii: "r"): meant = 0x0D
        case UInt8(ascii: "t"): meant = 0x09
        case UInt8(ascii: "u"):
            offset += 1
            return try unicodeEscape(digits: 0, unit: 0, in: bytes, from: &offset)
        default: throw malformed("an escape of no known kind")
        }
        offset += 1
        gathered.append(meant)
        return true
    }

    private mutating func unicodeEscape(
        digits: Int, unit: UInt16, in bytes: RawSpan, from offset: inout Int
    ) throws(JSONError) -> Bool {
        var (digits, unit) = (digits, unit)
        while digits < 4 {
            guard offset < bytes.byteCount else {
                unfinished = .unicodeEscape(digits: digits, unit: unit)
                return false
            }
            guard let digit = hexadecimal(bytes.byte(at: offset)) else { throw malformed("an escape that is cut off") }
            unit = unit << 4 | digit
            digits += 1
            offset += 1
        }
        gathered.append(unit)
        return true
    }

    private func hexadecimal(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    // MARK: Chunks

    /// Continues the token at the end of the last chunk.
    /// - Returns: The token if it ends in this chunk.
    private mutating func resume(in bytes: RawSpan, from offset: inout Int) throws(JSONError) -> JSONToken? {
        guard offset < bytes.byteCount else { return nil }
        switch unfinished {
        case .nothing: return nil
        case .byteOrderMark(let count): return try byteOrderMark(matched: count, in: bytes, from: &offset)
        case .text: return try text(in: bytes, from: &offset)
        case .escape:
            guard try escape(in: bytes, from: &offset) else { return nil }
            return try text(in: bytes, from: &offset)
        case .unicodeEscape(let digits, let unit):
            guard try unicodeEscape(digits: digits, unit: unit, in: bytes, from: &offset) else { return nil }
            return try text(in: bytes, from: &offset)
        case .number: return try number(in: bytes, from: &offset)
        case .literal(let literal, let count):
            return try self.literal(literal, matched: count, in: bytes, from: &offset)
        }
    }

    private mutating func byteOrderMark(
        matched: Int, in bytes: RawSpan, from offset: inout Int
    ) throws(JSONError) -> JSONToken? {
        var matched = matched
        while offset < bytes.byteCount, matched < 3 {
            guard bytes.byte(at: offset) == Self.byteOrderMark[matched] else {
                guard matched == 0 else { throw unexpected(bytes.byte(at: offset)) }
                unfinished = .nothing
                return nil
            }
            matched += 1
            offset += 1
        }
        unfinished = matched == 3 ? .nothing : .byteOrderMark(bytes: matched)
        return nil
    }

    // MARK: Errors

    private var notUnicode: JSONError { malformed("a text that is not Unicode") }

    private func malformed(_ reason: String) -> JSONError { .malformed(line: line, reason: reason) }

    private func unexpected(_ byte: UInt8) -> JSONError {
        // Do not quote the document's content: errors are logged.
        let isStructure = "{}[],:\"".utf8.contains(byte)
        let found = isStructure ? "“\(Character(Unicode.Scalar(byte)))”" : "something else"
        return malformed("\(found) where \(expected) must stand")
    }

    private var expected: String {
        switch expectation {
        case .value: "a value"
        case .elementOrEnd: "a value or “]”"
        case .key: "a key"
        case .keyOrEnd: "a key or “}”"
        case .colon: "“:”"
        case .separatorOrEnd: isInObject ? "“,” or “}”" : "“,” or “]”"
        case .nothing: "nothing more"
        }
    }
}
