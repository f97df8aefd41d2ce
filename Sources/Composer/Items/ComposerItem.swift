/// What happens to an item, or to the composer that it belongs to (MIB-13).
public enum ItemEvent: String, Hashable, Sendable, CaseIterable {
    /// Clicked, tapped, or chosen by key.
    case pressed
    case longPressed
    /// Held down, and let go.
    case selected, deselected
    case enabled, disabled
    /// The pointer came, and went.
    case hoverBegan, hoverEnded
    /// The text got the focus, and lost it.
    case editingBegan, editingEnded
}

/// Where a finger went over the text (MIB-16).
public enum SwipeDirection: Hashable, Sendable, CaseIterable {
    case left, right
}

/// Something in the bar beside the text: a button, a label, a recorder.
///
/// It is a model and no widget: a window shows it as it likes and tells it what the user does with it. Hooks are called
/// for a change and never for what was so already; setting one replaces the one before (MIB-13). One that changes
/// items while it runs is allowed to.
public final class ComposerItem: Identifiable {
    public typealias Handler = (ComposerItem) -> Void

    public let id: String
    /// Nil is the natural size of what shows the item (MIB-11).
    public var size: ComposerSize? = .item { didSet { if size != oldValue { changed?(self) } } }
    public var spacing = ItemSpacing.none { didSet { if spacing != oldValue { changed?(self) } } }
    /// A hidden item takes no room and keeps its place (MIB-3).
    public var isVisible = true { didSet { if isVisible != oldValue { changed?(self) } } }

    public var isEnabled = true {
        didSet {
            guard isEnabled != oldValue else { return }
            changed?(self)
            notify(isEnabled ? .enabled : .disabled)
            if !isEnabled { isSelected = false }
        }
    }

    /// Whether it is held down; nothing that is disabled can be.
    public var isSelected = false {
        didSet {
            if isSelected, !isEnabled { isSelected = false }
            guard isSelected != oldValue else { return }
            changed?(self)
            notify(isSelected ? .selected : .deselected)
        }
    }

    public var isHovered = false {
        didSet { if isHovered != oldValue { notify(isHovered ? .hoverBegan : .hoverEnded) } }
    }

    /// Where the item stands; nil while it is in no bar.
    public internal(set) var slot: ItemSlot?
    /// For what shows the item: something about its look is different.
    public var changed: Handler?

    private var hooks: [ItemEvent: Handler] = [:]
    private var textHandler: ((ComposerItem, ComposerDocument) -> Void)?
    private var swipeHandler: ((ComposerItem, SwipeDirection) -> Void)?

    public init(id: String) {
        self.id = id
    }

    // MARK: Hooks, to be chained

    /// Runs at once (MIB-13).
    @discardableResult
    public func configured(_ body: Handler) -> ComposerItem {
        body(self)
        return self
    }

    @discardableResult
    public func on(_ event: ItemEvent, _ handler: @escaping Handler) -> ComposerItem {
        hooks[event] = handler
        return self
    }

    /// The composer's text has changed.
    @discardableResult
    public func onTextChanged(_ handler: @escaping (ComposerItem, ComposerDocument) -> Void) -> ComposerItem {
        textHandler = handler
        return self
    }

    @discardableResult
    public func onSwipe(_ handler: @escaping (ComposerItem, SwipeDirection) -> Void) -> ComposerItem {
        swipeHandler = handler
        return self
    }

    // MARK: What the window tells

    /// The user pressed it. Nothing happens while it is disabled or hidden.
    public func press() {
        if isEnabled, isVisible { notify(.pressed) }
    }

    public func longPress() {
        if isEnabled, isVisible { notify(.longPressed) }
    }

    func notify(_ event: ItemEvent) { hooks[event]?(self) }
    func notify(_ document: ComposerDocument) { textHandler?(self, document) }
    func notify(_ direction: SwipeDirection) { swipeHandler?(self, direction) }
}
