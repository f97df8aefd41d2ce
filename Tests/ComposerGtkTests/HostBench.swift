import CGtk
import Composer
import ComposerSessions
import Foundation
import GtkTestSupport

@testable import ComposerGtk
@testable import GtkKit

/// A bar as a third-party application embeds it: with its own session, in a focused window.
@MainActor
final class HostBench {
    let widget: Widget
    let bar: ComposerBar
    let column = Box(.vertical)
    let window: TestWindow
    var effects: [ComposerEffect] = []

    /// - Parameter prepare: configures the bar before it is added to a window.
    init(width: Int32 = 500, height: Int32 = 500, _ prepare: (ComposerBar) throws -> Void = { _ in }) throws {
        try ComposerBar.register()
        widget = ComposerBar.make()
        guard let bar = ComposerBar.of(widget) else { throw TimedOut() }
        self.bar = bar
        let filler = Label("content")
        gtk_widget_set_vexpand(filler.cast(), 1)
        column.append(filler)
        column.append(widget)
        try prepare(bar)
        window = TestWindow(column, width: width, height: height)
        session.onEffect = { [weak self] in self?.effects.append($0) }
        try RealInput.activate(window.window)
        bar.grabFocus()
        guard MainLoop.pump(until: { bar.textWidget.hasFocus && bar.session.composer.isFocused }) else {
            throw TimedOut()
        }
    }

    var session: ComposerSession { bar.session }
    var state: ComposerState { session.composer }
    var text: Widget { bar.textWidget }

    /// The text view's content.
    var displayedText: String {
        let buffer = gtk_text_view_get_buffer(text.cast())
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer, &start, &end)
        guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 1) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// The caret's offset in the text view, in characters.
    var caret: Int {
        let buffer = gtk_text_view_get_buffer(text.cast())
        var iter = GtkTextIter()
        gtk_text_buffer_get_iter_at_mark(buffer, &iter, gtk_text_buffer_get_insert(buffer))
        return Int(gtk_text_iter_get_offset(&iter))
    }

    var rejections: [ComposerRejection] {
        effects.compactMap { if case .rejected(let reason) = $0 { reason } else { nil } }
    }

    func waits(for text: String) -> Bool { MainLoop.pump { self.displayedText == text && self.bar.text == text } }

    /// Returns the widget of the bar that has this tooltip.
    func item(_ label: String) -> Widget? { widget.descendants.first { $0.tooltip == label } }

    /// Clicks the middle of a widget with the pointer.
    func click(_ widget: Widget) throws {
        try RealInput.point(at: widget)
        try RealInput.click()
    }

    func write(lines: Int) {
        session.handle(.load(WrittenText(Array(repeating: "x", count: lines).joined(separator: "\n"))))
    }

    /// Returns the bar's height in each frame until it is stable.
    func heights() -> [Int] {
        var (heights, stable) = ([widget.height], 0)
        let widget = widget
        widget.addTick { [weak widget] in
            guard let widget else { return false }
            stable = widget.height == heights.last ? stable + 1 : 0
            heights.append(widget.height)
            return stable < 30
        }
        _ = MainLoop.pump { stable >= 30 }
        return heights
    }

    func close() { window.close() }
}

/// Offers names that start with the query, and records the queries.
final class NameSource: CompletionSource {
    nonisolated let prefix: String
    @MainActor private(set) var queries: [String] = []
    @MainActor private(set) var prefetches = 0
    private let entities: [CompletionEntity]

    init(_ prefix: String, _ names: [String]) {
        self.prefix = prefix
        entities = names.map { CompletionEntity(id: $0.lowercased(), name: $0) }
    }

    init(_ prefix: String, entities: [CompletionEntity]) {
        self.prefix = prefix
        self.entities = entities
    }

    @MainActor func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error> {
        queries.append(query.text)
        let text = query.text.lowercased()
        let found = entities.filter { $0.name.lowercased().hasPrefix(text) }
        return AsyncThrowingStream { stream in
            stream.yield(found)
            stream.finish()
        }
    }

    @MainActor func prefetch() { prefetches += 1 }
}
