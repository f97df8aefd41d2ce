import CGtk
import ChatViewModels
import Composer
import ComposerSessions
import Foundation
import GtkTestSupport

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// A composer in a window, over a real backend.
@MainActor
final class ComposerBench {
    let fixture: ChatFixture
    let viewModel: ComposerViewModel
    let view: ComposerView
    let window: TestWindow
    let textView: Widget
    var buffer: UnsafeMutablePointer<GtkTextBuffer> { gtk_text_view_get_buffer(textView.cast()) }

    /// - Parameters:
    ///   - sources: the completion sources; `nil` for those of a room.
    ///   - spelling: the languages for spell checking; `nil` for no checking.
    init(
        width: Int32 = 500, height: Int32 = 600, completing sources: [any CompletionSource]? = nil,
        spelling: SpellingChoice? = nil
    ) throws {
        fixture = try ChatFixture(spelling: spelling)
        let room = try fixture.openRoom()
        if let sources {
            let composer = ComposerViewModel(
                roomID: room.timeline.roomID, service: fixture.backend, configuration: ComposerConfiguration(),
                completionSources: sources)
            try finish { await composer.start() }
            viewModel = composer
        } else {
            viewModel = room.composer
        }
        view = ComposerView(viewModel: viewModel)
        let box = Box(.vertical)
        let filler = Label("timeline")
        gtk_widget_set_vexpand(filler.cast(), 1)
        box.append(filler)
        box.append(view.widget)
        window = TestWindow(box, width: width, height: height)
        textView = view.textView
        view.grabFocus()
    }

    var completion: CompletionPopup {
        guard let completion = view.bar.binding?.completion else { fatalError("the bar has a model") }
        return completion
    }

    var displayedText: String {
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer, &start, &end)
        guard let text = gtk_text_buffer_get_text(buffer, &start, &end, 1) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }

    /// The buffer's selection in Unicode scalars.
    var selection: (Int, Int) {
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_selection_bounds(buffer, &start, &end)
        return (Int(gtk_text_iter_get_offset(&start)), Int(gtk_text_iter_get_offset(&end)))
    }

    /// Emulates an input method's commit: replaces the selection within one user action.
    func type(_ text: String) {
        gtk_text_buffer_begin_user_action(buffer)
        gtk_text_buffer_delete_selection(buffer, 1, 1)
        gtk_text_buffer_insert_interactive_at_cursor(buffer, text, Int32(text.utf8.count), 1)
        gtk_text_buffer_end_user_action(buffer)
    }

    func select(_ start: Int, _ end: Int) {
        var (from, to) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_iter_at_offset(buffer, &from, Int32(start))
        gtk_text_buffer_get_iter_at_offset(buffer, &to, Int32(end))
        gtk_text_buffer_select_range(buffer, &to, &from)
    }

    func emit(_ signal: String) {
        var instance = GValue()
        g_value_init(&instance, gtk_text_view_get_type())
        g_value_set_object(&instance, textView.pointer)
        defer { g_value_unset(&instance) }
        g_signal_emitv(&instance, g_signal_lookup(signal, gtk_text_view_get_type()), 0, nil)
    }

    /// Returns the text view's height with this number of lines, after any animation has ended.
    func height(after lines: Int) -> Int {
        viewModel.handle(
            .load(WrittenText(Array(repeating: "x", count: lines).joined(separator: "\n"))))
        return waitUntilIdle()
    }

    func waitUntilIdle() -> Int {
        var (stable, last) = (0, 0)
        textView.addTick { [weak textView] in
            guard let textView else { return false }
            stable = textView.height == last ? stable + 1 : 0
            last = textView.height
            return stable < 20
        }
        _ = MainLoop.pump { stable >= 20 }
        return last
    }

    func close() throws {
        window.close()
        try fixture.close()
    }
}
