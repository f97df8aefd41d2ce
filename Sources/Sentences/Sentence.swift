/// A sentence in the user's language with placeholders, such as `{name} left the room`.
public struct Sentence: Sendable {
    /// A label that each catalog translates: its translation shows the direction of a language.
    public static let sample = "Cancel"

    private let text: String

    public init(_ text: String) {
        self.text = text
    }

    /// Whether its language is written from right to left, as its own first letter shows; `nil` without letters, as in
    /// `{name}: {text}`.
    public var isRightToLeft: Bool? {
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "{", let close = rest.firstIndex(of: "}") {
                rest = rest[rest.index(after: close)...]
            } else if let direction = scalar.direction {
                return direction == .rightToLeft
            }
        }
        return nil
    }

    /// Returns the sentence with each `{name}` in `values` replaced. Unknown placeholders stay.
    ///
    /// Single pass, so that braces in a value are not replaced again.
    /// - Parameter isolating: whether values are drawn as they would be by themselves: the sentence is written from
    ///   right to left, where the “@” of a user ID would move to the ID's end.
    public func filled(_ values: [String: String], isolating: Bool = false) -> String {
        var result = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            rest = rest[open...]
            guard let close = rest.firstIndex(of: "}"),
                let value = values[String(rest[rest.index(after: open)..<close])]
            else {
                result.append(rest.removeFirst())
                continue
            }
            rest = rest[rest.index(after: close)...]
            if isolating {
                Isolation.append(value, to: &result, before: &rest)
            } else {
                result += value.unicodeScalars
            }
        }
        result += rest
        return String(result)
    }
}
