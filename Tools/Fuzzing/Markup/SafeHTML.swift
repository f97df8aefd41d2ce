/// Checks HTML strictly against Matrix's list of allowed tags and attributes. Shares no code with the sanitizer.
public enum SafeHTML {
    private static let attributes: [String: Set<String>] = [
        "span": ["data-mx-bg-color", "data-mx-color", "data-mx-spoiler", "data-mx-maths"],
        "a": ["target", "href"], "img": ["width", "height", "alt", "title", "src", "data-mx-emoticon"], "ol": ["start"],
        "code": ["class"], "div": ["data-mx-maths"],
    ]
    private static let names = Set(
        """
        del h1 h2 h3 h4 h5 h6 blockquote p a ul ol sup sub li b i u strong em s code hr br div table thead tbody tr th \
        td caption pre span img details summary
        """.split(separator: " ").map(String.init))
    private static let schemes = ["https:", "http:", "ftp:", "mailto:", "magnet:", "matrix:"]

    /// Returns what is not allowed, or `nil` if everything is. Every `<` must begin a complete tag that is closed.
    public static func violation(of html: String) -> String? {
        var open: [Substring] = []
        var rest = Substring(html)
        while let start = rest.utf8.firstIndex(of: UInt8(ascii: "<")) {
            if rest[..<start].utf8.contains(UInt8(ascii: ">")) { return "a stray >" }
            rest = rest[rest.utf8.index(after: start)...]
            guard let end = endOfTag(rest) else { return "a tag without end" }
            let tag = rest[..<end]
            rest = rest[rest.utf8.index(after: end)...]
            if tag.first == "/" {
                guard let last = open.popLast(), last == tag.dropFirst() else { return "</\(tag)> ends nothing" }
                continue
            }
            let name = Substring(tag.unicodeScalars.prefix { $0 != " " })
            if let broken = violation(ofTag: String(name), attributes: tag[name.endIndex...]) { return broken }
            if !["br", "hr", "img"].contains(name) { open.append(name) }
            if open.count > 100 { return "nested deeper than 100" }
        }
        if rest.utf8.contains(UInt8(ascii: ">")) { return "a stray >" }
        return open.isEmpty ? nil : "<\(open[0])> has no end"
    }

    /// The index of the tag's closing `>`; quoted values may contain anything but quotes.
    private static func endOfTag(_ text: Substring) -> Substring.Index? {
        var isQuoted = false
        for index in text.utf8.indices {
            switch text.utf8[index] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ">") where !isQuoted: return index
            case UInt8(ascii: "<") where !isQuoted: return nil
            default: break
            }
        }
        return nil
    }

    private static func violation(ofTag name: String, attributes text: Substring) -> String? {
        guard names.contains(name) else { return "the tag \(name)" }
        // Compare Unicode scalars: a quote followed by a combining mark is a different `Character`, but HTML still sees
        // the quote.
        var rest = text.unicodeScalars
        while !rest.isEmpty {
            guard rest.popFirst() == " ", let equals = rest.firstIndex(of: "=") else { return "attributes \(text)" }
            let key = String(rest[..<equals])
            guard attributes[name]?.contains(key) ?? false else { return "\(key) on \(name)" }
            rest = rest[rest.index(after: equals)...]
            guard rest.popFirst() == "\"", let end = rest.firstIndex(of: "\"") else { return "a value unquoted" }
            let value = String(rest[..<end])
            if let broken = violation(of: value, key) { return broken }
            rest = rest[rest.index(after: end)...]
        }
        return nil
    }

    private static func violation(of value: String, _ key: String) -> String? {
        let isAllowed =
            switch key {
            case "href": schemes.contains { value.hasPrefix($0) }
            case "src": value.hasPrefix("mxc://")
            case "class": value.hasPrefix("language-") && !value.contains(" ")
            case "data-mx-color", "data-mx-bg-color":
                value.utf8.count == 7 && value.hasPrefix("#") && value.dropFirst().allSatisfy(\.isHexDigit)
            case "start", "width", "height": Int(value) != nil
            default: true
            }
        return isAllowed ? nil : "\(key)=\(value)"
    }
}
