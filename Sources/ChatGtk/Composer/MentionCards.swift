import CGtk
import ChatViewModels
import Composer
import GtkKit

/// Shows who is meant by the mention that the pointer rests on, or that the caret is in (HKW-56).
///
/// The card takes no focus; Tab goes into it where it has something to press, and Escape closes it.
final class MentionCards {
    /// Makes the card of a mention; nil for one that has none.
    var makeCard: ((Mention) -> Widget?)? {
        didSet { close() }
    }

    private enum Cause {
        case pointer, caret
    }

    /// After so long at one mention; a caret that only passes through opens nothing.
    private static let hoverDelay = Duration.milliseconds(400)
    /// Between the text and the card, in pixels, with the card's padding.
    private static let gap = 16.0

    private let editor: EditorView
    private let model: any ComposerModel
    private let anchor: Widget
    private let popover: CompanionPopover
    private var displayedMention: Span.ID?
    private var card: Widget?
    private var cause = Cause.caret
    private var waiting: (id: Span.ID, timeout: Timeout)?
    /// The mention that the user closed the card of; it stays closed until the caret has left it.
    private var closed: Span.ID?
    private var rendering: Rendering?

    /// - Parameter anchor: the widget around the text that the card is a child of.
    init(editor: EditorView, model: any ComposerModel, anchor: Widget) {
        self.editor = editor
        self.model = model
        self.anchor = anchor
        popover = CompanionPopover(parent: anchor)
        popover.addStyle("mention-card-popover")
        rendering = Rendering(
            { [weak model] in
                model.map { State(revision: $0.composer.revision, mention: $0.composer.highlightedMention) }
            },
            { [weak self] state in self?.highlightedMentionChanged(state?.mention) })
        trackPointer()
        addKeys()
    }

    isolated deinit {
        if gtk_widget_get_parent(popover.cast()) != nil { gtk_widget_unparent(popover.cast()) }
    }

    var isOpen: Bool { popover.isOpen }
    var widget: Widget { popover }

    private nonisolated struct State: Equatable {
        var revision: Int
        var mention: Span.ID?
    }

    // MARK: When

    private func highlightedMentionChanged(_ highlighted: Span.ID?) {
        if highlighted != closed { closed = nil }
        // What was written may have moved it, or taken it away.
        if let displayedMention, displayedMention != highlighted || cause == .pointer { close() }
        if let highlighted, displayedMention != highlighted, closed == nil {
            wait(for: highlighted, .caret)
        } else if highlighted == nil, cause == .caret {
            waiting = nil
        }
    }

    private func wait(for id: Span.ID, _ cause: Cause) {
        guard makeCard != nil, waiting?.id != id else { return }
        waiting = (
            id,
            Timeout(after: Self.hoverDelay) { [weak self] in
                guard let self, self.waiting?.id == id else { return }
                self.waiting = nil
                self.open(id, cause)
            }
        )
    }

    private func open(_ id: Span.ID, _ cause: Cause) {
        guard let span = model.document.mentions.first(where: { $0.id == id }), let mention = span.mention,
            anchor.isMapped, model.composer.completion?.isVisible != true, let card = makeCard?(mention)
        else { return }
        close()
        displayedMention = id
        self.cause = cause
        self.card = card
        popover.setChild(card)
        let rectangle = editor.rectangle(at: span.range.location, in: anchor)
        popover.point(x: Double(rectangle.x), y: Double(rectangle.y), width: 1, height: Double(rectangle.height))
        popover.isOpen = true
        if cause == .pointer { looking = Timeout(every: Self.hoverDelay) { [weak self] in self?.checkPointer() } }
        // Not before: GTK gives the focus to what comes and can have it. From now on Tab leads there.
        gtk_widget_set_can_focus(popover.cast(), 1)
    }

    func close() {
        waiting = nil
        looking = nil
        guard displayedMention != nil else { return }
        if gtk_widget_get_focus_child(popover.cast()) != nil { editor.textView.grabFocus() }
        displayedMention = nil
        gtk_widget_set_can_focus(popover.cast(), 0)
        popover.isOpen = false
        popover.setChild(nil)
        card = nil
    }

    // MARK: The pointer

    private func trackPointer() {
        let motion = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_motion_new()))
        motion.connect("motion") { [weak self] in self?.pointed(atX: $0.double(0), y: $0.double(1)) }
        motion.connect("leave") { [weak self] _ in self?.pointerLeft() }
        editor.textView.addController(motion)
    }

    private func pointed(atX x: Double, y: Double) {
        guard makeCard != nil, let id = mention(atX: x, y: y) else { return pointerLeft() }
        if displayedMention != id { wait(for: id, .pointer) }
    }

    /// The mention whose text is there, not one whose line ends before.
    private func mention(atX x: Double, y: Double) -> Span.ID? {
        let document = model.document
        guard !document.mentions.isEmpty else { return nil }
        let offset = editor.offset(x: x, y: y)
        guard let span = document.mentions.first(where: { $0.range.location <= offset && offset < $0.range.end }) else {
            return nil
        }
        let rectangle = editor.rectangle(at: offset, in: editor.textView)
        let isThere = y >= Double(rectangle.y) && y <= Double(rectangle.y + rectangle.height)
        return isThere ? span.id : nil
    }

    private func pointerLeft() {
        if let waiting, waiting.id != model.composer.highlightedMention { self.waiting = nil }
    }

    /// From the text to the card there is a gap to cross, and the card's shadow lies over the text: nobody is told of a
    /// pointer that rests there, so it is looked for now and then while a card is there for it.
    private func checkPointer() {
        guard displayedMention != nil, cause == .pointer, !isPointerThere else { return }
        close()
    }

    private var isPointerThere: Bool {
        if let card, let position = pointer(over: card) {
            let gap = Self.gap
            let isAcross = position.x > -gap && position.x < Double(card.width) + gap
            if isAcross, position.y > -gap, position.y < Double(card.height) + gap { return true }
        }
        return pointer(over: editor.textView).map { mention(atX: $0.x, y: $0.y) == displayedMention } ?? false
    }

    /// Where the pointer is, seen from a widget; nil while that is not shown.
    private func pointer(over widget: Widget) -> (x: Double, y: Double)? {
        guard let native = gtk_widget_get_native(widget.cast()), let surface = gtk_native_get_surface(native),
            let seat = gdk_display_get_default_seat(gtk_widget_get_display(widget.cast())),
            let device = gdk_seat_get_pointer(seat)
        else { return nil }
        var (left, top, x, y) = (0.0, 0.0, -1.0, -1.0)
        _ = gdk_surface_get_device_position(surface, device, &x, &y, nil)
        gtk_native_get_surface_transform(native, &left, &top)
        var position = (x: 0.0, y: 0.0)
        shim_translate(UnsafeMutableRawPointer(native), widget.pointer, x - left, y - top, &position.x, &position.y)
        return position
    }

    private var looking: Timeout?

    // MARK: Keys

    private func addKeys() {
        let keys = Object(owning: UnsafeMutableRawPointer(gtk_event_controller_key_new()))
        gtk_event_controller_set_propagation_phase(keys.cast(), GTK_PHASE_CAPTURE)
        keys.intercept("key-pressed") { [weak self] arguments in
            guard let self, self.displayedMention != nil else { return false }
            switch KeyChord(keyval: arguments.uint(0), modifiers: arguments.flags(2)) {
            case KeyChord("Escape"): return self.dismiss()
            case KeyChord("Tab"):
                return gtk_widget_child_focus(self.popover.cast(), GTK_DIR_TAB_FORWARD) != 0
            default: return false
            }
        }
        // Above text and card, so that Escape means the card in either.
        anchor.addController(keys)
    }

    private func dismiss() -> Bool {
        closed = displayedMention
        close()
        return true
    }
}
