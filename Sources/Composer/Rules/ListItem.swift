/// The marker at the start of a line of a list or quote: `> `, `- `, `1. `, `> - [ ] ` (SLK-30).
struct ListItem: Equatable {
    /// Spaces and quote marks before the marker of a list.
    var outer: String
    /// The list marker with its space; empty in a plain quote.
    var marker: String
    /// The marker for the next line.
    var nextMarker: String

    var length: Int { outer.utf16.count + marker.utf16.count }
    var isQuote: Bool { outer.contains(">") }

    /// Parses the marker of a line. Returns `nil` if it has none.
    init?(line: Substring) {
        let outer = line.prefix { $0 == " " || $0 == "\t" || $0 == ">" }
        let rest = line.dropFirst(outer.count)
        self.outer = String(outer)
        if let bullet = rest.first, "-*+".contains(bullet), rest.dropFirst().first == " " {
            let box = rest.dropFirst(2)
            let hasBox = ["[ ] ", "[x] ", "[X] "].contains { box.hasPrefix($0) }
            marker = String(rest.prefix(hasBox ? 6 : 2))
            nextMarker = hasBox ? "\(bullet) [ ] " : marker
        } else if let number = Self.number(in: rest) {
            marker = number.marker
            nextMarker = number.next
        } else if outer.contains(">") {
            marker = ""
            nextMarker = ""
        } else {
            return nil
        }
    }

    private static func number(in text: Substring) -> (marker: String, next: String)? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let rest = text.dropFirst(digits.count)
        guard (1...9).contains(digits.count), let value = Int(digits), let stop = rest.first, ".)".contains(stop),
            rest.dropFirst().first == " "
        else { return nil }
        return ("\(digits)\(stop) ", "\(value + 1)\(stop) ")
    }
}
