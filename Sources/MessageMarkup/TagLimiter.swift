import ChatCore

/// Bounds HTML before it is parsed: allowed tags only, at most 100 levels deep, all closed, with allowed attributes
/// without duplicates.
///
/// gumbo's time is quadratic in the nesting depth (0.10: 10,000 `<div>`, 50 kB, take 1.2 s, and freeing a deep tree
/// overflows the stack), in the attributes of a tag and in unclosed formatting. After limiting it is linear. This is
/// not a second parser: gumbo still decodes entities and builds the tree, and its output is filtered again.
struct TagLimiter {
    /// The nesting depth that the Matrix specification allows.
    static let maxOpen = 100
    /// The maximum number of formatting elements that are reopened after a block that ended before them.
    private static let maxReopened = 8
    /// The maximum number of open elements beyond the limit whose end tags are still matched.
    private static let maxOverflowing = 1_000_000

    private struct Open {
        var tag: MarkupTag
        /// The range of its start tag in the output.
        var source: Range<Int>
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var output: [UInt8] = []
    private var open: [Open] = []
    private var overflow: [MarkupTag] = []
    /// The remaining bytes of reopened start tags: a long `href` could otherwise be repeated at each of 100 end tags.
    private var reopening: Int

    /// Returns the bounded HTML in UTF-8.
    static func limited(_ html: String) -> [UInt8] {
        var html = html
        return html.withUTF8 { bytes in
            var limiter = TagLimiter(bytes)
            limiter.run()
            return limiter.output
        }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
        reopening = bytes.count + 100_000
        output.reserveCapacity(bytes.count + bytes.count / 4)
    }

    private mutating func run() {
        var scanner = TagScanner(bytes)
        while let token = scanner.next() {
            switch token {
            case .text(let range): text(range)
            case .start(let name, let attributes):
                if name == .plaintext {
                    text(attributes.upperBound + 1..<bytes.count)
                    return endAll()
                }
                if let tag = MarkupTag(name: name) { start(tag, attributes) }
            case .end(let name):
                if let tag = MarkupTag(name: name) { end(tag) }
            }
        }
        endAll()
    }

    private mutating func endAll() {
        while let last = open.popLast() { writeEnd(last.tag) }
    }

    // MARK: Nesting

    private mutating func start(_ tag: MarkupTag, _ attributes: Range<Int>) {
        guard overflow.isEmpty else {
            if !tag.isVoid { overflowed(tag) }
            return
        }
        let (ends, scope) = (tag.facts.endsOnStart, tag.facts.scope)
        while !ends.isEmpty, let index = innermost(within: scope, where: { ends.contains($0) }) { close(to: index) }
        if tag.isVoid {
            write(tag, attributes)
        } else if open.count < Self.maxOpen {
            let start = output.count
            write(tag, attributes)
            open.append(Open(tag: tag, source: start..<output.count))
        } else {
            overflowed(tag)
        }
    }

    private mutating func overflowed(_ tag: MarkupTag) {
        if overflow.count < Self.maxOverflowing { overflow.append(tag) }
    }

    private mutating func end(_ tag: MarkupTag) {
        guard overflow.isEmpty else {
            if overflow.last == tag { overflow.removeLast() }
            return
        }
        guard let index = innermost(within: tag.facts.scope, where: { $0 == tag }) else { return }
        close(to: index)
    }

    /// Returns the index of the innermost open element that matches, unless an element of `scope` is inside it.
    private func innermost(within scope: TagSet, where fits: (MarkupTag) -> Bool) -> Int? {
        for index in open.indices.reversed() {
            let tag = open[index].tag
            if fits(tag) { return index }
            if scope.contains(tag) { return nil }
        }
        return nil
    }

    /// Closes the element and all inside it. Formatting elements inside are reopened after it, as in a browser.
    private mutating func close(to index: Int) {
        let endsAlone = index == open.count - 1 || open[index].tag.holdsFormatting
        let again = endsAlone ? [] : open[(index + 1)...].filter(\.tag.isFormatting).suffix(Self.maxReopened)
        while open.count > index { if let last = open.popLast() { writeEnd(last.tag) } }
        for element in again where element.source.count <= reopening {
            reopening -= element.source.count
            let start = output.count
            output += Array(output[element.source])
            open.append(Open(tag: element.tag, source: start..<output.count))
        }
    }

    // MARK: Output

    private mutating func text(_ range: Range<Int>) {
        // Text contains `<` only where a tag has no end.
        guard bytes[range].contains(.lessThan) else { return copy(range) }
        for byte in bytes[range] {
            if byte == .lessThan { output += "&lt;".utf8 } else { output.append(byte) }
        }
    }

    private mutating func copy(_ range: Range<Int>) {
        output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range]))
    }

    private mutating func writeEnd(_ tag: MarkupTag) {
        output.append(contentsOf: tag.facts.end)
    }

    private mutating func write(_ tag: MarkupTag, _ range: Range<Int>) {
        output.append(contentsOf: tag.facts.start)
        if !range.isEmpty, !tag.facts.attributes.isEmpty { writeAttributes(tag.facts.attributes, range) }
        output.append(.greaterThan)
    }

    /// Of duplicate attributes the first counts (HTML, duplicate-attribute parse error).
    private mutating func writeAttributes(_ allowed: [String], _ range: Range<Int>) {
        var remaining = allowed
        var scanner = AttributeScanner(bytes, range)
        while !remaining.isEmpty, let (name, value) = scanner.next() {
            guard let index = remaining.firstIndex(where: { isNamed($0, name) }) else { continue }
            let name = remaining.remove(at: index)
            guard value.count <= 6 * LinkTarget.maxLength else { continue }
            output.append(0x20)
            output += name.utf8
            output += "=\"".utf8
            if bytes[value].contains(.doubleQuote) {
                for byte in bytes[value] {
                    if byte == .doubleQuote { output += "&quot;".utf8 } else { output.append(byte) }
                }
            } else {
                copy(value)
            }
            output.append(.doubleQuote)
        }
    }

    private func isNamed(_ name: String, _ range: Range<Int>) -> Bool {
        range.count == name.utf8.count && zip(bytes[range], name.utf8).allSatisfy { $0.lowercased == $1 }
    }
}
