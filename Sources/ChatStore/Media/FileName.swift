/// Sanitizes file names from untrusted sources.
enum FileName {
    /// The maximum length in bytes; common file systems allow 255.
    private static let limit = 200

    /// Returns a name that is safe in any folder: without separators, control and bidirectional characters, not hidden,
    /// and not too long. The extension is retained.
    static func safe(_ name: String) -> String {
        var safe = ""
        for character in name where character.unicodeScalars.allSatisfy(isDisplayable) {
            safe.append(character == "/" || character == "\\" ? "_" : character)
        }
        while let first = safe.first, first == "." || first.isWhitespace { safe.removeFirst() }
        guard !safe.isEmpty else { return "file" }
        return shortened(safe)
    }

    private static func isDisplayable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .surrogate, .lineSeparator, .paragraphSeparator: false
        // Bidirectional control characters can disguise the extension; joiners are part of emoji.
        case .format: scalar == "\u{200D}" || scalar == "\u{200C}"
        default: true
        }
    }

    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > limit else { return name }
        let dot = name.lastIndex(of: ".")
        let end = dot.map { name[$0...] }.flatMap { $0.utf8.count <= 20 ? $0 : nil } ?? ""
        var stem = name.dropLast(end.count)
        while stem.utf8.count + end.utf8.count > limit { stem.removeLast() }
        return String(stem) + end
    }
}
