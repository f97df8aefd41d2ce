/// Translates the application's English texts.
///
/// Texts are string literals, `translator("Send")`, so that extraction tools find them. Placeholders are named,
/// `"{name} left the room"`, so that translations can reorder them.
public struct Translator: Sendable {
    private let lookUp: @Sendable (String) -> String
    private let lookUpPlural: @Sendable (String, String, Int) -> String

    /// Creates a translator.
    /// - Parameters:
    ///   - translate: Returns the translation of a text, or the text itself if there is none.
    ///   - plural: Returns the plural form for a count.
    public init(
        translate: @escaping @Sendable (String) -> String,
        plural: @escaping @Sendable (_ one: String, _ many: String, _ count: Int) -> String
    ) {
        lookUp = translate
        lookUpPlural = plural
    }

    /// The source texts.
    public static let untranslated = Translator(
        translate: { $0 }, plural: { one, many, count in count == 1 ? one : many })

    /// Returns the translation with each `{name}` in `values` replaced. Unknown placeholders stay.
    public func translate(_ text: String, _ values: [String: String] = [:]) -> String {
        Self.fill(lookUp(text), values)
    }

    /// A shorthand for ``translate(_:_:)`` that marks a text for extraction.
    public func callAsFunction(_ text: String, _ values: [String: String] = [:]) -> String {
        translate(text, values)
    }

    /// Returns the plural form for a count, with `{count}` and each name in `values` replaced.
    public func plural(_ one: String, _ many: String, _ count: Int, _ values: [String: String] = [:]) -> String {
        Self.fill(lookUpPlural(one, many, count), values.merging(["count": String(count)]) { given, _ in given })
    }

    /// Single pass, so that braces in a value are not replaced again.
    private static func fill(_ text: String, _ values: [String: String]) -> String {
        guard !values.isEmpty, text.contains("{") else { return text }
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "{") {
            result += rest[..<open]
            rest = rest[open...]
            if let close = rest.firstIndex(of: "}"), let value = values[String(rest[rest.index(after: open)..<close])] {
                result += value
                rest = rest[rest.index(after: close)...]
            } else {
                result.append("{")
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }
}
