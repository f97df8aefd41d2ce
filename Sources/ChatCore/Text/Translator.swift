import Sentences

/// Translates the application's English texts.
///
/// Texts are string literals, `translator("Send")`, so that extraction tools find them. Placeholders are named,
/// `"{name} left the room"`, so that translations can reorder them. In right-to-left languages values are isolated: see
/// ``plain``.
public struct Translator: Sendable {
    private var isPlain = false
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

    /// The same texts without the invisible characters around values in right-to-left languages: for what is stored,
    /// parsed or sent, or becomes the name of a file.
    public var plain: Translator {
        var plain = self
        plain.isPlain = true
        return plain
    }

    /// Returns the translation with each `{name}` in `values` replaced. Unknown placeholders stay.
    public func translate(_ text: String, _ values: [String: String] = [:]) -> String {
        fill(lookUp(text), values)
    }

    /// A shorthand for ``translate(_:_:)`` that marks a text for extraction.
    public func callAsFunction(_ text: String, _ values: [String: String] = [:]) -> String {
        translate(text, values)
    }

    /// Returns the plural form for a count, with `{count}` and each name in `values` replaced.
    public func plural(_ one: String, _ many: String, _ count: Int, _ values: [String: String] = [:]) -> String {
        fill(lookUpPlural(one, many, count), values.merging(["count": String(count)]) { given, _ in given })
    }

    private func fill(_ text: String, _ values: [String: String]) -> String {
        guard !values.isEmpty, text.contains("{") else { return text }
        let sentence = Sentence(text)
        return sentence.filled(values, isolating: !isPlain && (sentence.isRightToLeft ?? isRightToLeft))
    }

    /// Whether the catalog's language is written from right to left.
    private var isRightToLeft: Bool { Sentence(lookUp(Sentence.sample)).isRightToLeft ?? false }
}
