import ChatViewModels
import Composer
import GtkKit

/// The properties of a bar. Those of the engine are for a bar with its own session.
extension ComposerBar {
    static var options: [WidgetProperty] {
        [
            .text("text", \ComposerBar.text), .text("placeholder", \ComposerBar.placeholder),
            // Before the options that it would undo: a `.ui` file's properties are set in the order of the file.
            .text("look", default: "parlance", \ComposerBar.appearance),
            .text("preset", default: "parlance", \ComposerBar.preset),
            .number("character-limit", default: 0, in: 0...Int(Int32.max), \ComposerBar.characterLimit),
            .flag("limit-is-hard", default: false, \ComposerBar.limitIsHard),
            .text("counter-style", default: "countdownReversed", \ComposerBar.counterStyle),
            .number("max-lines", default: 0, in: 0...1000, \ComposerBar.maximumLines),
            .number("max-height", default: 0, in: 0...100_000, \ComposerBar.maximumHeight),
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
            .flag("hides-send", default: true, \ComposerBar.hidesSend),
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

    /// The habits of another composer, by ``ComposerConfiguration/Preset``'s names; options set later change them.
    public var preset: String {
        get { chosenPreset.rawValue }
        set {
            guard let preset = ComposerConfiguration.Preset(rawValue: newValue) else { return }
            chosenPreset = preset
            configure { $0 = .preset(preset) }
        }
    }

    /// The most characters of a message; 0 for any number (SLK-14).
    public var characterLimit: Int {
        get { configuration.characterLimit ?? 0 }
        set { configure { $0.characterLimit = newValue > 0 ? newValue : nil } }
    }

    /// Whether what is beyond the limit is not let in; else it only cannot be sent (MCV-9).
    public var limitIsHard: Bool {
        get { configuration.limitPolicy == .hard }
        set { configure { $0.limitPolicy = newValue ? .hard : .soft } }
    }

    /// How the counter counts, by ``CounterStyle``'s names (SLK-14); another name changes nothing.
    public var counterStyle: String {
        get { configuration.counterStyle.rawValue }
        set { configure { $0.counterStyle = CounterStyle(rawValue: newValue) ?? $0.counterStyle } }
    }

    /// The most lines that the text grows to; 0 goes by the window's height (SLK-4), 1 makes it a single line (HKW-21).
    ///
    /// The text does not shrink to a line while the list of completion is open, as Hakawai's does: the list is a popover
    /// or stands above the bar, and covers nothing of what is written.
    public var maximumLines: Int {
        get { if case .lines(let lines) = configuration.maxLines { lines } else { 0 } }
        set { configure { $0.maxLines = newValue > 0 ? .lines(newValue) : .byWindowHeight } }
    }

    /// The same in pixels (MCV-1, MCV-3): of this and ``maximumLines`` the one set last holds; 0 if that is the other.
    public var maximumHeight: Int {
        get { if case .pixels(let height) = configuration.maxLines { Int(height) } else { 0 } }
        set {
            guard newValue > 0 || maximumHeight > 0 else { return }
            configure { $0.maxLines = newValue > 0 ? .pixels(Double(newValue)) : .byWindowHeight }
        }
    }

    /// Pixels around the bar's row in the place of the style's; -1 leaves it to the style (SLK-13, MIB-2).
    ///
    /// Sets all four; each can be set by itself afterwards.
    public var contentInset: Int {
        get { inset }
        set {
            inset = newValue
            (paddingStart, paddingEnd) = (newValue, newValue)
            (paddingTop, paddingBottom) = (newValue, newValue)
        }
    }

    /// Pixels above the row of text and buttons; -1 leaves it to the style (MIB-2).
    public var paddingTop: Int {
        get { padding.top }
        set { setPadding(\.top, newValue, \.rowTop) }
    }

    /// Pixels before the row, where its language begins; -1 leaves it to the style (MIB-2).
    public var paddingStart: Int {
        get { padding.start }
        set { setPadding(\.start, newValue) }
    }

    /// Pixels below the row of text and buttons; -1 leaves it to the style (MIB-2).
    public var paddingBottom: Int {
        get { padding.bottom }
        set { setPadding(\.bottom, newValue, \.rowBottom) }
    }

    /// Pixels behind the row; -1 leaves it to the style (MIB-2).
    public var paddingEnd: Int {
        get { padding.end }
        set { setPadding(\.end, newValue) }
    }

    /// Pixels above and beside what is in the top slot; -1 leaves it to the style (MIB-2).
    public var topSlotPadding: Int {
        get { padding.topSlot }
        set { setPadding(\.topSlot, newValue) }
    }

    /// Pixels between the text and what is behind it; -1 leaves it to the style (MIB-2).
    public var middlePadding: Int {
        get { padding.behindText }
        set { setPadding(\.behindText, newValue) }
    }

    /// Pixels between the bar and what is below it, which a bar that grows up to the window leaves free; -1 for none
    /// (MCV-1, MCV-2).
    public var bottomOffset: Int {
        get { padding.bottomOffset }
        set { setPadding(\.bottomOffset, newValue, \.bottomOffset) }
    }

    /// - Parameter inset: what the engine, which says how far the text may grow, knows it as.
    private func setPadding(
        _ side: WritableKeyPath<BarPadding, Int>, _ pixels: Int, _ inset: WritableKeyPath<ComposerInsets, Double>? = nil
    ) {
        padding[keyPath: side] = pixels
        if let inset {
            configure { $0.insets[keyPath: inset] = pixels < 0 ? ComposerInsets()[keyPath: inset] : Double(pixels) }
        }
        applyInsets()
    }

    /// Whether sources of completion get ready when the text has the focus for the first time (HKW-50).
    public var prefetchesCompletion: Bool {
        get { session.prefetchesCompletion }
        set { session.prefetchesCompletion = newValue }
    }

    /// After how many letters a word without a prefix is looked up, by sources of the empty prefix; 0 for never (HKW-38).
    public var implicitLength: Int {
        get { configuration.completion.implicitLength }
        set { configure { $0.completion.implicitLength = max(0, newValue) } }
    }

    /// Whether Return sends and Shift+Return breaks the line, or Ctrl+Return sends (SLK-44).
    public var returnSends: Bool {
        get { configuration.sendKey == .return }
        set { configure { $0.sendKey = newValue ? .return : .ctrlReturn } }
    }

    /// Takes the whole bar away, out of the focus chain too; the text is kept (SLK-53).
    public var isHidden: Bool {
        get { binding?.model.composer.isHidden ?? false }
        set { boundModel.handle(.hide(newValue)) }
    }

    /// Holds the text at its full height, whatever it holds (MIB-8).
    public var isExpanded: Bool {
        get { binding?.model.composer.isExpanded ?? false }
        set { boundModel.handle(.expand(newValue)) }
    }

    /// Whether the widgets before the text are shown; they slide.
    public var showsStart: Bool {
        get { widgets.start.isRevealed }
        set { widgets.start.isRevealed = newValue }
    }

    /// Whether the widgets behind the text are shown; they slide.
    public var showsEnd: Bool {
        get { widgets.end.isRevealed }
        set { widgets.end.isRevealed = newValue }
    }

    private var configuration: ComposerConfiguration { binding?.model.configuration ?? session.configuration }

    private func configure(_ change: (inout ComposerConfiguration) -> Void) {
        change(&session.configuration)
    }
}
