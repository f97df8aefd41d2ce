import Composer
import ComposerSessions
import GtkKit

/// The bar's properties. Those that configure the engine apply to a bar with its own session.
extension ComposerBar {
    static var options: [WidgetProperty] {
        [
            .text("text", \ComposerBar.text), .text("placeholder", \ComposerBar.placeholder),
            // Before the options that these two reset: GtkBuilder sets a `.ui` file's properties in file order.
            .text("look", default: "parlance", \ComposerBar.appearance),
            .text("preset", default: "parlance", \ComposerBar.preset),
            .number("character-limit", default: 0, in: 0...Int(Int32.max), \ComposerBar.characterLimit),
            .flag("limit-is-hard", default: false, \ComposerBar.limitIsHard),
            .text("counter-style", default: "countdownReversed", \ComposerBar.counterStyle),
            .number("max-lines", default: 0, in: 0...1000, \ComposerBar.maxLines),
            .number("max-height", default: 0, in: 0...100_000, \ComposerBar.maxHeight),
            .number("content-inset", default: -1, in: -1...1000, \ComposerBar.contentInset),
            .number("padding-top", default: -1, in: -1...1000, \ComposerBar.paddingTop),
            .number("padding-start", default: -1, in: -1...1000, \ComposerBar.paddingStart),
            .number("padding-bottom", default: -1, in: -1...1000, \ComposerBar.paddingBottom),
            .number("padding-end", default: -1, in: -1...1000, \ComposerBar.paddingEnd),
            .number("top-slot-padding", default: -1, in: -1...1000, \ComposerBar.topSlotPadding),
            .number("middle-padding", default: -1, in: -1...1000, \ComposerBar.middlePadding),
            .number("bottom-offset", default: -1, in: -1...1000, \ComposerBar.bottomOffset),
            .flag("hidden", default: false, \ComposerBar.isHidden),
            .flag("expanded", default: false, \ComposerBar.isExpanded),
            .flag("return-sends", default: true, \ComposerBar.returnSends),
            .flag("styles-markdown", default: true, \ComposerBar.stylesMarkdown),
            .flag("shows-formatting", default: false, \ComposerBar.showsFormatting),
            .flag("shows-expand", default: true, \ComposerBar.showsExpand),
            .flag("shows-start", default: true, \ComposerBar.showsStart),
            .flag("shows-end", default: true, \ComposerBar.showsEnd),
            .flag("hides-send", default: false, \ComposerBar.hidesSend),
            .flag("locks-scrolling", default: false, \ComposerBar.locksScrolling),
            .flag("bounces", default: true, \ComposerBar.bounces),
            .flag("shows-counter", default: false, \ComposerBar.showsCounter),
            .flag("sends-below", default: false, \ComposerBar.sendsBelow),
            .flag("shows-completions", default: true, \ComposerBar.showsCompletions),
            .flag("prefetches-completion", default: false, \ComposerBar.prefetchesCompletion),
            .number("implicit-length", default: 0, in: 0...100, \ComposerBar.implicitLength),
            .flag("takes-files", default: false, \ComposerBar.acceptsFiles),
            .flag("keeps-tray", default: false, \ComposerBar.isTrayPersistent),
            .flag("offers-more-files", default: true, \ComposerBar.offersMoreFiles),
        ]
    }

    /// The behavior to imitate, as a raw value of `ComposerConfiguration.Preset`; options set later override it.
    public var preset: String {
        get { chosenPreset.rawValue }
        set {
            guard let preset = ComposerConfiguration.Preset(rawValue: newValue) else { return }
            chosenPreset = preset
            configure { $0 = .preset(preset) }
        }
    }

    /// The maximum number of characters in a message, or 0 for no limit (SLK-14).
    public var characterLimit: Int {
        get { configuration.characterLimit ?? 0 }
        set { configure { $0.characterLimit = newValue > 0 ? newValue : nil } }
    }

    /// Whether the limit rejects further input; otherwise it only prevents sending (MCV-9).
    public var limitIsHard: Bool {
        get { configuration.limitPolicy == .hard }
        set { configure { $0.limitPolicy = newValue ? .hard : .soft } }
    }

    /// The format of the counter, as a raw value of `CounterStyle` (SLK-14); other values are ignored.
    public var counterStyle: String {
        get { configuration.counterStyle.rawValue }
        set { configure { $0.counterStyle = CounterStyle(rawValue: newValue) ?? $0.counterStyle } }
    }

    /// The number of lines up to which the text grows; 0 derives it from the window's height (SLK-4), 1 makes it a
    /// single line (HKW-21).
    ///
    /// Unlike in Hakawai, the text does not shrink to one line while completion is open: the popover or dock is above
    /// the bar and covers none of the text.
    public var maxLines: Int {
        get { if case .lines(let lines) = configuration.maxLines { lines } else { 0 } }
        set { configure { $0.maxLines = newValue > 0 ? .lines(newValue) : .byWindowHeight } }
    }

    /// The height up to which the text grows, in pixels (MCV-1, MCV-3). Overrides ``maxLines`` and vice versa; 0 if
    /// that is set.
    public var maxHeight: Int {
        get { if case .pixels(let height) = configuration.maxLines { Int(height) } else { 0 } }
        set {
            guard newValue > 0 || maxHeight > 0 else { return }
            configure { $0.maxLines = newValue > 0 ? .pixels(Double(newValue)) : .byWindowHeight }
        }
    }

    /// The padding around the bar's row in pixels, or -1 for the style's (SLK-13, MIB-2).
    ///
    /// Sets all four sides; each can be overridden afterwards.
    public var contentInset: Int {
        get { inset }
        set {
            inset = newValue
            (paddingStart, paddingEnd) = (newValue, newValue)
            (paddingTop, paddingBottom) = (newValue, newValue)
        }
    }

    /// The padding above the row of text and buttons in pixels, or -1 for the style's (MIB-2).
    public var paddingTop: Int {
        get { padding.top }
        set { setPadding(\.top, newValue, \.rowTop) }
    }

    /// The padding at the row's start, by text direction, in pixels, or -1 for the style's (MIB-2).
    public var paddingStart: Int {
        get { padding.start }
        set { setPadding(\.start, newValue) }
    }

    /// The padding below the row of text and buttons in pixels, or -1 for the style's (MIB-2).
    public var paddingBottom: Int {
        get { padding.bottom }
        set { setPadding(\.bottom, newValue, \.rowBottom) }
    }

    /// The padding at the row's end, by text direction, in pixels, or -1 for the style's (MIB-2).
    public var paddingEnd: Int {
        get { padding.end }
        set { setPadding(\.end, newValue) }
    }

    /// The padding above and beside the top slot in pixels, or -1 for the style's (MIB-2).
    public var topSlotPadding: Int {
        get { padding.topSlot }
        set { setPadding(\.topSlot, newValue) }
    }

    /// The space between the text and what follows it in pixels, or -1 for the style's (MIB-2).
    public var middlePadding: Int {
        get { padding.behindText }
        set { setPadding(\.behindText, newValue) }
    }

    /// The space below the bar in pixels, subtracted from the room in which the bar may grow, or -1 for none (MCV-1,
    /// MCV-2).
    public var bottomOffset: Int {
        get { padding.bottomOffset }
        set { setPadding(\.bottomOffset, newValue, \.bottomOffset) }
    }

    /// - Parameter inset: The corresponding inset of the engine, which computes how far the text may grow.
    private func setPadding(
        _ side: WritableKeyPath<BarPadding, Int>, _ pixels: Int, _ inset: WritableKeyPath<ComposerInsets, Double>? = nil
    ) {
        padding[keyPath: side] = pixels
        if let inset {
            configure { $0.insets[keyPath: inset] = pixels < 0 ? ComposerInsets()[keyPath: inset] : Double(pixels) }
        }
        applyInsets()
    }

    /// Whether completion sources are prepared when the text is focused for the first time (HKW-50).
    public var prefetchesCompletion: Bool {
        get { session.prefetchesCompletion }
        set { session.prefetchesCompletion = newValue }
    }

    /// The number of letters after which a word without a prefix is looked up in the sources of the empty prefix, or 0
    /// for never (HKW-38).
    public var implicitLength: Int {
        get { configuration.completion.implicitLength }
        set { configure { $0.completion.implicitLength = max(0, newValue) } }
    }

    /// Whether Return sends and Shift+Return inserts a line break; otherwise Ctrl+Return sends (SLK-44).
    public var returnSends: Bool {
        get { configuration.sendKey == .return }
        set { configure { $0.sendKey = newValue ? .return : .ctrlReturn } }
    }

    /// Whether the bar is hidden and excluded from the focus chain. Its text is preserved (SLK-53).
    public var isHidden: Bool {
        get { binding?.model.composer.isHidden ?? false }
        set { boundModel.handle(.hide(newValue)) }
    }

    /// Whether the text always has its maximum height, whatever its length (MIB-8).
    public var isExpanded: Bool {
        get { binding?.model.composer.isExpanded ?? false }
        set { boundModel.handle(.expand(newValue)) }
    }

    /// Whether the start slot is shown. Changes are animated.
    public var showsStart: Bool {
        get { widgets.start.isRevealed }
        set { widgets.start.isRevealed = newValue }
    }

    /// Whether the end slot is shown. Changes are animated.
    public var showsEnd: Bool {
        get { widgets.end.isRevealed }
        set { widgets.end.isRevealed = newValue }
    }

    private var configuration: ComposerConfiguration { binding?.model.configuration ?? session.configuration }

    private func configure(_ change: (inout ComposerConfiguration) -> Void) {
        change(&session.configuration)
    }
}
