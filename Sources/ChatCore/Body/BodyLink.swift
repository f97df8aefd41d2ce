/// A link in a message body, with warnings to show before it is opened.
public struct BodyLink: Hashable, Sendable {
    /// Reasons to confirm a link before opening it.
    public struct Warnings: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The text is not the address, so the user has not seen the target.
        public static let textDiffers = Warnings(rawValue: 1)
        /// The text looks like an address with a different host.
        public static let namesAnotherHost = Warnings(rawValue: 2)
        /// The host is an internationalized domain name, which may contain homoglyphs.
        public static let internationalHost = Warnings(rawValue: 4)
        /// The address contains user information, which may be mistaken for the host.
        public static let credentials = Warnings(rawValue: 8)
        /// The text contains invisible characters, or bidirectional control characters in or around it.
        public static let hiddenCharacters = Warnings(rawValue: 16)

        /// Whether the link is likely to be deceptive.
        public var isSuspicious: Bool { !isDisjoint(with: [.namesAnotherHost, .credentials, .hiddenCharacters]) }
    }

    public let target: LinkTarget
    public let warnings: Warnings

    /// Creates a link with its warnings.
    /// - Parameters:
    ///   - text: The text of the whole link.
    ///   - isTurned: Whether the paragraph contains bidirectional control characters.
    public init(to target: LinkTarget, shownAs text: String, isTurned: Bool = false) {
        self.target = target
        let host = target.host
        var warnings: Warnings = []
        if isTurned || HiddenCharacters.occur(in: text) { warnings.insert(.hiddenCharacters) }
        if let host, LinkTarget.isInternational(host) { warnings.insert(.internationalHost) }
        if target.hasCredentials { warnings.insert(.credentials) }
        if !Self.isSame(text, target) {
            warnings.insert(.textDiffers)
            if let named = Self.hostNamed(in: text), named != host.map(Self.withoutWorldWideWeb) {
                warnings.insert(.namesAnotherHost)
            }
        }
        self.warnings = warnings
    }

    /// Creates a link without warnings, until its text is known; see ``InlineText/judgeLinks()``.
    public init(unjudged target: LinkTarget) {
        self.target = target
        warnings = []
    }

    /// Whether the text shows the address, ignoring scheme, `www.` and a trailing slash.
    private static func isSame(_ text: String, _ target: LinkTarget) -> Bool {
        if text == target.address { return true }
        // Fast path: a text that is shorter by more than these parts cannot match.
        let minLength = target.address.utf8.count - "https://www./".utf8.count
        if text.utf8.count < minLength { return false }
        let trimmedText = Substring(text).trimming(while: \.isWhitespace)
        return trimmedText == target.address || bare(trimmedText) == bare(Substring(target.address))
    }

    private static func bare(_ address: Substring) -> String {
        var rest = address
        let start = rest.prefix(8).lowercased()
        if let prefix = ["https://", "http://", "mailto:", "ftp://"].first(where: start.hasPrefix) {
            rest = rest.dropFirst(prefix.count)
        }
        if rest.prefix(4).lowercased() == "www." { rest = rest.dropFirst(4) }
        if rest.last == "/" { rest.removeLast() }
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return host.lowercased() + rest[host.endIndex...]
    }

    /// Returns the host that a text appears to name, or `nil` if it does not look like an address.
    static func hostNamed(in text: String) -> String? {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }) else { return nil }
        let words = text.unicodeScalars.filter { !HiddenCharacters.contains($0) }.split { $0.properties.isWhitespace }
        for word in words {
            let candidate = String(String.UnicodeScalarView(word))
            if let host = LinkTarget(candidate)?.host { return withoutWorldWideWeb(host) }
            let host = candidate.prefix { $0 != "/" && $0 != "?" && $0 != "#" && $0 != ":" }
            let labels = host.split(separator: ".", omittingEmptySubsequences: false)
            guard labels.count >= 2, labels.allSatisfy({ isLabel($0) }), let last = labels.last, last.count >= 2,
                !last.contains(where: \.isNumber)
            else { continue }
            return withoutWorldWideWeb(host.lowercased())
        }
        return nil
    }

    private static func isLabel(_ label: Substring) -> Bool {
        !label.isEmpty && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
    }

    private static func withoutWorldWideWeb(_ host: String) -> String {
        host.hasPrefix("www.") ? String(host.dropFirst(4)) : host
    }
}

extension Substring {
    fileprivate func trimming(while isDropped: (Character) -> Bool) -> Substring {
        var rest = drop(while: isDropped)
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return rest
    }
}
