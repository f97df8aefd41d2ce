import Composer
import ComposerSessions
import GtkKit

/// Connects a model to the widgets of a composer bar for the lifetime of this object.
final class ComposerBinding {
    let model: any ComposerModel
    let editor: EditorView
    let completion: CompletionPopup
    let menu: EditorMenu
    let selectionToolbar: SelectionToolbar
    let cards: MentionCards
    var onChange: (() -> Void)?
    /// Called when the state of the on-screen keyboard changes.
    var onPanel: ((InputPanel.State) -> Void)?
    /// Called after each state has been rendered.
    var onState: ((ComposerState) -> Void)?
    /// Whether another widget replaces the text, in which case nothing can be sent.
    var isReplaced = false {
        didSet { render(model.composer) }
    }

    /// The options set by the bar's properties.
    struct Options {
        var stylesMarkdown = true
        var showsFormatting = false
        var hidesSend = false
        var showsExpand = true
        var locksScrolling = false
        var showsCounter = false
    }

    private let widgets: ComposerWidgets
    let field: EditorField
    private let drag: EditorDrag
    /// Created when it is first shown.
    private var toolbar: FormattingBar?
    private let toolbarRevealer: Revealer
    private var renderings: [Rendering] = []
    private var clicks: [SignalConnection] = []
    private let overflow: OverflowHint
    private let pointer: EditorPointer
    private var revision: Int?
    private var options = Options()
    private let spinner: SendSpinner
    let announcements = ComposerAnnouncements()

    init(model: any ComposerModel, widgets: ComposerWidgets) {
        self.model = model
        self.widgets = widgets
        spinner = SendSpinner(button: widgets.sendButton)
        editor = EditorView(textView: widgets.textView, viewModel: model)
        completion = CompletionPopup(model: model, editor: editor, bar: widgets.content, dock: widgets.dock)
        drag = EditorDrag(editor: editor, model: model)
        field = EditorField(model: model, editor: editor, widgets: widgets)
        menu = EditorMenu(editor: editor, model: model, textView: widgets.textView, anchor: widgets.content)
        pointer = EditorPointer(editor: editor, model: model)
        overflow = OverflowHint(overlay: widgets.overlay, scroller: widgets.scroller)
        cards = MentionCards(editor: editor, model: model, anchor: widgets.content)
        selectionToolbar = SelectionToolbar(editor: editor, model: model, anchor: widgets.content)
        toolbarRevealer = Revealer()
        widgets.content.append(toolbarRevealer)
        for announcer in [completion.announcer, announcements.announcer] {
            widgets.overlay.addOverlay(announcer.region)
        }
        field.onWindowChange = { [weak self] in self?.completion.windowChanged() }
        field.onPanel = { [weak self] state in
            self?.completion.isCramped = state == .shown || state == .showing
            self?.onPanel?(state)
        }
        field.onHeightChange = { [weak self] in
            guard let self else { return }
            if !self.field.isLocked { self.overflow.update(overflows: self.field.overflows) }
            self.showExpand(self.model.composer)
        }
        widgets.growth.isFocused = { [weak model] in model?.composer.isFocused ?? false }
        connectButtons()
        spinner.onChange = { [weak self] in self.map { $0.render($0.model.composer) } }
        renderings = [
            Rendering({ [weak model] in model?.composer }, { [weak self] in $0.map { self?.render($0) } }),
            Rendering({ [weak model] in model?.editQuote }, { [weak self] in self?.widgets.editQuote.text = $0 ?? "" }),
            Rendering(
                { [weak model] in model?.editWarning },
                { [weak self] warning in
                    self?.widgets.editWarning.text = warning ?? ""
                    self?.widgets.editWarning.isVisible = warning != nil
                }),
        ]
    }

    isolated deinit {
        clicks.forEach { $0.disconnect() }
        widgets.content.remove(toolbarRevealer)
        for announcer in [completion.announcer, announcements.announcer] {
            widgets.overlay.removeOverlay(announcer.region)
        }
    }

    /// Ends focus and preedit in the model before its text view is replaced, which can no longer report them.
    func leave() {
        editor.commitPreedit()
        // Not every input method commits its text at a reset.
        if !model.composer.preedit.isEmpty { model.handle(.commit(model.composer.preedit)) }
        if model.composer.isFocused { model.handle(.focus(false)) }
    }

    func apply(_ options: Options) {
        self.options = options
        editor.markdown.isEnabled = options.stylesMarkdown
        if options.showsFormatting, toolbar == nil {
            let made = FormattingBar(model: model, isInFocusChain: true)
            toolbarRevealer.setChild(made.widget)
            toolbar = made
        }
        toolbarRevealer.isRevealed = options.showsFormatting
        field.isLocked = options.locksScrolling
        selectionToolbar.isEnabled = !options.showsFormatting
        render(model.composer)
    }

    private func connectButtons() {
        let events: [(Button, ComposerEvent)] = [
            (widgets.cancelEdit, .cancelEdit), (widgets.cancelReply, .reply(nil)),
        ]
        for (button, event) in events {
            clicks.append(
                button.onClick { [weak self] in
                    self?.model.handle(event)
                    self?.widgets.textView.grabFocus()
                })
        }
        clicks.append(
            widgets.expand.onClick { [weak self] in
                guard let self else { return }
                self.model.handle(.expand(!self.model.composer.isExpanded))
                self.widgets.textView.grabFocus()
            })
        for (button, event) in [(widgets.sendButton, ComposerEvent.send), (widgets.save, .commitEdit)] {
            clicks.append(
                button.onClick { [weak self] in
                    if case .send = event, let self, self.spinner.isVisible {
                        return self.model.cancelSending()
                    }
                    // Commit the preedit text before sending, so that it is sent exactly once (SLK-63).
                    self?.editor.commitPreedit()
                    self?.model.handle(event)
                })
        }
    }

    // MARK: Rendering

    private func render(_ state: ComposerState) {
        widgets.placeholder.isVisible = state.showsPlaceholder
        let isEditing = state.editing != nil
        widgets.edit.isRevealed = isEditing
        widgets.save.isSensitive = state.canSave
        showReply(state.reply)
        // The button keeps its space by default; its sensitivity shows whether sending is possible (SLK-10).
        widgets.send.isRevealed =
            !isEditing && !isReplaced && (state.hasSomethingToSend || spinner.isVisible || !options.hidesSend)
        // New text can be sent while a message is being sent; without any, the button cancels sending (MIB-10).
        spinner.update(isSending: state.isSending && !state.hasSomethingToSend)
        widgets.sendButton.isSensitive = state.canSend || spinner.isVisible
        showCounter(state)
        announcements.update(state)
        showHidden(state.isHidden)
        field.limitHeight(toLines: state.maxLines, isExpanded: state.isExpanded)
        showExpand(state)
        editor.setCompleting(state.completion != nil)
        if revision != nil, state.revision != revision { onChange?() }
        if revision != state.revision { field.countLines() }
        revision = state.revision
        onState?(state)
    }

    /// Shows the counter near the limit, or always if the host wants that; without a limit, or far from that of a
    /// measured size, the length alone (SLK-14).
    private func showCounter(_ state: ComposerState) {
        let isVisible = state.counter?.isNear ?? false || options.showsCounter && state.length > 0
        widgets.counter.isVisible = isVisible
        guard isVisible else { return }
        let texts = ComposerText.desktop
        let counter = state.counter.flatMap { $0.isNear || !$0.isMeasured ? $0 : nil }
        let text = counter.map { texts.counter($0) } ?? "\(model.document.graphemeCount)"
        widgets.counter.text = text
        let description = counter.flatMap { $0.isNear ? texts.counterDescription($0) : nil }
        widgets.counter.tooltip = description
        widgets.counter.setAccessibleLabel(description ?? text)
        widgets.counter.setStyle("error", counter?.exceeded ?? false)
    }

    /// A hidden bar must not keep the focus (SLK-53).
    private func showHidden(_ isHidden: Bool) {
        widgets.revealer.isRevealed = !isHidden
        if isHidden, widgets.revealer.focusChild != nil { widgets.revealer.root?.focus = nil }
    }

    private func showExpand(_ state: ComposerState) {
        let isOffered =
            options.showsExpand && !isReplaced && state.offersExpanding(visibleLines: field.visibleLines)
        if widgets.expand.isVisible != isOffered { widgets.expand.isVisible = isOffered }
        guard isOffered else { return }
        let icon = state.isExpanded ? "parlance-collapse-symbolic" : "parlance-expand-symbolic"
        guard widgets.expand.iconName != icon else { return }
        widgets.expand.iconName = icon
        let label = ComposerText.desktop.expandButton(state)
        widgets.expand.setAccessibleLabel(label)
        widgets.expand.tooltip = ComposerText.desktop.tooltip(label, KeyChord("E", [.control, .shift]))
    }

    private func showReply(_ reply: ReplyTarget?) {
        widgets.reply.isRevealed = reply != nil
        guard let reply else { return }
        widgets.replyTitle.text = ComposerText.desktop.title(reply)
        widgets.replyQuote.show(ComposerText.desktop.quote(reply))
    }
}
