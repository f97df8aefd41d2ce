public import CGtk
public import Composer
public import ComposerSessions
public import GtkKit

/// A message composer: growing text with completion, mention pills and live Markdown, edit and reply bars, a send
/// button, and slots for the host's widgets.
///
/// Its GType is `ParlanceComposerBar`: create it in code, or in a `.ui` file after ``register()``.
///
///     let composer = ComposerBar()
///     composer.onSend = { message in print(message.text) }
///     box.append(composer.widget)
///
/// The widget owns its implementation, and the container owns the widget. Bars can be reparented.
public final class ComposerBar: WidgetImplementation {
    /// The containers for the host's widgets (SLK-2, MIB-3). In `.ui` files: `<child type="start">`;
    /// `<child type="editor">` replaces the text as ``replaceMiddle(by:)`` does.
    public enum Slot: String, CaseIterable, Sendable {
        /// Above the text, below docked suggestions.
        case top
        /// Before the text, for example for an attach button.
        case start
        /// After the text, before the send button.
        case end
        /// Below the text, for example for a toolbar.
        case bottom
    }

    public override class var typeName: String { "ParlanceComposerBar" }
    public override class var cssName: String { "composer" }
    public override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_GROUP }
    public override class var layoutManager: LayoutManager? { .bin }
    public override class var signals: [WidgetSignal] {
        [
            WidgetSignal("send", texts: 2), WidgetSignal("edit-committed", texts: 2), WidgetSignal("changed"),
            WidgetSignal("swiped", texts: 1), WidgetSignal("moved", numbers: 2),
            WidgetSignal("size-changed", numbers: 2), WidgetSignal("panel-changed", texts: 1),
            WidgetSignal("attachments-changed", numbers: 3),
        ]
    }
    public override class var properties: [WidgetProperty] { options }

    private(set) var widgets: ComposerWidgets
    private let buttons: ItemButtons
    private(set) var binding: ComposerBinding?
    private var defaultSession: ComposerSession?
    private var geometry: BarGeometry?

    /// Calls `handler` with the bar's size in pixels whenever it changes: the signal `size-changed`.
    package func onSizeChange(_ handler: @escaping @MainActor (_ width: Double, _ height: Double) -> Void) {
        widget.connect("size-changed") { handler($0.double(0), $0.double(1)) }
    }

    /// Creates the text view of new bars, for hosts that need more than a GtkTextView, such as GtkSourceView (SLK-62);
    /// `nil` for the default one. Other text views draw mentions as rectangles instead of pills.
    public static var makeEditor: (() -> Widget)?

    /// Registers the GType with GtkBuilder, and the library's resources with GTK. Idempotent. Bars made in code do it
    /// themselves, but end the program if the resources are missing.
    /// - Throws: `ResourceBundle.Missing` if the resources are not at the install or build location.
    public static func register() throws(ResourceBundle.Missing) {
        try ComposerResources.load()
        ComposerResources.loadStyle()
        _ = type
    }

    public required init(instance: WidgetInstance) {
        do { try ComposerResources.load() } catch { fatalError(error.message) }
        ComposerResources.loadStyle()
        widgets = ComposerWidgets(makeEditor: Self.makeEditor)
        buttons = ItemButtons(widgets: widgets)
        super.init(instance: instance)
        widgets.revealer.setParent(self)
        buttons.onSwipe = { [weak self] in self?.emit("swiped", $0 == .left ? "left" : "right") }
        buttons.isSwipeHandled = { [weak self] in self?.hasHandler(of: "swiped") ?? false }
        let outputs = BarGeometry.Outputs(
            moved: { [weak self] in self?.emit("moved", numbers: [$0, $1]) },
            resized: { [weak self] in
                self?.widgets.fit(width: $0)
                self?.emit("size-changed", numbers: [$0, $1])
            })
        geometry = BarGeometry(ofParentOf: widgets.revealer, outputs: outputs)
        // A bar without a model gets its own session before any user input.
        widgets.textView.onRealize { [weak self] _ in self?.bindIfNeeded() }
    }

    // MARK: Model

    /// The model that runs the engine: a room's view model, or a session of the host. Each has a text view of its own.
    public var model: (any ComposerModel)? {
        get { binding?.model }
        set {
            guard let newValue, newValue !== binding?.model else { return }
            let hadFocus = widgets.textView.isFocus
            if binding != nil { unbind() }
            binding = ComposerBinding(model: newValue, widgets: widgets)
            binding?.onPanel = { [weak self] in self?.emit("panel-changed", $0.rawValue) }
            binding?.field.panelPolicy = panelPolicy
            binding?.onChange = { [weak self] in self?.emit("changed") }
            binding?.onState = { [weak self] state in
                guard let self else { return }
                self.buttons.sync(state) { self.binding?.model.document ?? ComposerDocument() }
                if self.binding?.model.configuration.insets != self.appliedInsets { self.applyInsets() }
            }
            bindingChanged()
            applyOptions()
            if hadFocus { grabFocus() }
        }
    }

    private func unbind() {
        binding?.leave()
        // GTK 4.8 stops a blinking caret only in a text view that still has its frame clock.
        if widgets.textView.isFocus { root?.focus = nil }
        // Release the old binding first: its deinitializer reverts its changes to the widgets.
        (files, binding) = (nil, nil)
        widgets.renewEditor(from: Self.makeEditor)
        buttons.addSwipes(to: widgets.textView)
    }

    /// Applies the host's settings to a new binding.
    private func bindingChanged() {
        guard let binding else { return }
        binding.editor.currentUserEntityID = currentUserEntityID
        binding.editor.onEscape = { [weak self] in self?.onEscape?() ?? false }
        binding.completion.isEnabled = showsCompletions
        binding.completion.use(chooser)
        binding.completion.avatars = avatars
        binding.cards.makeCard = makeMentionCard
        binding.isReplaced = widgets.middle.child(named: "other") != nil
        if let session = binding.model as? ComposerSession { session.phrases = TypingPhrases(.gettext) }
        files = BarFiles(binding: binding, widgets: widgets, acceptsDrops: drops?.isAttached != true)
        files?.attachmentController.tray.onChange = { [weak self] in
            self?.emit("attachments-changed", numbers: [Double($0), Double($1), Double($2)])
        }
        showFiles()
        applyInsets()
    }

    /// The state of the on-screen keyboard; `panel-changed` reports changes (SLK-50).
    ///
    /// Inferred: the window loses at least 120 pixels of height in one step at unchanged width while the text is focused.
    /// A tiling desktop may cause that, too; see ``panelPolicy``.
    public var panel: InputPanel.State { binding?.field.panel.state ?? .hidden }

    /// Decides whether a change of the window's height may be caused by the on-screen keyboard. By default only while
    /// the text is focused, which excludes keyboards for other fields (SLK-52).
    public var panelPolicy: (_ isFocused: Bool) -> Bool = { $0 } {
        didSet { binding?.field.panelPolicy = panelPolicy }
    }

    /// The session of a bar without a model, created on first access.
    public var session: ComposerSession {
        if let defaultSession { return defaultSession }
        let session = ComposerSession()
        session.phrases = TypingPhrases(.gettext)
        defaultSession = session
        session.onSend = { [weak self] message in self?.emit("send", message.text.source, message.raw.source) }
        session.onEdit = { [weak self] id, message in self?.emit("edit-committed", id, message.text.source) }
        return session
    }

    private func bindIfNeeded() {
        guard binding == nil else { return }
        model = session
    }

    /// The model, or the bar's own session.
    var boundModel: any ComposerModel {
        bindIfNeeded()
        return binding?.model ?? session
    }

    // MARK: Hooks for the host

    /// Called when Escape is pressed while there is no completion, edit, reply or selection to close (SLK-45). Return
    /// `true` to consume the key; otherwise it propagates to the bar's ancestors, for example to close a dialog.
    public var onEscape: (() -> Bool)?

    /// Opens completion for a prefix, for a button of the host: inserts the prefix at the caret if necessary, and
    /// focuses the text (SLK-25, MIB-35). If no `CompletionRule` has the prefix, or it is not allowed at the caret,
    /// inserts nothing and reports `ComposerRejection.completion`. Rules decide, not sources: without a source for the
    /// prefix, there are no suggestions.
    public func startCompletion(_ prefix: String) { boundModel.handle(.complete(prefix)) }

    /// The host's view of the suggestions, or `nil` for the default list (HKW-51).
    public var chooser: (any CompletionChooser)? {
        didSet { binding?.completion.use(chooser) }
    }

    /// Whether the bar shows the suggestions. A host that shows them itself reads them from
    /// `ComposerSession.composer` and replies with `acceptCompletion` or `acceptEntity`; the composer still handles
    /// the keys (HKW-70).
    public var showsCompletions = true {
        didSet { binding?.completion.isEnabled = showsCompletions }
    }

    /// Creates the card for the mention under the pointer or the caret; return `nil` for none (HKW-56).
    public var makeMentionCard: ((Mention) -> Widget?)? {
        didSet { binding?.cards.makeCard = makeMentionCard }
    }

    /// Closes the card of a mention, if one is open.
    public func closeMentionCard() { binding?.cards.close() }

    /// Loads the avatars of suggestions. Without it, they show initials.
    package var avatars: CompletionAvatars? {
        didSet { binding?.completion.avatars = avatars }
    }

    // MARK: Files

    private(set) var files: BarFiles?
    /// The host's area for drops, which it names once for all models.
    private var drops: FileDropArea?

    /// Whether files can be attached with a menu, by paste and by drag and drop, and are shown in a tray above the
    /// text (SLK-36, MIB-36). A session without `ComposerSession.media` stores copies in the temporary directory.
    public var acceptsFiles = false {
        didSet {
            if acceptsFiles { _ = boundModel }
            showFiles()
        }
    }

    /// Whether the tray stays visible while empty (MIB-37).
    public var isTrayPersistent = false {
        didSet { showFiles() }
    }

    /// Whether the tray ends with a button for adding files (MIB-37).
    public var offersMoreFiles = true {
        didSet { showFiles() }
    }

    /// Accepts files dropped anywhere on `area`, instead of on the bar alone, and highlights it during a drag. This
    /// holds for every ``model``.
    /// - Parameter overlay: The overlay for a hint, or `nil` for none.
    public func acceptDrops(on area: Widget, hint overlay: Overlay? = nil) {
        _ = boundModel
        files?.attachmentController.endDrops()
        drops?.end()
        drops = FileDropArea(
            area, overlay: overlay,
            accepts: { [weak self] in self?.files?.attachmentController.acceptsDrop(of: $0) ?? false },
            onDrop: { [weak self] offer in
                guard let files = self?.files else { return offer.finishDrop(isAccepted: false) }
                files.attachmentController.handle(offer)
            })
    }

    /// Opens the file chooser for files of any kind.
    public func chooseFiles() {
        _ = boundModel
        files?.attachmentController.choose()
    }

    private func showFiles() {
        if acceptsFiles, let session = binding?.model as? ComposerSession, session.media == nil {
            session.media = FolderMedia.temporary()
        }
        files?.areOffered = acceptsFiles
        files?.attachmentController.tray.isPersistent = isTrayPersistent
        files?.attachmentController.tray.offersMore = offersMoreFiles
    }

    // MARK: Content

    /// The whole text. Setting it is a single undo step.
    public var text: String {
        get { binding?.model.document.text ?? defaultSession?.document.text ?? "" }
        set { boundModel.handle(.load(WrittenText(newValue))) }
    }

    /// The text shown while the composer is empty (SLK-7).
    public var placeholder: String {
        get { widgets.placeholder.text }
        set {
            widgets.placeholder.text = newValue
            widgets.textView.setAccessiblePlaceholder(newValue)
        }
    }

    /// The entity ID of the user, whose mentions get a distinct pill.
    public var currentUserEntityID: String? {
        didSet { binding?.editor.currentUserEntityID = currentUserEntityID }
    }

    /// The GtkTextView, another one for each ``model``. Do not change its buffer: the engine owns the text.
    public var textWidget: Widget { widgets.textView }

    /// Focuses the text, unless the bar is hidden.
    public func grabFocus() {
        if !isHidden { widgets.textView.grabFocus() }
    }

    /// Removes the focus from the text, which hides an on-screen keyboard (MCV-13).
    public func releaseFocus() {
        if widgets.textView.hasFocus { root?.focus = nil }
    }

    /// Commits the input method's preedit text, as sending and moving the caret do on their own (HKW-25).
    public func commitPreedit() { binding?.editor.commitPreedit() }

    /// Scrolls the caret into view, for example after loading a long draft (MCV-14).
    public func scrollToCaret() { binding?.editor.scrollToCaret() }

    // MARK: Options stored in the widget; for the others see ComposerBar+Options

    /// Whether Markdown is styled while typing.
    public var stylesMarkdown = true {
        didSet { applyOptions() }
    }

    /// Whether the formatting buttons stay visible below the text; otherwise they appear above a selection.
    public var showsFormatting = false {
        didSet { applyOptions() }
    }

    /// Whether the send button is hidden while there is nothing to send; otherwise it is dim then, and nothing moves
    /// with the first letter (SLK-10).
    public var hidesSend = false {
        didSet { applyOptions() }
    }

    /// Whether changes of the bar's height are animated with a bounce, if animations are enabled (SLK-57).
    public var bounces: Bool {
        get { widgets.growth.bounces }
        set { widgets.growth.bounces = newValue }
    }

    /// Whether a button to expand the editor appears above two and a half lines of text. Ctrl+Shift+E always works
    /// (MIB-8).
    public var showsExpand = true {
        didSet { applyOptions() }
    }

    /// Whether the text stays scrolled to its top, without a scrollbar, whatever its length (HKW-19). The height limit
    /// still applies; with GTK_POLICY_NEVER it would not.
    public var locksScrolling = false {
        didSet { applyOptions() }
    }

    /// Whether the character count is always shown; otherwise only near the limit (SLK-14).
    public var showsCounter = false {
        didSet { applyOptions() }
    }

    /// Whether the send button is at the end of the row below the text instead of after the text (MIB-4).
    public var sendsBelow = false {
        didSet { if sendsBelow != oldValue { widgets.moveSendButton(below: sendsBelow) } }
    }

    // Storage for ComposerBar+Options.
    var chosenPreset = ComposerConfiguration.Preset.parlance
    var chosenAppearance = BarAppearance.parlance
    var padding = BarPadding()
    var inset = -1
    /// The insets that were last applied to the widgets.
    private var appliedInsets: ComposerInsets?

    /// Applies the distances set by the host, in code, as properties or in the configuration; the style's apply
    /// otherwise.
    func applyInsets() {
        let insets = binding?.model.configuration.insets ?? defaultSession?.configuration.insets ?? ComposerInsets()
        appliedInsets = insets
        widgets.apply(padding, insets)
    }

    private func applyOptions() {
        binding?.apply(
            .init(
                stylesMarkdown: stylesMarkdown, showsFormatting: showsFormatting, hidesSend: hidesSend,
                showsExpand: showsExpand, locksScrolling: locksScrolling, showsCounter: showsCounter))
    }

    // MARK: Slots

    /// The host's buttons: add them to slots here, and define their appearance in ``itemAppearances``.
    public var items: ItemSlots { buttons.items }

    /// The appearance of the items' buttons, by item ID.
    public var itemAppearances: [String: ItemAppearance] {
        get { buttons.appearances }
        set { buttons.appearances = newValue }
    }

    public override func add(_ child: Widget, to childType: String?) -> Bool {
        if childType == "editor" {
            replaceMiddle(by: child)
            return true
        }
        guard let childType, let slot = Slot(rawValue: childType) else { return false }
        append(child, to: slot)
        return true
    }

    /// A widget of the host on top of the text, positioned by its `halign` and `valign` (HKW-23). There is at most one:
    /// detach it before attaching another.
    public private(set) var accessory: Widget?

    /// - Returns: `false` if there is an accessory already.
    @discardableResult
    public func attachAccessory(_ widget: Widget) -> Bool {
        guard accessory == nil else { return false }
        accessory = widget
        widgets.overlay.addOverlay(widget)
        return true
    }

    /// Removes the accessory if it is `widget`.
    public func detachAccessory(_ widget: Widget) {
        guard widget.isSame(as: accessory) else { return }
        widgets.overlay.removeOverlay(widget)
        accessory = nil
    }
}
