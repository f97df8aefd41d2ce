import Composer
import GtkKit

/// The widgets of a composer bar, named as in its `.ui` file.
struct ComposerWidgets {
    let revealer: Revealer
    /// The parent of the bar's popovers.
    let content: Box
    let dock: Box
    let slots: [ComposerBar.Slot: Box]
    /// The row for items below the text.
    let bottomItems: Box
    /// Scrolls the items horizontally if they do not fit. Hidden if there are none.
    let bottomScroller: ScrolledWindow
    /// Contains the items, and the send button if it is below the text.
    private let bottomRow: Box
    let start: Revealer
    let end: Revealer
    let middle: Stack
    let row: Box
    let overlay: Overlay
    let growth: GrowthFrame
    let scroller: ScrolledWindow
    let expand: Button
    private(set) var textView: TextView
    let placeholder: Label
    let counter: Label
    let send: Revealer
    let sendButton: Button
    let edit: Revealer
    let editBox: Box
    let editQuote: Label
    let editWarning: Label
    let cancelEdit: Button
    let save: Button
    let reply: Revealer
    let replyTitle: Label
    let replyQuote: Label
    let cancelReply: Button

    /// - Parameter makeEditor: Creates the text view, in place of the default one.
    init(makeEditor: (() -> Widget)?) {
        // Must be registered before GtkBuilder instantiates them.
        _ = ComposerTextView.type
        _ = GrowthFrame.type
        let builder = Builder(resource: ComposerResources.ui)
        revealer = builder["composer_revealer"]
        content = builder["composer"]
        dock = builder["completion_dock"]
        slots = [
            .top: builder["top_slot"], .start: builder["start_slot"], .end: builder["end_slot"],
            .bottom: builder["bottom_slot"],
        ]
        bottomItems = builder["bottom_items"]
        bottomScroller = builder["bottom_scroller"]
        bottomRow = builder["bottom_row"]
        start = builder["start_revealer"]
        end = builder["end_revealer"]
        middle = builder["middle"]
        row = builder["composer_row"]
        overlay = builder["editor_overlay"]
        guard let growth = GrowthFrame.of(builder["editor_growth"]) else {
            fatalError("the file names its own classes")
        }
        self.growth = growth
        scroller = builder["editor_scroller"]
        expand = builder["expand_button"]
        textView = Self.editor(builder["editor"], orFrom: makeEditor, in: scroller)
        placeholder = builder["placeholder"]
        counter = builder["counter"]
        send = builder["send_revealer"]
        sendButton = builder["send_button"]
        edit = builder["edit_revealer"]
        editBox = builder["edit_box"]
        editQuote = builder["edit_quote"]
        editWarning = builder["edit_warning"]
        cancelEdit = builder["cancel_edit_button"]
        save = builder["save_button"]
        reply = builder["reply_revealer"]
        replyTitle = builder["reply_title"]
        replyQuote = builder["reply_quote"]
        cancelReply = builder["cancel_reply_button"]
        // Numbers and signs are always left to right: "-7" must not become "7-".
        counter.textDirection = .leftToRight
    }

    /// Applies the default text view's settings to a custom one. Ignores widgets that are not a GtkTextView.
    private static func editor(
        _ defaultEditor: TextView, orFrom makeEditor: (() -> Widget)?, in scroller: ScrolledWindow
    ) -> TextView {
        guard let other = makeEditor?().asTextView else {
            return defaultEditor
        }
        put(other, inPlaceOf: defaultEditor, in: scroller)
        return other
    }

    private static func put(_ editor: TextView, inPlaceOf other: TextView, in scroller: ScrolledWindow) {
        editor.copySettings(of: other)
        editor.acceptsTab = false
        editor.addStyle("parlance-editor")
        scroller.setChild(editor)
    }

    /// Replaces the text view by a new one, which has no handlers, tags or text yet.
    mutating func renewEditor(from makeEditor: (() -> Widget)?) {
        guard let editor = (makeEditor?() ?? ComposerTextView.make()).asTextView else { return }
        let (width, height) = (textView.width, textView.height)
        Self.put(editor, inPlaceOf: textView, in: scroller)
        // A text view computes its height from the width that it was allocated last. Without one it wraps after each
        // character, and the field would reach its maximum height for a frame.
        if width > 0 {
            _ = editor.measure(.horizontal)
            editor.allocate(width: width, height: height)
        }
        scroller.verticalAdjustment.value = 0
        textView = editor
    }

    /// Moves the edit bar's buttons below its text if there is too little width.
    /// - Parameter width: The bar's width, in pixels.
    func fit(width: Double) {
        let orientation: Orientation = width / textView.textScale < 300 ? .vertical : .horizontal
        if editBox.orientation != orientation { editBox.orientation = orientation }
    }

    /// Moves the send button after the text, or to the end of the row below it.
    func moveSendButton(below: Bool) {
        let (from, to) = below ? (row, bottomRow) : (bottomRow, row)
        from.remove(send)
        to.append(send)
    }

    /// - Parameters:
    ///   - padding: The padding set by the host.
    ///   - insets: The configuration's insets. They apply where they differ from the defaults, which leave the padding
    ///     to the style.
    func apply(_ padding: BarPadding, _ insets: ComposerInsets) {
        let usual = ComposerInsets()
        func pixels(_ inset: Double) -> Int { inset.isFinite ? Int(min(max(0, inset), 1000).rounded()) : 0 }
        func margin(_ set: Int, _ inset: Double = 0, usual: Double = 0) -> Int {
            set >= 0 ? set : inset == usual ? 0 : pixels(inset)
        }
        row.marginTop = margin(padding.top, insets.rowTop, usual: usual.rowTop)
        row.marginBottom = margin(padding.bottom, insets.rowBottom, usual: usual.rowBottom)
        row.marginStart = margin(padding.start)
        row.marginEnd = margin(padding.end)
        if let top = slots[.top] {
            for side in [\Box.marginStart, \.marginEnd, \.marginTop] { top[keyPath: side] = margin(padding.topSlot) }
        }
        middle.marginEnd = margin(padding.behindText)
        revealer.marginBottom = margin(padding.bottomOffset, insets.bottomOffset)
        let textTop = insets.textTop == usual.textTop ? Self.textMargin : pixels(insets.textTop)
        let textBottom = insets.textBottom == usual.textBottom ? Self.textMargin : pixels(insets.textBottom)
        scroller.marginTop = textTop
        placeholder.marginTop = textTop
        scroller.marginBottom = textBottom
    }

    /// The margin above and below the text in the `.ui` file.
    private static let textMargin = 9
}

/// The padding set by the host, in pixels; negative values leave it to the style (MIB-2, MCV-2).
struct BarPadding: Equatable {
    /// Around the row of text and buttons.
    var top = -1
    var start = -1
    var bottom = -1
    var end = -1
    /// Around the top slot, except below it.
    var topSlot = -1
    /// Between the text and what follows it.
    var behindText = -1
    /// Below the bar.
    var bottomOffset = -1
}
