/// The positions of items in the bar, in the order of event delivery (MIB-1, MIB-14).
public enum ItemSlot: String, Hashable, Sendable, CaseIterable {
    /// Before and after the text, in reading direction.
    case start, end
    /// Below the text, and above everything.
    case bottom, top
    /// Not in the bar, but receives all events.
    case outside

    /// The default spacing between items in pixels (MIB-12).
    public var defaultSpacing: Double { self == .bottom ? 15 : 0 }
}

/// The items of a bar by slot. Changes take effect immediately and in one step, animated or not (MIB-4).
public final class ItemSlots {
    /// Called when the items or the spacing of a slot change.
    public var changed: ((ItemSlot) -> Void)?

    private var items: [ItemSlot: [ComposerItem]] = [:]
    private var spacings: [ItemSlot: Double] = [:]

    public init() {}

    public func items(in slot: ItemSlot) -> [ComposerItem] { items[slot] ?? [] }

    /// All items in the order of event delivery: start, end, bottom, top, outside (MIB-14).
    public var all: [ComposerItem] { ItemSlot.allCases.flatMap { items(in: $0) } }

    public func item(_ id: String) -> ComposerItem? { all.first { $0.id == id } }

    /// Replaces the items of a slot, detaching the previous ones (MIB-4, MCV-10). Moves items from other slots; of
    /// several items with the same identifier, the first wins.
    public func set(_ new: [ComposerItem], in slot: ItemSlot) {
        var seen: Set<String> = []
        let new = new.filter { seen.insert($0.id).inserted }
        for other in ItemSlot.allCases where other != slot {
            let remaining = items(in: other).filter { !seen.contains($0.id) }
            if remaining.count != items(in: other).count { put(remaining, in: other) }
        }
        let isSame = new.elementsEqual(items(in: slot)) { $0 === $1 }
        if !isSame { put(new, in: slot) }
    }

    /// Appends an item to a slot, moving it if it is in another one.
    public func add(_ item: ComposerItem, to slot: ItemSlot) {
        set(items(in: slot).filter { $0.id != item.id } + [item], in: slot)
    }

    /// Removes an item from its slot. Does nothing if it isn't there.
    public func remove(_ id: String) {
        guard let slot = item(id)?.slot else { return }
        put(items(in: slot).filter { $0.id != id }, in: slot)
    }

    private func put(_ new: [ComposerItem], in slot: ItemSlot) {
        let old = items(in: slot)
        items[slot] = new
        for item in old where item.slot == slot && !new.contains(where: { $0 === item }) { item.slot = nil }
        for item in new { item.slot = slot }
        changed?(slot)
    }

    /// The spacing between the items of a slot, in pixels (MIB-12).
    public func spacing(in slot: ItemSlot) -> Double { spacings[slot] ?? slot.defaultSpacing }

    /// - Parameter spacing: in pixels, not negative; `nil` restores the default of the slot.
    public func setSpacing(_ spacing: Double?, in slot: ItemSlot) {
        let before = self.spacing(in: slot)
        spacings[slot] = spacing.map { max(0, $0) }
        if self.spacing(in: slot) != before { changed?(slot) }
    }

    // MARK: Events

    /// Forwards effects of the composer to the items: one call per change of the text, and focus changes.
    public func handle(_ effects: [ComposerEffect], document: ComposerDocument) {
        for effect in effects {
            switch effect {
            case .observed(.textChanged): notifyItems { $0.notify(document) }
            case .observed(.focused): notifyItems { $0.notify(.editingBegan) }
            case .observed(.unfocused): notifyItems { $0.notify(.editingEnded) }
            default: break
            }
        }
    }

    /// Handles a swipe over the text; the same action must also be available by keyboard (MIB-16).
    public func swipe(_ direction: SwipeDirection) {
        notifyItems { $0.notify(direction) }
    }

    /// Skips items that an earlier handler has removed.
    private func notifyItems(_ body: (ComposerItem) -> Void) {
        for item in all where item.slot != nil { body(item) }
    }
}
