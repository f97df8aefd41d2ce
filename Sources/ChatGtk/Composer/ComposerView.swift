import CGtk
import ChatViewModels
import Composer
import GtkKit

/// The composer at the foot of a conversation: edit bar, growing text, send button.
final class ComposerView {
    let widget: Widget

    private let viewModel: ComposerViewModel
    private let editor: EditorView
    private let scroller: ScrolledWindow
    private let placeholder: Label
    private let editBar: Revealer
    private let editQuote: Label
    private let send: Revealer
    private let sendButton: Button
    let completion: CompletionPopup
    private var rendering: Rendering?
    private var surfaceLayout: SignalConnection?
    private var isCatchingUp = false
    let textView: Widget

    init(viewModel: ComposerViewModel) {
        self.viewModel = viewModel
        // Registered before the file names it.
        _ = ComposerTextView.type
        let builder = Builder(resource: Resource.ui("composer"))
        widget = builder["composer"]
        textView = builder["editor"]
        scroller = builder["editor_scroller"]
        placeholder = builder["placeholder"]
        editBar = builder["edit_revealer"]
        editQuote = builder["edit_quote"]
        send = builder["send_revealer"]
        sendButton = builder["send_button"]
        editor = EditorView(textView: textView, viewModel: viewModel)
        completion = CompletionPopup(
            model: viewModel, bar: widget, textView: textView, dock: builder["completion_dock"],
            scalarOffset: { [weak editor] in editor?.scalarOffset(of: $0) ?? 0 })
        gtk_overlay_add_overlay(builder["editor_overlay", Widget.self].cast(), completion.announcer.region.cast())
        textView.setAccessibleLabel(translated("Message"))
        textView.setAccessiblePlaceholder(translated("Write a message"))
        // The text view has no margins of its own: GTK 4.8 scrolls them out of view when it grows. A click beside the
        // text means the text all the same.
        let click = Object(owning: UnsafeMutableRawPointer(gtk_gesture_click_new()))
        click.connect("pressed") { [weak self] _ in self?.textView.grabFocus() }
        builder["composer_row", Widget.self].addController(click)
        sendButton.onClick { [weak self, weak viewModel] in
            guard let viewModel else { return }
            // What an input method still shows is committed first, so that it is sent, once (SLK-63).
            self?.commitPreedit()
            viewModel.handle(viewModel.state.composer.editing == nil ? .send : .commitEdit)
        }
        builder["cancel_edit_button", Button.self].onClick { [weak viewModel] in viewModel?.handle(.cancelEdit) }
        keepScrollInBounds()
        textView.connect("realize") { [weak self] _ in self?.followWindowHeight() }
        rendering = Rendering({ [viewModel] in viewModel.state }, { [weak self] in self?.render($0) })
    }

    private func commitPreedit() { gtk_text_view_reset_im_context(textView.cast()) }

    /// The identifier under which the user is mentioned, whose pill is told apart.
    var ownEntityID: String? {
        get { editor.ownEntityID }
        set { editor.ownEntityID = newValue }
    }

    /// Gives the text the keyboard focus.
    func grabFocus() { textView.grabFocus() }

    var hasFocus: Bool { textView.hasFocus }

    // MARK: Rendering

    private func render(_ state: ComposerViewModel.State) {
        let composer = state.composer
        placeholder.isVisible = composer.showsPlaceholder
        let isEditing = composer.editing != nil
        if isEditing { editQuote.text = state.editQuote ?? "" }
        editBar.isRevealed = isEditing
        // The button shows once there is something to send, and tells by its sensitivity whether that may go (SLK-10).
        send.isRevealed = composer.length > 0 || isEditing
        sendButton.isSensitive = isEditing ? composer.canSave : composer.canSend
        let label = isEditing ? translated("Save") : translated("Send")
        sendButton.iconName = isEditing ? "object-select-symbolic" : "go-up-symbolic"
        if sendButton.tooltip != label {
            sendButton.tooltip = label
            sendButton.setAccessibleLabel(label)
        }
        limitHeight(toLines: composer.maximumLines)
    }

    // MARK: Growing (SLK-4)

    private var heightLimit = 0

    private func limitHeight(toLines lines: Int) {
        let limit = Int((Double(lines) * editor.lineHeight).rounded(.up))
        guard limit != heightLimit else { return }
        heightLimit = limit
        scroller.setContentHeight(minimum: -1, maximum: limit)
    }

    /// Scrolling to the caret starts before the field has grown, and GTK 4.8 animates to that target without
    /// looking at the bounds again.
    private func keepScrollInBounds() {
        let adjustment = scroller.verticalAdjustment
        adjustment.connect("value-changed") { [weak self] _ in
            guard let adjustment = self?.scroller.verticalAdjustment else { return }
            let end = max(0, adjustment.upper - adjustment.pageSize)
            if adjustment.value > end { adjustment.value = end }
        }
        // A text view asks for at least its text's height and gets it although the field is lower. When the field has
        // grown too, nothing has changed for the view, and it goes on scrolling by the lower height (GTK 4.8).
        adjustment.connect("notify::upper") { [weak self] _ in
            guard let self, !self.isCatchingUp else { return }
            self.isCatchingUp = true
            var frames = 0
            self.textView.addTick { [weak self] in
                frames += 1
                self?.isCatchingUp = self?.catchUpWithGrowth() == true && frames < 30
                return self?.isCatchingUp == true
            }
        }
        adjustment.connect("notify::page-size") { [weak self] _ in self?.editor.scrollToCaret() }
    }

    /// - Returns: whether the field is on its way to another height.
    private func catchUpWithGrowth() -> Bool {
        let adjustment = scroller.verticalAdjustment
        guard adjustment.upper > adjustment.pageSize else { return false }
        guard scroller.height > Int(adjustment.pageSize) else { return Int(adjustment.pageSize) < heightLimit }
        textView.queueAllocate()
        return true
    }

    private func followWindowHeight() {
        surfaceLayout?.disconnect()
        guard let native = gtk_widget_get_native(textView.cast()), let surface = gtk_native_get_surface(native) else {
            return
        }
        let object = Object(borrowing: UnsafeMutableRawPointer(surface))
        surfaceLayout = object.connect("layout") { [weak self] _ in self?.windowChanged() }
        measure()
    }

    private func windowChanged() {
        measure()
        completion.windowChanged()
    }

    private func measure() {
        guard let root = gtk_widget_get_root(textView.cast()) else { return }
        let window = Widget(borrowing: UnsafeMutableRawPointer(root))
        guard window.height > 0 else { return }
        viewModel.handle(
            .layout(ComposerLayout(windowHeight: Double(window.height), lineHeight: editor.lineHeight)))
    }
}
