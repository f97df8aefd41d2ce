import CGtk
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
    let row: Widget
    let overlay: Widget
    let growth: GrowthFrame
    let scroller: ScrolledWindow
    let expand: Button
    let textView: Widget
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
        gtk_widget_set_direction(counter.cast(), GTK_TEXT_DIR_LTR)
    }

    /// Applies the default text view's settings to a custom one. Ignores widgets that are not a GtkTextView.
    private static func editor(
        _ defaultEditor: Widget, orFrom makeEditor: (() -> Widget)?, in scroller: ScrolledWindow
    ) -> Widget {
        guard let other = makeEditor?(), shim_is_a(other.pointer, gtk_text_view_get_type()) != 0 else {
            return defaultEditor
        }
        gtk_text_view_set_wrap_mode(other.cast(), gtk_text_view_get_wrap_mode(defaultEditor.cast()))
        gtk_text_view_set_accepts_tab(other.cast(), 0)
        gtk_text_view_set_input_hints(other.cast(), gtk_text_view_get_input_hints(defaultEditor.cast()))
        other.addStyle("parlance-editor")
        scroller.setChild(other)
        return other
    }

    /// Moves the edit bar's buttons below its text if there is too little width.
    /// - Parameter width: The bar's width, in pixels.
    func fit(width: Double) {
        let isNarrow = width / textView.textScale < 300
        let orientation = isNarrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL
        guard gtk_orientable_get_orientation(editBox.cast()) != orientation else { return }
        gtk_orientable_set_orientation(editBox.cast(), orientation)
    }

    /// Moves the send button after the text, or to the end of the row below it.
    func moveSendButton(below: Bool) {
        let (from, to): (Widget, Widget) = below ? (row, bottomRow) : (bottomRow, row)
        gtk_box_remove(from.cast(), send.cast())
        gtk_box_append(to.cast(), send.cast())
    }

    /// - Parameters:
    ///   - padding: The padding set by the host.
    ///   - insets: The configuration's insets. They apply where they differ from the defaults, which leave the padding
    ///     to the style.
    func apply(_ padding: BarPadding, _ insets: ComposerInsets) {
        let usual = ComposerInsets()
        func pixels(_ inset: Double) -> Int32 { inset.isFinite ? Int32(min(max(0, inset), 1000).rounded()) : 0 }
        func margin(_ set: Int, _ inset: Double = 0, usual: Double = 0) -> Int32 {
            set >= 0 ? Int32(clamping: set) : inset == usual ? 0 : pixels(inset)
        }
        gtk_widget_set_margin_top(row.cast(), margin(padding.top, insets.rowTop, usual: usual.rowTop))
        gtk_widget_set_margin_bottom(row.cast(), margin(padding.bottom, insets.rowBottom, usual: usual.rowBottom))
        gtk_widget_set_margin_start(row.cast(), margin(padding.start))
        gtk_widget_set_margin_end(row.cast(), margin(padding.end))
        if let top = slots[.top] {
            for set in [gtk_widget_set_margin_start, gtk_widget_set_margin_end, gtk_widget_set_margin_top] {
                set(top.cast(), margin(padding.topSlot))
            }
        }
        gtk_widget_set_margin_end(middle.cast(), margin(padding.behindText))
        gtk_widget_set_margin_bottom(revealer.cast(), margin(padding.bottomOffset, insets.bottomOffset))
        let textTop = insets.textTop == usual.textTop ? Self.textMargin : pixels(insets.textTop)
        let textBottom = insets.textBottom == usual.textBottom ? Self.textMargin : pixels(insets.textBottom)
        gtk_widget_set_margin_top(scroller.cast(), textTop)
        gtk_widget_set_margin_top(placeholder.cast(), textTop)
        gtk_widget_set_margin_bottom(scroller.cast(), textBottom)
    }

    /// The margin above and below the text in the `.ui` file.
    private static let textMargin: Int32 = 9
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
