import CGtk
import Composer
import ComposerSessions
import GtkKit

/// Shows a card for the mention under the pointer or the caret (HKW-56).
///
/// The card does not grab the focus: Tab moves into it if it has a focusable widget, Escape closes it.
final class MentionCards {
    /// Creates the card of a mention, or returns `nil` for none.
    var makeCard: ((Mention) -> Widget?)? {
        didSet { close() }
    }

    private enum Cause {
        case pointer, caret
    }

    /// The delay before a card opens, so that a caret that only passes through a mention opens none.
    private static let hoverDelay = Duration.milliseconds(400)
    /// The distance between the text and the card including its padding, in pixels.
    private static let gap = 16.0

    private let editor: EditorView
    private let model: any ComposerModel
    private let anchor: Widget
    /// Created for the first card: a room is opened more often than it shows one.
    private var madePopover: CompanionPopover?
    private let keys = KeyController(.capture)
    private var displayedMention: Span.ID?
    private var card: Widget?
    private var cause = Cause.caret
    private var waiting: (id: Span.ID, timeout: Timeout)?
    /// The mention whose card the user has dismissed. It stays closed until the caret leaves the mention.
    private var closed: Span.ID?
    private var rendering: Rendering?

    /// - Parameter anchor: The widget around the text, the card's parent.
    init(editor: EditorView, model: any ComposerModel, anchor: Widget) {
        self.editor = editor
        self.model = model
        self.anchor = anchor
        rendering = Rendering(
            { [weak model] in
                model.map { State(revision: $0.composer.revision, mention: $0.composer.highlightedMention) }
            },
            { [weak self] state in self?.highlightedMentionChanged(state?.mention) })
        trackPointer()
        addKeys()
    }

    isolated deinit {
        madePopover?.unparent()
        keys.end()
    }

    private var popover: CompanionPopover {
        if let madePopover { return madePopover }
        let popover = CompanionPopover(parent: anchor)
        popover.addStyle("mention-card-popover")
        madePopover = popover
        return popover
    }

    var isOpen: Bool { madePopover?.isOpen == true }
    var widget: Widget { popover }

    private nonisolated struct State: Equatable {
        var revision: Int
        var mention: Span.ID?
    }

    // MARK: Opening and closing

    private func highlightedMentionChanged(_ highlighted: Span.ID?) {
        if highlighted != closed { closed = nil }
        // The edit may have moved or removed the mention.
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
        // Only now, for Tab: GTK moves the focus to a new widget that can take it.
        popover.canFocus = true
    }

    func close() {
        waiting = nil
        looking = nil
        guard displayedMention != nil else { return }
        if popover.focusChild != nil { editor.textView.grabFocus() }
        displayedMention = nil
        popover.canFocus = false
        popover.isOpen = false
        popover.setChild(nil)
        card = nil
    }

    // MARK: The pointer

    private func trackPointer() {
        let motion = MotionController()
        motion.onMove { [weak self] in self?.pointed(atX: $0.x, y: $0.y) }
        motion.onLeave { [weak self] in self?.pointerLeft() }
        editor.textView.addController(motion)
    }

    private func pointed(atX x: Double, y: Double) {
        guard makeCard != nil, let id = mention(atX: x, y: y) else { return pointerLeft() }
        if displayedMention != id { wait(for: id, .pointer) }
    }

    /// The mention at a point, excluding points beyond the end of its line.
    private func mention(atX x: Double, y: Double) -> Span.ID? {
        let document = model.document
        guard !document.mentions.isEmpty else { return nil }
        let offset = editor.offset(x: x, y: y)
        guard let span = document.mentions.first(where: { $0.range.location <= offset && offset < $0.range.end }) else {
            return nil
        }
        let rectangle = editor.rectangle(at: offset, in: editor.textView)
        let isInside = y >= Double(rectangle.y) && y <= Double(rectangle.y + rectangle.height)
        return isInside ? span.id : nil
    }

    private func pointerLeft() {
        if let waiting, waiting.id != model.composer.highlightedMention { self.waiting = nil }
    }

    /// The pointer has to cross a gap between the text and the card, and the card's shadow covers the text. No widget
    /// receives motion events there, so the pointer is polled while its card is open.
    private func checkPointer() {
        guard displayedMention != nil, cause == .pointer, !isPointerThere else { return }
        close()
    }

    private var isPointerThere: Bool {
        if let card, let position = card.pointerPosition {
            let gap = Self.gap
            let isAcross = position.x > -gap && position.x < Double(card.width) + gap
            if isAcross, position.y > -gap, position.y < Double(card.height) + gap { return true }
        }
        return editor.textView.pointerPosition.map { mention(atX: $0.x, y: $0.y) == displayedMention } ?? false
    }

    private var looking: Timeout?

    // MARK: Keys

    private func addKeys() {
        keys.onPress { [weak self] key in
            guard let self, self.displayedMention != nil else { return false }
            switch KeyChord(key) {
            case KeyChord("Escape"): return self.dismiss()
            case KeyChord("Tab"):
                return self.popover.moveFocus(.forward)
            default: return false
            }
        }
        // On the common ancestor of text and card, so that Escape closes the card from either.
        anchor.addController(keys)
    }

    private func dismiss() -> Bool {
        closed = displayedMention
        close()
        return true
    }
}
