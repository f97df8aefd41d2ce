import Composer
import GtkKit

/// The appearance of a `ComposerItem`'s button.
public struct ItemAppearance: Equatable, Sendable {
    /// An icon name, or `nil` for a button with text only.
    public var icon: String?
    /// The tooltip and accessible label, and the button's text if there is no icon.
    public var label: String

    public init(icon: String? = nil, label: String) {
        self.icon = icon
        self.label = label
    }
}

/// Buttons for the items in the bar's slots, which report user input to the items' hooks (MIB-11 to MIB-14).
final class ItemButtons {
    let items = ItemSlots()
    /// The appearance of the items, by item ID.
    var appearances: [String: ItemAppearance] = [:] {
        didSet { if appearances != oldValue { ItemSlot.allCases.forEach { show($0) } } }
    }

    /// Called with swipes, after the items (MIB-16).
    var onSwipe: ((SwipeDirection) -> Void)?
    /// Whether anybody besides the items listens to swipes.
    var isSwipeHandled: () -> Bool = { false }
    private let boxes: [ItemSlot: Box]
    private let bottom: Widget
    private var displayedButtons: [ItemSlot: [Button]] = [:]
    private var revision: Int?
    private var isFocused = false

    init(widgets: ComposerWidgets) {
        boxes = [
            .start: widgets.slots[.start], .end: widgets.slots[.end], .top: widgets.slots[.top],
            .bottom: widgets.bottomItems,
        ].compactMapValues { $0 }
        bottom = widgets.bottomScroller
        items.changed = { [weak self] in self?.show($0) }
        addSwipes(to: widgets.textView)
    }

    func addSwipes(to textView: Widget) {
        addSwipe(to: textView)
        addSwipeKeys(to: textView)
    }

    /// Reports text and focus changes to the items.
    func sync(_ state: ComposerState, _ document: () -> ComposerDocument) {
        var effects: [ComposerEffect] = []
        if let revision, revision != state.revision { effects.append(.observed(.textChanged)) }
        if state.isFocused != isFocused { effects.append(.observed(state.isFocused ? .focused : .unfocused)) }
        revision = state.revision
        isFocused = state.isFocused
        if !effects.isEmpty, !items.all.isEmpty { items.handle(effects, document: document()) }
    }

    // MARK: Rendering

    private func show(_ slot: ItemSlot) {
        guard let box = boxes[slot] else { return }
        for button in displayedButtons[slot] ?? [] { box.remove(button) }
        box.spacing = Int(items.spacing(in: slot))
        displayedButtons[slot] = items.items(in: slot).map { item in
            let button = makeButton(for: item)
            box.append(button)
            return button
        }
        if slot == .bottom { bottom.isVisible = displayedButtons[slot]?.isEmpty == false }
    }

    private func makeButton(for item: ComposerItem) -> Button {
        let button = Button()
        let appearance = appearances[item.id] ?? ItemAppearance(label: item.id)
        button.addStyle("flat")
        button.focusOnClick = false
        if let icon = appearance.icon { button.iconName = icon } else { button.label = appearance.label }
        button.tooltip = appearance.label
        button.setAccessibleLabel(appearance.label)
        item.changed = { [weak self, weak button] item in button.map { self?.update($0, item) } }
        update(button, item)
        button.onClick { [weak item] in item?.press() }
        button.onStateFlagsChange { [weak item] button in
            item?.isSelected = button.stateFlags.contains(.active)
            item?.isHovered = button.stateFlags.contains(.prelight)
        }
        let press = LongPressGesture()
        press.onPress { [weak item] _ in item?.longPress() }
        button.addController(press)
        return button
    }

    private func update(_ button: Button, _ item: ComposerItem) {
        button.isVisible = item.isVisible
        button.isSensitive = item.isEnabled
        let area = item.size?.hitArea(forTouch: false)
        button.setSizeRequest(
            width: Int((area?.width ?? -1) + item.spacing.extraWidth), height: area.map { Int($0.height) })
        button.hexpand = item.spacing.expands
    }

    // MARK: Swiping

    /// Touch only: dragging with the pointer selects text (MIB-16).
    private func addSwipe(to textView: Widget) {
        let swipe = SwipeGesture()
        swipe.isTouchOnly = true
        swipe.onSwipe { [weak self] velocity in
            guard abs(velocity.x) > abs(velocity.y), abs(velocity.x) > 200 else { return }
            self?.swiped(velocity.x < 0 ? .left : .right)
        }
        textView.addController(swipe)
    }

    /// Alt+Left and Alt+Right are the keyboard equivalents of swipes. Where nobody listens to those, the window may use
    /// the keys, for example to go back.
    private func addSwipeKeys(to textView: Widget) {
        let keys = KeyController(.capture)
        keys.onPress { [weak self] key in
            guard let self, !self.items.all.isEmpty || self.isSwipeHandled() else { return false }
            switch KeyChord(key) {
            case KeyChord("Left", .alt): self.swiped(.left)
            case KeyChord("Right", .alt): self.swiped(.right)
            default: return false
            }
            return true
        }
        textView.addController(keys)
    }

    private func swiped(_ direction: SwipeDirection) {
        items.swipe(direction)
        onSwipe?(direction)
    }
}
