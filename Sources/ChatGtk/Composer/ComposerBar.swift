public import CGtk
public import ChatViewModels
public import Composer
public import GtkKit

/// The composer as one widget: growing text with completion, pills and live Markdown, edit and reply bars, a send
/// button, and slots for a host's own widgets.
///
/// It is a GType, `ParlanceComposerBar`: make it in code or name it in a `.ui` file once ``register()`` was called.
///
///     let widget = ComposerBar.make()
///     let bar = ComposerBar.of(widget)!
///     bar.session.onSend = { message in print(message.text) }
///     window.setChild(widget)
///
/// The widget owns its implementation; there may be any number of them, and each may go from one container to another.
public final class ComposerBar: WidgetImplementation {
    /// Where widgets of the host go (SLK-2, MIB-3). In `.ui` files: `<child type="start">`; `<child type="editor">` is
    /// what ``replaceMiddle(by:)`` puts in the text's place.
    public enum Slot: String, CaseIterable, Sendable {
        /// Above the text, below what completion docks.
        case top
        /// Before the text: an attach button.
        case start
        /// Behind the text, before the send button.
        case end
        /// Below the text: a toolbar.
        case bottom
    }

    public override class var typeName: String { "ParlanceComposerBar" }
    public override class var cssName: String { "composer" }
    public override class var role: GtkAccessibleRole { GTK_ACCESSIBLE_ROLE_GROUP }
    public override class var layoutManager: GType? { gtk_bin_layout_get_type() }
    public override class var signals: [WidgetSignal] {
        [
            WidgetSignal("send", texts: 2), WidgetSignal("edit-committed", texts: 2), WidgetSignal("changed"),
            WidgetSignal("swiped", texts: 1), WidgetSignal("moved", numbers: 2),
            WidgetSignal("size-changed", numbers: 2), WidgetSignal("panel-changed", texts: 1),
            WidgetSignal("attachments-changed", numbers: 3),
        ]
    }
    public override class var properties: [WidgetProperty] { options }

    let widgets: ComposerWidgets
    private let buttons: ItemButtons
    private(set) var binding: ComposerBinding?
    private var defaultSession: ComposerSession?
    private var geometry: BarGeometry?

    /// Makes the text view of bars made from now on, for one that is more than a GtkTextView, as GtkSourceView is (SLK-62);
    /// nil for the library's own. Around mentions another draws rectangles, not pills.
    public static var makeEditor: (() -> Widget)?

    /// Makes the type known to GtkBuilder, and the library's files to GTK. Harmless to repeat.
    /// - Throws: ``Resource/Missing`` if the library's files are not where they were installed or built.
    public static func register() throws(Resource.Missing) {
        try Resource.load()
        Resource.loadStyle()
        _ = type
    }

    public required init(pointer: UnsafeMutableRawPointer) {
        do { try Resource.load() } catch { fatalError(error.message) }
        widgets = ComposerWidgets(makeEditor: Self.makeEditor)
        buttons = ItemButtons(widgets: widgets)
        super.init(pointer: pointer)
        gtk_widget_set_parent(widgets.revealer.cast(), cast())
        buttons.onSwipe = { [weak self] in self?.emit("swiped", $0 == .left ? "left" : "right") }
        geometry = BarGeometry(of: self, child: widgets.revealer)
        geometry?.onMove = { [weak self] in self?.emit("moved", numbers: [$0, $1]) }
        geometry?.onResize = { [weak self] in
            self?.widgets.fit(width: $0)
            self?.emit("size-changed", numbers: [$0, $1])
        }
        // A bar that nobody gave a model gets one of its own in time for what the user does.
        widgets.textView.connect("realize") { [weak self] _ in self?.bindIfNeeded() }
    }

    // MARK: The model

    /// Who runs the engine: a room's view model, or a session of the host's.
    public var model: (any ComposerModel)? {
        get { binding?.model }
        set {
            guard let newValue, newValue !== binding?.model else { return }
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
        }
    }

    /// Hands a new binding what the host has set.
    private func bindingChanged() {
        guard let binding else { return }
        binding.editor.currentUserEntityID = currentUserEntityID
        binding.editor.onEscape = { [weak self] in self?.onEscape?() ?? false }
        binding.completion.isEnabled = showsCompletions
        binding.completion.use(chooser)
        binding.cards.makeCard = makeMentionCard
        if let session = binding.model as? ComposerSession { session.phrases = TypingPhrases(.gettext) }
        files = BarFiles(binding: binding, widgets: widgets)
        files?.attachmentController.tray.onChange = { [weak self] in
            self?.emit("attachments-changed", numbers: [Double($0), Double($1), Double($2)])
        }
        showFiles()
        applyInsets()
    }

    /// What is known of a keyboard on the screen; `panel-changed` tells of each change. Always hidden on a desk (SLK-50).
    public var panel: InputPanel.State { binding?.field.panel.state ?? .hidden }

    /// Whether a change of the window's height may be such a keyboard's: by default while the text has the focus, so that the
    /// fields of others do not count (SLK-52).
    public var panelPolicy: (_ isFocused: Bool) -> Bool = { $0 } {
        didSet { binding?.field.panelPolicy = panelPolicy }
    }

    /// The session of a bar that was given no model; made when it is first asked for.
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

    /// The model, or a session of the bar's own.
    var boundModel: any ComposerModel {
        bindIfNeeded()
        return binding?.model ?? session
    }

    // MARK: What the host has a say in

    /// Asked when Escape is pressed and nothing in the bar is left to close: neither completion nor an edit, a reply or a
    /// selection (SLK-45). True keeps the key; otherwise whatever is around the bar gets it, as a dialog that closes by it.
    public var onEscape: (() -> Bool)?

    /// Opens completion with a prefix, as a button of the host's does: writes the prefix at the caret if it is not there, and
    /// gives the text the focus (SLK-25, MIB-35). Where the prefix means nothing nothing happens.
    public func startCompletion(_ prefix: String) { boundModel.handle(.complete(prefix)) }

    /// What shows the suggestions in the list's place; nil for the library's own list (HKW-51).
    public var chooser: (any CompletionChooser)? {
        didSet { binding?.completion.use(chooser) }
    }

    /// Whether the bar shows the suggestions. A host that does so itself reads them in ``ComposerSession/composer``, whose
    /// keys and rows are the composer's all the same, and answers by `acceptCompletion` or `acceptEntity` (HKW-70).
    public var showsCompletions = true {
        didSet { binding?.completion.isEnabled = showsCompletions }
    }

    /// Makes what is shown of somebody whose mention the pointer rests on or the caret is in; nil for nothing (HKW-56).
    public var makeMentionCard: ((Mention) -> Widget?)? {
        didSet { binding?.cards.makeCard = makeMentionCard }
    }

    // MARK: Files

    private(set) var files: BarFiles?

    /// Whether files can be added: by a button before the text, by paste and by drops, shown in a tray above the text
    /// (SLK-36, MIB-36). A session that was given no ``ComposerSession/media`` keeps copies among the temporary files.
    public var acceptsFiles = false {
        didSet {
            if acceptsFiles { _ = boundModel }
            showFiles()
        }
    }

    /// Whether the tray stays where nothing is in it (MIB-37).
    public var isTrayPersistent = false {
        didSet { showFiles() }
    }

    /// Whether a button at the end of the tray asks for more files (MIB-37).
    public var offersMoreFiles = true {
        didSet { showFiles() }
    }

    /// Takes files that are dropped anywhere on a widget, which shows that it would, in the place of the bar alone.
    /// - Parameter overlay: a GtkOverlay on which words say so.
    public func acceptDrops(on area: Widget, hint overlay: Widget? = nil) {
        _ = boundModel
        files?.attachmentController.acceptDrops(on: area, hint: overlay)
    }

    private func showFiles() {
        if acceptsFiles, let session = binding?.model as? ComposerSession, session.media == nil {
            session.media = FolderMedia.temporary()
        }
        files?.areOffered = acceptsFiles
        files?.attachmentController.tray.isPersistent = isTrayPersistent
        files?.attachmentController.tray.offersMore = offersMoreFiles
    }

    // MARK: What it holds

    /// The whole text; setting it is one undoable step.
    public var text: String {
        get { binding?.model.document.text ?? defaultSession?.document.text ?? "" }
        set { boundModel.handle(.load(WrittenText(newValue))) }
    }

    /// Shown while there is no text (SLK-7).
    public var placeholder: String {
        get { widgets.placeholder.text }
        set {
            widgets.placeholder.text = newValue
            widgets.textView.setAccessiblePlaceholder(newValue)
        }
    }

    /// The identifier under which the user is mentioned, whose pill is told apart.
    public var currentUserEntityID: String? {
        didSet { binding?.editor.currentUserEntityID = currentUserEntityID }
    }

    /// The GtkTextView. Its text is the engine's: change that by events.
    public var textWidget: Widget { widgets.textView }

    /// Gives the text the keyboard focus, unless the bar is hidden.
    public func grabFocus() {
        if !isHidden { widgets.textView.grabFocus() }
    }

    /// Takes the keyboard focus from the text, so that an on-screen keyboard goes (MCV-13).
    public func releaseFocus() {
        guard widgets.textView.hasFocus, let root = gtk_widget_get_root(cast()) else { return }
        gtk_root_set_focus(root, nil)
    }

    /// Ends what an input method shows and has not committed: it becomes text. Nothing else does that by itself but sending
    /// (HKW-25).
    public func commitPreedit() { binding?.editor.commitPreedit() }

    /// Brings the caret into view, as after a long draft was loaded (MCV-14).
    public func scrollToCaret() { binding?.editor.scrollToCaret() }

    // MARK: Options that the widget keeps; the others are in ComposerBar+Options

    /// Whether Markdown is drawn as what it means while it is written.
    public var stylesMarkdown = true {
        didSet { applyOptions() }
    }

    /// Whether the formatting buttons stay below the text; else they come with a selection.
    public var showsFormatting = false {
        didSet { applyOptions() }
    }

    /// Whether the send button leaves when there is nothing to send (SLK-10).
    public var hidesSend = true {
        didSet { applyOptions() }
    }

    /// Whether the bar springs to another height when lines come and go, where animations are on (SLK-57).
    public var bounces: Bool {
        get { widgets.growth.bounces }
        set { widgets.growth.bounces = newValue }
    }

    /// Whether a button makes the text tall once it has more than two lines; Ctrl+Shift+E does in any case (MIB-8).
    public var showsExpand = true {
        didSet { applyOptions() }
    }

    /// Keeps the text at its top and shows no scrollbar, however much is written (HKW-19). Still no taller than the limit,
    /// which GTK's policy of never scrolling would let it be.
    public var locksScrolling = false {
        didSet { applyOptions() }
    }

    /// Whether the number of characters is always shown, not only near the limit (SLK-14).
    public var showsCounter = false {
        didSet { applyOptions() }
    }

    /// The row in which the send button is: behind the text, or at the end of what is below it (MIB-4).
    public var sendsBelow = false {
        didSet { if sendsBelow != oldValue { widgets.moveSendButton(below: sendsBelow) } }
    }

    // What ComposerBar+Options keeps.
    var chosenPreset = ComposerConfiguration.Preset.parlance
    var chosenAppearance = BarAppearance.parlance
    var padding = BarPadding()
    var inset = -1
    /// The configuration's insets that the widgets show.
    private var appliedInsets: ComposerInsets?

    /// Distances that the host set, in code, as properties or in the configuration; the style's own otherwise.
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

    /// Buttons with hooks: set them in slots, say what they look like in ``itemAppearances``.
    public var items: ItemSlots { buttons.items }

    /// What the items' buttons show, by the items' identifiers.
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

    public func append(_ child: Widget, to slot: Slot) { widgets.slots[slot]?.append(child) }
    public func remove(_ child: Widget, from slot: Slot) { widgets.slots[slot]?.remove(child) }

    /// A widget of the host's that lies over the text, where its `halign` and `valign` say, in whatever size and window the bar
    /// is (HKW-23). There is room for one: another is not taken before this was detached.
    public private(set) var accessory: Widget?

    /// - Returns: whether it was taken.
    @discardableResult
    public func attachAccessory(_ widget: Widget) -> Bool {
        guard accessory == nil else { return false }
        accessory = widget
        gtk_overlay_add_overlay(widgets.overlay.cast(), widget.cast())
        return true
    }

    /// Takes the accessory away, if it is this one.
    public func detachAccessory(_ widget: Widget) {
        guard accessory?.pointer == widget.pointer else { return }
        gtk_overlay_remove_overlay(widgets.overlay.cast(), widget.cast())
        accessory = nil
    }

    /// Puts something else in the text's place, as a button that joins a room or a notice that nothing can be written;
    /// nil brings the text back. What is before and behind the text goes with it, and the text is kept.
    public func replaceMiddle(by other: Widget?) {
        if let old = gtk_stack_get_child_by_name(widgets.middle.cast(), "other") {
            gtk_stack_remove(widgets.middle.cast(), old)
        }
        if let other { gtk_stack_add_named(widgets.middle.cast(), other.cast(), "other") }
        widgets.middle.visibleChild = other == nil ? "editor" : "other"
        showsStart = other == nil
        showsEnd = other == nil
        binding?.isReplaced = other != nil
    }
}
