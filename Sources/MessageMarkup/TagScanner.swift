/// Tokenizes HTML like a browser, in one pass.
///
/// Does not build a tree, which is the parser's task; see ``TagLimiter``.
struct TagScanner {
    enum Token: Equatable {
        /// Text without decoded entities; may contain `<`.
        case text(Range<Int>)
        case start(name: TagName, attributes: Range<Int>)
        case end(name: TagName)
    }

    /// Elements whose content is not displayed: skipped up to their end tag, if there is one. If there is none, the
    /// content of those that are endless (`true`) extends to the end of the text.
    private static let skipped = TagTable(
        [
            "script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript", "template",
        ].map { (TagName($0), true) }
            + ["svg", "math", "object", "audio", "video", "head", "select"].map { (TagName($0), false) })

    private static func isEndless(_ name: TagName) -> Bool { skipped[name] ?? false }

    let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0
    /// Skipped elements without an end tag in the rest of the text: searching again for each would be quadratic.
    private var withoutEnd: Set<TagName> = []

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func next() -> Token? {
        while position < bytes.count {
            let start = position
            while position < bytes.count, bytes[position] != .lessThan { position += 1 }
            if position > start { return .text(start..<position) }
            if let token = markup() { return token }
        }
        return nil
    }

    /// Scans markup at a `<`. Returns `nil` and moves past what is skipped.
    private mutating func markup() -> Token? {
        let start = position
        switch byte(at: position + 1) {
        case let byte? where byte.isLetter:
            return tag(nameAt: position + 1) ?? restAsText(from: start)
        case .slash:
            guard let byte = byte(at: position + 2) else { return restAsText(from: start) }
            if byte.isLetter {
                guard case .start(let name, _)? = tag(nameAt: position + 2, isEnd: true) else {
                    return restAsText(from: start)
                }
                return .end(name: name)
            }
            skipTag()
        case .exclamation:
            skipComment()
        case .question:
            skipTag()
        default:
            position += 1
            return .text(start..<position)
        }
        return nil
    }

    /// Returns the rest as text after a tag without an end, so nothing is lost, except for raw-text elements such as
    /// `script`. Moving to the end keeps the scan linear.
    private mutating func restAsText(from start: Int) -> Token {
        position = bytes.count
        var end = start + 1
        while end < bytes.count, bytes[end].isLetter { end += 1 }
        return .text((Self.isEndless(TagName(bytes[start + 1..<end])) ? position : start)..<position)
    }

    /// - Returns: `nil` if the tag does not end.
    private mutating func tag(nameAt nameStart: Int, isEnd: Bool = false) -> Token? {
        var end = nameStart
        while let byte = byte(at: end), !byte.isSpace, byte != .slash, byte != .greaterThan { end += 1 }
        let attributesStart = end
        guard let attributesEnd = endOfTag(from: end) else { return nil }
        position = attributesEnd + 1
        let name = TagName(bytes[nameStart..<end])
        if !isEnd {
            if name == .plaintext { return .start(name: name, attributes: attributesEnd..<attributesEnd) }
            if Self.skipped[name] != nil { skipContent(of: name, length: end - nameStart) }
        }
        return .start(name: name, attributes: attributesStart..<attributesEnd)
    }

    /// Returns the position of the `>` that ends the tag, ignoring those in quoted values.
    private func endOfTag(from start: Int) -> Int? {
        var attributes = AttributeScanner(bytes, start..<bytes.count)
        while attributes.next() != nil {}
        return byte(at: attributes.position) == .greaterThan ? attributes.position : nil
    }

    private mutating func skipComment() {
        guard byte(at: position + 2) == .dash, byte(at: position + 3) == .dash else { return skipTag() }
        // `<!-->` and `<!--->` are complete comments.
        position += 2
        while position < bytes.count {
            guard bytes[position] == .greaterThan else {
                position += 1
                continue
            }
            position += 1
            if bytes[position - 2] == .dash, bytes[position - 3] == .dash { return }
            if bytes[position - 2] == .exclamation, bytes[position - 3] == .dash, bytes[position - 4] == .dash {
                return
            }
        }
    }

    /// Moves after the next `>`.
    private mutating func skipTag() {
        while position < bytes.count, bytes[position] != .greaterThan { position += 1 }
        position = min(position + 1, bytes.count)
    }

    private mutating func skipContent(of name: TagName, length: Int) {
        guard !withoutEnd.contains(name) else { return }
        var at = position
        while at + 2 + length <= bytes.count {
            if bytes[at] == .lessThan, bytes[at + 1] == .slash, matches(name, at + 2..<at + 2 + length) {
                position = at
                skipTag()
                return
            }
            at += 1
        }
        withoutEnd.insert(name)
        if Self.isEndless(name) { position = bytes.count }
    }

    private func matches(_ name: TagName, _ range: Range<Int>) -> Bool {
        guard TagName(bytes[range]) == name else { return false }
        guard let next = byte(at: range.upperBound) else { return true }
        return next.isSpace || next == .slash || next == .greaterThan
    }

    private func byte(at index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }
}
