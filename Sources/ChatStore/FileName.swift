/// Names of files that came from somewhere else.
enum FileName {
    /// Bytes in a name, on the file systems in use.
    private static let limit = 200

    /// A name that is safe inside any folder: no separators, no control or direction characters, not hidden, not too
    /// long; its extension stays.
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
        // Marks that turn the direction hide what a name ends with; joiners make emoji.
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
