import ChatCore

/// What a ``BodyText`` shows, and how.
struct TextContent: Equatable {
    /// How far the backgrounds of code and pills extend beyond their text on either side, in pixels. Actual spaces
    /// would be line break opportunities.
    static let chipInset = 2.0

    var text: InlineText
    /// The font scale, relative to the widget's style.
    var scale = 1.0
    var isBold = false
    /// Whether the text is monospace and not wrapped.
    var isCode = false
    /// The maximum line length, in characters.
    var lineLength = 62
    /// Whether the minimum width is the natural width. Necessary in horizontally scrolled content, whose height GTK
    /// measures for the minimum width.
    var isRigid = false
    /// Syntax highlighting, in UTF-8 offsets of the text.
    var highlights: [CodeHighlight] = []

    init(_ text: InlineText, scale: Double = 1, isBold: Bool = false, isCode: Bool = false) {
        self.text = text
        self.scale = scale
        self.isBold = isBold
        self.isCode = isCode
    }
}

/// A range of code with uniform highlighting.
struct CodeHighlight: Equatable {
    var range: Range<Int>
    var color: BodyColor?
    var isBold = false
    var isItalic = false
}
