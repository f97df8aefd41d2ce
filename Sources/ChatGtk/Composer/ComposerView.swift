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
    private var rendering: Rendering?
    private var surfaceLayout: SignalConnection?
    private var textView: Widget

    init(viewModel: ComposerViewModel) {
        self.viewModel = viewModel
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
        textView.setAccessibleLabel(translated("Message"))
        textView.setAccessiblePlaceholder(translated("Write a message"))
        sendButton.onClick { [weak viewModel] in
            guard let viewModel else { return }
            viewModel.handle(viewModel.state.composer.editing == nil ? .send : .commitEdit)
        }
        builder["cancel_edit_button", Button.self].onClick { [weak viewModel] in viewModel?.handle(.cancelEdit) }
        // Scrolling to the caret before the field has grown goes too far: done again once it has its new height.
        scroller.verticalAdjustment.connect("notify::page-size") { [weak self] _ in self?.editor.scrollToCaret() }
        textView.connect("realize") { [weak self] _ in self?.followWindowHeight() }
        rendering = Rendering({ [viewModel] in viewModel.state }, { [weak self] in self?.render($0) })
    }

    /// Gives the text the keyboard focus.
    func grabFocus() { textView.grabFocus() }

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
        let limit = Int((Double(lines) * editor.lineHeight).rounded(.up)) + EditorView.verticalMargins
        guard limit != heightLimit else { return }
        heightLimit = limit
        scroller.setContentHeight(minimum: -1, maximum: limit)
    }

    private func followWindowHeight() {
        surfaceLayout?.disconnect()
        guard let native = gtk_widget_get_native(textView.cast()), let surface = gtk_native_get_surface(native) else {
            return
        }
        let object = Object(borrowing: UnsafeMutableRawPointer(surface))
        surfaceLayout = object.connect("layout") { [weak self] _ in self?.measure() }
        measure()
    }

    private func measure() {
        guard let root = gtk_widget_get_root(textView.cast()) else { return }
        let window = Widget(borrowing: UnsafeMutableRawPointer(root))
        guard window.height > 0 else { return }
        viewModel.handle(
            .layout(ComposerLayout(windowHeight: Double(window.height), lineHeight: editor.lineHeight)))
    }
}
