public import GtkKit

/// A row of a ``TimelineList``: made by the source, bound to one place of the list after the other.
public protocol TimelineListRow: AnyObject {
    var widget: Widget { get }
}

/// Where a ``TimelineList`` gets its rows from.
///
/// Indices count from 0 at the top. Every row has a key that stays the same for as long as the row exists and belongs
/// to no other row. A change of what the source holds is told to the list at once, before control returns to the main
/// loop. None of these is called from within one of the list's own change methods except by ``TimelineList/reset()``.
public protocol TimelineListSource: AnyObject {
    var count: Int { get }
    func key(at index: Int) -> AnyHashable
    /// The place of a row, nil if there is none with this key. Asked seldom: for jumps and after a reset.
    func index(of key: AnyHashable) -> Int?
    /// Rows of one kind can take each other's place: a row widget is only ever bound to rows of its kind.
    func kind(at index: Int) -> Int
    /// A new row; it becomes a list item for assistive technology unless it has a role of its own.
    func makeRow(kind: Int) -> any TimelineListRow
    /// Shows in `row` what is at `index`. Anything that another binding may have left must be set.
    func bind(_ row: any TimelineListRow, at index: Int)
    /// The row is out of use for now. Stop what it does; its content may stay.
    func unbind(_ row: any TimelineListRow)
    /// Whether the arrow keys stop at the row. True unless told otherwise.
    func canFocus(at index: Int) -> Bool
}

extension TimelineListSource {
    public func unbind(_ row: any TimelineListRow) {}
    public func canFocus(at index: Int) -> Bool { true }
}
