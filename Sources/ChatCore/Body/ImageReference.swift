/// A reference to an inline image.
public struct ImageReference: Hashable, Sendable {
    /// A Matrix content URI, `mxc://…`.
    public var source: String
    public var alternative: String
    public var title: String
    /// In pixels, from 1 to 10,000, or `nil` if not specified.
    public var width: Int?
    public var height: Int?
    /// Whether it is a custom emoji (`data-mx-emoticon`, MSC2545), shown at line height.
    public var isEmoticon: Bool

    public init(
        source: String, alternative: String = "", title: String = "", width: Int? = nil, height: Int? = nil,
        isEmoticon: Bool = false
    ) {
        self.isEmoticon = isEmoticon
        self.source = source
        self.alternative = alternative
        self.title = title
        self.width = width
        self.height = height
    }

    /// The text shown in place of the image.
    public var placeholder: String {
        let words = alternative.isEmpty ? title : alternative
        return words.isEmpty ? "🖼" : words
    }
}
