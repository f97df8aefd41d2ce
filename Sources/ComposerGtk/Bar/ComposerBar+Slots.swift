public import GtkKit

/// The host's widgets in the bar.
extension ComposerBar {
    public func append(_ child: Widget, to slot: Slot) { widgets.slots[slot]?.append(child) }
    public func remove(_ child: Widget, from slot: Slot) { widgets.slots[slot]?.remove(child) }

    /// Replaces the text with another widget, for example a join button or a read-only notice; `nil` restores it. The
    /// start and end slots are hidden along with the text, which is preserved.
    public func replaceMiddle(by other: Widget?) {
        if let old = widgets.middle.child(named: "other") { widgets.middle.remove(old) }
        if let other { widgets.middle.add(other, name: "other") }
        widgets.middle.visibleChild = other == nil ? "editor" : "other"
        showsStart = other == nil
        showsEnd = other == nil
        binding?.isReplaced = other != nil
    }
}
