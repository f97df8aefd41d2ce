import CGtk
import DequeModule
import Foundation
import GtkKit
import TimelineGtk

/// One of the compared lists, with rows of text.
///
/// Rows are identified by keys; the first row's key is 0, or negative after prepending.
protocol BenchList: AnyObject {
    static var name: String { get }
    /// The maximum number of rows that is practical for this list.
    static var maxRows: Int { get }
    /// The scrolled window's child.
    var widget: Widget { get }
    var keys: Deque<Int> { get }
    init(_ texts: BenchText, count: Int)
    /// Inserts rows with new keys before `index`.
    func insert(_ keys: [Int], at index: Int)
    /// Grows a row by `pixels`, which may be negative.
    func grow(_ index: Int, by pixels: Int)
    func scrollToEnd()
    func scroll(to index: Int)
    /// The row's widget, or `nil` if it has none.
    func row(_ key: Int) -> Widget?
    /// Whether idle work is pending.
    var isBusy: Bool { get }
}

/// This project's list.
class OurList: BenchList, TimelineListSource {
    static let name = "TimelineList"
    static let maxRows = 1_000_000

    final class Row: TimelineListRow {
        let widget = TextRow.make()
        private(set) var key = 0
        func show(_ key: Int, _ text: String, taller: Int) {
            self.key = key
            guard let row = TextRow.of(widget) else { return }
            row.show(text)
            row.set(taller: taller)
        }
    }

    let widget: Widget
    let list: TimelineList
    private(set) var keys: Deque<Int>
    let texts: BenchText
    private var taller: [Int: Int] = [:]

    required init(_ texts: BenchText, count: Int) {
        self.texts = texts
        keys = Deque(0..<count)
        (widget, list) = TimelineList.create()
        list.source = self
    }

    var count: Int { keys.count }
    func key(at index: Int) -> AnyHashable { keys[index] }
    func index(of key: AnyHashable) -> Int? { keys.firstIndex { AnyHashable($0) == key } }
    func kind(at index: Int) -> Int { 0 }
    func makeRow(kind: Int) -> any TimelineListRow { Row() }
    func bind(_ row: any TimelineListRow, at index: Int) {
        (row as? Row)?.show(keys[index], texts.text(of: keys[index]), taller: taller[keys[index]] ?? 0)
    }

    func insert(_ keys: [Int], at index: Int) {
        self.keys.insert(contentsOf: keys, at: index)
        list.insert(at: index, count: keys.count)
    }

    func grow(_ index: Int, by pixels: Int) {
        taller[keys[index], default: 0] += pixels
        list.update(at: index)
    }

    func scrollToEnd() { list.scrollToEnd() }
    func scroll(to index: Int) { list.scroll(toIndex: index, at: .start) }
    func row(_ key: Int) -> Widget? { list.row(for: key)?.widget }
    var isBusy: Bool { list.isBusy }
}

/// GtkListView over a string list of the keys.
final class GtkList: BenchList {
    static let name = "GtkListView"
    static let maxRows = 1_000_000

    let widget: Widget
    private(set) var keys: Deque<Int>
    private let model: Object
    private let texts: BenchText
    private var rows: [Int: Widget] = [:]
    private var taller: [Int: Int] = [:]

    init(_ texts: BenchText, count: Int) {
        self.texts = texts
        keys = Deque(0..<count)
        model = Object(owning: UnsafeMutableRawPointer(gtk_string_list_new(nil)))
        widget = Widget(sinking: gtk_list_view_new(nil, nil))
        splice(Array(keys), at: 0)
        let factory = Object(owning: UnsafeMutableRawPointer(gtk_signal_list_item_factory_new()))
        factory.connect("setup") { arguments in
            guard let item = arguments.object(0) else { return }
            let row = TextRow.make()
            row.withPointer { gtk_list_item_set_child(OpaquePointer(item), $0) }
        }
        factory.connect("bind") { [weak self] arguments in
            guard let self, let (row, key) = Self.rowAndKey(arguments) else { return }
            self.rows[key] = row
            let text = TextRow.of(row)
            text?.show(self.texts.text(of: key))
            text?.set(taller: self.taller[key] ?? 0)
        }
        factory.connect("unbind") { [weak self] arguments in
            if let (_, key) = Self.rowAndKey(arguments) { self?.rows[key] = nil }
        }
        // Takes over the reference to the model.
        let selection = model.withRawPointer { model in
            g_object_ref(model)
            return Object(owning: UnsafeMutableRawPointer(gtk_no_selection_new(OpaquePointer(model))))
        }
        widget.withPointer { first in factory.withPointer { second in gtk_list_view_set_factory(first, second) } }
        widget.withPointer { first in selection.withPointer { second in gtk_list_view_set_model(first, second) } }
    }

    private static func rowAndKey(_ arguments: SignalArguments) -> (Widget, Int)? {
        guard let item = arguments.object(0), let child = gtk_list_item_get_child(OpaquePointer(item)),
            let object = gtk_list_item_get_item(OpaquePointer(item)),
            let string = gtk_string_object_get_string(OpaquePointer(object)), let key = Int(String(cString: string))
        else { return nil }
        return (Widget(borrowing: child), key)
    }

    private func splice(_ new: [Int], at index: Int) {
        let strings = new.map { strdup(String($0)) }
        var pointers = strings.map { UnsafePointer<CChar>($0) }
        pointers.append(nil)
        model.withPointer { gtk_string_list_splice($0, guint(index), 0, &pointers) }
        strings.forEach { free($0) }
    }

    func insert(_ keys: [Int], at index: Int) {
        self.keys.insert(contentsOf: keys, at: index)
        splice(keys, at: index)
    }

    func grow(_ index: Int, by pixels: Int) {
        taller[keys[index], default: 0] += pixels
        if let row = rows[keys[index]] { TextRow.of(row)?.set(taller: taller[keys[index]] ?? 0) }
    }

    func scrollToEnd() { scroll(to: keys.count - 1) }
    func scroll(to index: Int) {
        _ = widget.withPointer {
            gtk_widget_activate_action_variant($0, "list.scroll-to-item", g_variant_new_uint32(guint32(index)))
        }
    }
    func row(_ key: Int) -> Widget? { rows[key] }
    var isBusy: Bool { false }
}

/// A GtkBox with a widget for every row; the scrolled window wraps it in a GtkViewport.
final class PlainBox: BenchList {
    static let name = "GtkBox"
    static let maxRows = 10_000

    let widget: Widget
    private(set) var keys: Deque<Int>
    private let texts: BenchText
    private var rows: [Int: Widget] = [:]

    init(_ texts: BenchText, count: Int) {
        self.texts = texts
        keys = []
        widget = Box(.vertical)
        insert(Array(0..<count), at: 0)
    }

    func insert(_ new: [Int], at index: Int) {
        var previous = index > 0 ? rows[keys[index - 1]] : nil
        for key in new {
            let row = TextRow.make()
            TextRow.of(row)?.show(texts.text(of: key))
            row.insert(into: widget, after: previous)
            rows[key] = row
            previous = row
        }
        keys.insert(contentsOf: new, at: index)
    }

    func grow(_ index: Int, by pixels: Int) {
        if let row = rows[keys[index]].flatMap(TextRow.of) { row.set(taller: row.taller + pixels) }
    }

    private var adjustment: Adjustment? {
        widget.withPointer { gtk_widget_get_ancestor($0, gtk_scrolled_window_get_type()) }.map {
            ScrolledWindow(borrowing: $0).verticalAdjustment
        }
    }

    func scrollToEnd() { if let adjustment { adjustment.value = adjustment.upper } }
    func scroll(to index: Int) {
        guard let row = rows[keys[index]], let rowBounds = row.bounds(in: widget) else { return }
        adjustment?.value = rowBounds.y
    }
    func row(_ key: Int) -> Widget? { rows[key] }
    var isBusy: Bool { false }
}
