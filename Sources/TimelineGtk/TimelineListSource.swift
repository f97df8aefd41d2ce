public import GtkKit

/// A row widget of a ``TimelineList``. The source creates it; the list recycles it for different items.
@MainActor
public protocol TimelineListRow: AnyObject {
    var widget: Widget { get }
}

/// The data source of a ``TimelineList``.
///
/// Indices count from 0 at the top. Each row has a unique key that is stable for the row's lifetime. The source reports
/// each change to the list before control returns to the main loop. ``TimelineList/reset()``,
/// ``TimelineList/replaceRows()`` and setting ``TimelineList/source`` query the source at once; the list's other change
/// methods do not.
@MainActor
public protocol TimelineListSource: AnyObject {
    var count: Int { get }
    func key(at index: Int) -> AnyHashable
    /// Returns the index of a row, or `nil` if there is none with this key. Called rarely: for scrolling to a key and
    /// on reset.
    func index(of key: AnyHashable) -> Int?
    /// Returns the kind of a row: a row widget is only recycled for rows of the same kind.
    func kind(at index: Int) -> Int
    /// Creates a row widget. It gets the accessible role list item unless it has a role of its own.
    func makeRow(kind: Int) -> any TimelineListRow
    /// Shows the item at `index` in `row`. Must set everything that a previous binding may have set.
    func bind(_ row: any TimelineListRow, at index: Int)
    /// Called when a row is returned to the pool. Stop its activity; its content may stay.
    func unbind(_ row: any TimelineListRow)
    /// Whether the arrow keys can focus the row. The default is `true`.
    func canFocus(at index: Int) -> Bool
}

extension TimelineListSource {
    public func unbind(_ row: any TimelineListRow) {}
    public func canFocus(at index: Int) -> Bool { true }
}
