/// An event of an item or its composer (MIB-13).
public enum ItemEvent: String, Hashable, Sendable, CaseIterable {
    /// Clicked, tapped or activated by keyboard.
    case pressed
    case longPressed
    /// Held down, or released.
    case selected, deselected
    case enabled, disabled
    /// The pointer entered or left.
    case hoverBegan, hoverEnded
    /// The text gained or lost focus.
    case editingBegan, editingEnded
}

/// The direction of a swipe over the text (MIB-16).
public enum SwipeDirection: Hashable, Sendable, CaseIterable {
    case left, right
}

/// An item in the bar beside the text: a button, a label, a recorder.
///
/// A view model: the window draws it and forwards user input. Handlers run only when a value changes; setting a
/// handler replaces the previous one (MIB-13). Handlers may change items.
public final class ComposerItem: Identifiable {
    public typealias Handler = (ComposerItem) -> Void

    public let id: String
    /// The size; `nil` is the natural size of the widget (MIB-11).
    public var size: ComposerSize? = .item { didSet { if size != oldValue { changed?(self) } } }
    public var spacing = ItemSpacing.none { didSet { if spacing != oldValue { changed?(self) } } }
    /// Whether the item is visible. A hidden item takes no space but keeps its position (MIB-3).
    public var isVisible = true { didSet { if isVisible != oldValue { changed?(self) } } }

    public var isEnabled = true {
        didSet {
            guard isEnabled != oldValue else { return }
            changed?(self)
            notify(isEnabled ? .enabled : .disabled)
            if !isEnabled { isSelected = false }
        }
    }

    /// Whether the item is held down; always `false` while disabled.
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

    /// The slot that contains the item, or `nil`.
    public internal(set) var slot: ItemSlot?
    /// Called when the item must be redrawn.
    public var changed: Handler?

    private var hooks: [ItemEvent: Handler] = [:]
    private var textHandler: ((ComposerItem, ComposerDocument) -> Void)?
    private var swipeHandler: ((ComposerItem, SwipeDirection) -> Void)?

    public init(id: String) {
        self.id = id
    }

    // MARK: Handlers, chainable

    /// Runs `body` immediately, for chaining (MIB-13).
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

    /// Sets the handler for changes of the composer's text.
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

    // MARK: User input

    /// Handles a press. Ignored while the item is disabled or hidden.
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
