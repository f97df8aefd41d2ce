/// Turns the application's English texts into the user's language.
///
/// Texts reach it as plain string literals, `translator("Send")`, which is what tools that collect them look for.
/// A text's variable parts are named, `"{name} left the room"`, so that a translation may order them as it likes.
public struct Translator: Sendable {
    private let lookUp: @Sendable (String) -> String
    private let lookUpPlural: @Sendable (String, String, Int) -> String

    /// - Parameters:
    ///   - translate: the translation of a text, or the text itself without one.
    ///   - plural: of the English singular and plural, the form that the language uses for the count.
    public init(
        translate: @escaping @Sendable (String) -> String,
        plural: @escaping @Sendable (_ one: String, _ many: String, _ count: Int) -> String
    ) {
        lookUp = translate
        lookUpPlural = plural
    }

    /// English as it stands in the source.
    public static let untranslated = Translator(
        translate: { $0 }, plural: { one, many, count in count == 1 ? one : many })

    /// The text in the user's language, with each `{name}` of `values` replaced. Names that are not given stay.
    public func translate(_ text: String, _ values: [String: String] = [:]) -> String {
        Self.fill(lookUp(text), values)
    }

    /// ``translate(_:_:)``, in the short form that marks a text for translation.
    public func callAsFunction(_ text: String, _ values: [String: String] = [:]) -> String {
        translate(text, values)
    }

    /// The form for this count, with `{count}` and each name of `values` replaced.
    public func plural(_ one: String, _ many: String, _ count: Int, _ values: [String: String] = [:]) -> String {
        Self.fill(lookUpPlural(one, many, count), values.merging(["count": String(count)]) { given, _ in given })
    }

    /// One pass: what a value brings in is never taken for a name.
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
