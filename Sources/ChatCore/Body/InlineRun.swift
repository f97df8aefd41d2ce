public import Composer

/// Text with uniform formatting.
public struct InlineRun: Hashable, Sendable {
    public var text: String
    public var style: InlineStyle
    /// `nil` in most runs, which keeps them cheap to copy while parsing.
    private var attributes: InlineAttributes?

    public init(
        _ text: String, style: InlineStyle = [], link: BodyLink? = nil, mention: MentionTarget? = nil,
        spoiler: Spoiler? = nil, foreground: BodyColor? = nil, background: BodyColor? = nil,
        image: ImageReference? = nil
    ) {
        self.text = text
        self.style = style
        let values = InlineAttributes.Values(
            link: link, mention: mention, spoiler: spoiler, foreground: foreground, background: background,
            image: image)
        self.attributes = InlineAttributes(values)
    }

    public var link: BodyLink? {
        get { attributes?.values.link }
        set { change(isNothing: newValue == nil) { $0.link = newValue } }
    }

    public var mention: MentionTarget? {
        get { attributes?.values.mention }
        set { change(isNothing: newValue == nil) { $0.mention = newValue } }
    }

    public var spoiler: Spoiler? {
        get { attributes?.values.spoiler }
        set { change(isNothing: newValue == nil) { $0.spoiler = newValue } }
    }

    public var foreground: BodyColor? {
        get { attributes?.values.foreground }
        set { change(isNothing: newValue == nil) { $0.foreground = newValue } }
    }

    public var background: BodyColor? {
        get { attributes?.values.background }
        set { change(isNothing: newValue == nil) { $0.background = newValue } }
    }

    /// The inline image; ``text`` is then its placeholder.
    public var image: ImageReference? {
        get { attributes?.values.image }
        set { change(isNothing: newValue == nil) { $0.image = newValue } }
    }

    private mutating func change(isNothing: Bool, _ edit: (inout InlineAttributes.Values) -> Void) {
        if attributes == nil, isNothing { return }
        var values = attributes?.values ?? InlineAttributes.Values()
        edit(&values)
        attributes = InlineAttributes(values)
    }

    /// Whether the run has any formatting.
    public var isFormatted: Bool { !style.isEmpty || attributes != nil }

    /// Whether formatting and attributes are equal. Never true for images, which must not be merged.
    public func matchesFormatting(_ other: InlineRun) -> Bool {
        guard style == other.style else { return false }
        guard let attributes, let others = other.attributes else { return attributes == nil && other.attributes == nil }
        return attributes == others && attributes.values.image == nil
    }

    /// Returns a run with other text and the same formatting.
    public func with(_ text: some StringProtocol) -> InlineRun {
        var run = self
        run.text = String(text)
        return run
    }
}

/// Rarely used attributes, shared between copies.
private final class InlineAttributes: Hashable, Sendable {
    struct Values: Hashable, Sendable {
        var link: BodyLink?
        var mention: MentionTarget?
        var spoiler: Spoiler?
        var foreground: BodyColor?
        var background: BodyColor?
        var image: ImageReference?

        var isEmpty: Bool {
            link == nil && mention == nil && spoiler == nil && foreground == nil && background == nil && image == nil
        }
    }

    let values: Values

    /// Returns `nil` if there are no attributes.
    init?(_ values: Values) {
        guard !values.isEmpty else { return nil }
        self.values = values
    }

    static func == (one: InlineAttributes, other: InlineAttributes) -> Bool {
        one === other || one.values == other.values
    }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
