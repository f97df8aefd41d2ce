import GtkKit

/// GObject properties, for `.ui` files.
extension TimelineList {
    static let listProperties: [WidgetProperty] = [
        .alignment("alignment", default: .end, \TimelineList.layoutAlignment),
        .flag("inverted", default: true, \TimelineList.isInverted),
        .flag("follows-end", default: true, \TimelineList.followsEnd),
        .number("maximum-row-width", default: 0, in: 0...Int(Int32.max), \TimelineList.maxRowWidth),
    ]

    /// ``alignment`` as the GObject property represents it.
    private var layoutAlignment: Alignment {
        get { alignment == .start ? .start : .end }
        set { alignment = newValue == .start ? .start : .end }
    }
}
