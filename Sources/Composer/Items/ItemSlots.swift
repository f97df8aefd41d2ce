/// Where items stand in the bar, in the order in which they are told of something (MIB-1, MIB-14).
public enum ItemSlot: String, Hashable, Sendable, CaseIterable {
    /// Beside the text, where lines of text begin; and where they end.
    case start, end
    /// Under the text, and above everything.
    case bottom, top
    /// In no part of the bar: told of everything all the same.
    case outside

    /// Pixels between items until they are set otherwise (MIB-12).
    public var defaultSpacing: Double { self == .bottom ? 15 : 0 }
}

/// The items of a bar by slot. A change is there at once and in one step, animated or not (MIB-4).
public final class ItemSlots {
    /// For what shows the bar: a slot has other items, or another spacing.
    public var changed: ((ItemSlot) -> Void)?

    private var items: [ItemSlot: [ComposerItem]] = [:]
    private var spacings: [ItemSlot: Double] = [:]

    public init() {}

    public func items(in slot: ItemSlot) -> [ComposerItem] { items[slot] ?? [] }

    /// Every item in the order in which they are told of something: start, end, bottom, top, outside (MIB-14).
    public var all: [ComposerItem] { ItemSlot.allCases.flatMap { items(in: $0) } }

    public func item(_ id: String) -> ComposerItem? { all.first { $0.id == id } }

    /// Replaces what is in a slot: the items that were there are in no bar any more (MIB-4, MCV-10). One that stands in
    /// another slot moves; of several with one identifier the first counts.
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

    /// Adds an item at the end of a slot, or moves it there.
    public func add(_ item: ComposerItem, to slot: ItemSlot) {
        set(items(in: slot).filter { $0.id != item.id } + [item], in: slot)
    }

    /// Takes an item away, wherever it stands; does nothing if it is not there.
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

    /// Between the items of a slot, in pixels (MIB-12).
    public func spacing(in slot: ItemSlot) -> Double { spacings[slot] ?? slot.defaultSpacing }

    /// - Parameter spacing: in pixels, not negative; nil is the slot's default.
    public func setSpacing(_ spacing: Double?, in slot: ItemSlot) {
        let before = self.spacing(in: slot)
        spacings[slot] = spacing.map { max(0, $0) }
        if self.spacing(in: slot) != before { changed?(slot) }
    }

    // MARK: Telling items

    /// Hands on what a composer has done: hooks hear of each change of the text once, and of the focus.
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

    /// A finger went over the text; there must be another way by key (MIB-16).
    public func swipe(_ direction: SwipeDirection) {
        notifyItems { $0.notify(direction) }
    }

    /// A hook may take items away: those hear nothing any more.
    private func notifyItems(_ body: (ComposerItem) -> Void) {
        for item in all where item.slot != nil { body(item) }
    }
}
