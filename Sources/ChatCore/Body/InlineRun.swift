/// A stretch of text that is drawn in one way.
public struct InlineRun: Hashable, Sendable {
    public var text: String
    public var style: InlineStyle
    public var link: BodyLink?
    public var mention: BodyMention?
    public var spoiler: Spoiler?
    public var foreground: BodyColor?
    public var background: BodyColor?
    /// The text is then what stands for the picture where it is not shown.
    public var image: ImageReference?

    public init(
        _ text: String, style: InlineStyle = [], link: BodyLink? = nil, mention: BodyMention? = nil,
        spoiler: Spoiler? = nil, foreground: BodyColor? = nil, background: BodyColor? = nil,
        image: ImageReference? = nil
    ) {
        self.text = text
        self.style = style
        self.link = link
        self.mention = mention
        self.spoiler = spoiler
        self.foreground = foreground
        self.background = background
        self.image = image
    }

    /// Whether it differs from plain text in any way.
    public var isMarked: Bool { !looksLike(InlineRun("")) }

    /// Whether all but the text is equal. Two pictures never look the same.
    public func looksLike(_ other: InlineRun) -> Bool {
        style == other.style && link == other.link && mention == other.mention && spoiler == other.spoiler
            && foreground == other.foreground && background == other.background && image == nil && other.image == nil
    }

    /// A run that looks like this one.
    public func with(_ text: some StringProtocol) -> InlineRun {
        var run = self
        run.text = String(text)
        return run
    }
}
