import CGtk
import GtkKit

/// The widgets of a composer bar, as its `.ui` file names them.
struct ComposerParts {
    let revealer: Revealer
    /// What the popovers of the bar are children of.
    let content: Box
    let dock: Box
    let slots: [ComposerBar.Slot: Box]
    /// A row of its own under the text, for items.
    let bottomItems: Box
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
    let cancelEdit: Button
    let save: Button
    let reply: Revealer
    let replyTitle: Label
    let replyQuote: Label
    let cancelReply: Button

    /// - Parameter makeEditor: the text view to write in, in the place of the file's own.
    init(makeEditor: (() -> Widget)?) {
        // Registered before the file names them.
        _ = ComposerTextView.type
        _ = GrowthFrame.type
        let builder = Builder(resource: Resource.ui("composer"))
        revealer = builder["composer_revealer"]
        content = builder["composer"]
        dock = builder["completion_dock"]
        slots = [
            .top: builder["top_slot"], .start: builder["start_slot"], .end: builder["end_slot"],
            .bottom: builder["bottom_slot"],
        ]
        bottomItems = builder["bottom_items"]
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
        cancelEdit = builder["cancel_edit_button"]
        save = builder["save_button"]
        reply = builder["reply_revealer"]
        replyTitle = builder["reply_title"]
        replyQuote = builder["reply_quote"]
        cancelReply = builder["cancel_reply_button"]
        // Figures and signs run from left to right in every language: "-7" is not "7-".
        gtk_widget_set_direction(counter.cast(), GTK_TEXT_DIR_LTR)
    }

    /// Another text view takes over what the file says of its own; what is no GtkTextView is not taken.
    private static func editor(
        _ own: Widget, orFrom makeEditor: (() -> Widget)?, in scroller: ScrolledWindow
    ) -> Widget {
        guard let other = makeEditor?(), shim_is_a(other.pointer, gtk_text_view_get_type()) != 0 else { return own }
        gtk_text_view_set_wrap_mode(other.cast(), gtk_text_view_get_wrap_mode(own.cast()))
        gtk_text_view_set_accepts_tab(other.cast(), 0)
        gtk_text_view_set_input_hints(other.cast(), gtk_text_view_get_input_hints(own.cast()))
        other.addStyle("parlance-editor")
        scroller.setChild(other)
        return other
    }

    /// Puts the buttons of the edit bar under its words where there is too little room beside them.
    /// - Parameter width: the bar's, in pixels.
    func fit(width: Double) {
        let isNarrow = width / TextZoom.scale(of: textView) < 300
        let orientation = isNarrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL
        guard gtk_orientable_get_orientation(editBox.cast()) != orientation else { return }
        gtk_orientable_set_orientation(editBox.cast(), orientation)
    }

    /// Pixels around the row of text and buttons; negative for those of the style alone.
    func setInset(_ inset: Int) {
        let margin = Int32(max(0, inset))
        for set in [
            gtk_widget_set_margin_start, gtk_widget_set_margin_end, gtk_widget_set_margin_top,
            gtk_widget_set_margin_bottom,
        ] { set(row.cast(), margin) }
    }
}
