/// A picture in a text: where it is kept, never the picture.
public struct ImageReference: Hashable, Sendable {
    /// A Matrix content URI, `mxc://…`.
    public var source: String
    public var alternative: String
    public var title: String
    /// In pixels, 1 to 10,000; nil where not said.
    public var width: Int?
    public var height: Int?
    /// Whether it is a custom emoji (`data-mx-emoticon`, MSC2545), to be drawn as high as a line.
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

    /// What stands in a text where the picture is not shown.
    public var placeholder: String {
        let words = alternative.isEmpty ? title : alternative
        return words.isEmpty ? "🖼" : words
    }
}
