import CGtk
import Composer
import ComposerSessions
import Foundation
import GtkKit

/// Drags the selection out of the text and drops content into it. Preserves mentions between composers (HKW-29).
final class EditorDrag {
    private let editor: EditorView
    private let model: any ComposerModel
    /// The content being dragged out of this text.
    private var dragged: (range: TextRange, fragment: ClipboardFragment)?

    init(editor: EditorView, model: any ComposerModel) {
        self.editor = editor
        self.model = model
        addSource()
        addTarget()
    }

    // MARK: Out

    private func addSource() {
        let source = Object(owning: UnsafeMutableRawPointer(gtk_drag_source_new()))
        gtk_drag_source_set_actions(source.cast(), actions)
        // In the capture phase: before the text view's own drag source, which would offer plain text only.
        gtk_event_controller_set_propagation_phase(source.cast(), GTK_PHASE_CAPTURE)
        source.provide("prepare") { [weak self] arguments in
            self?.prepare(x: arguments.double(0), y: arguments.double(1))
        }
        source.connect("drag-begin") { [weak self] arguments in
            guard let self, let drag = arguments.object(0), let icon = gtk_drag_icon_get_for_drag(OpaquePointer(drag))
            else { return }
            let label = Label(String(self.dragged?.fragment.text.prefix(60) ?? ""))
            label.addStyle("composer-drag")
            gtk_drag_icon_set_child(OpaquePointer(icon), label.cast())
        }
        source.connect("drag-end") { [weak self] arguments in
            guard let self, let dragged = self.dragged else { return }
            self.dragged = nil
            // Moved to another widget: remove the original.
            if arguments.bool(1) { self.remove(dragged.range, holding: dragged.fragment.text) }
        }
        editor.textView.addController(source)
    }

    /// Only the selection can be dragged, and only by a point within it.
    private func prepare(x: Double, y: Double) -> Object? {
        let selection = model.composer.selection
        let offset = editor.offset(x: x, y: y)
        guard !selection.isEmpty, selection.location <= offset, offset < selection.end else { return nil }
        let fragment = model.document.fragment(in: selection)
        dragged = (selection, fragment)
        return fragment.provider
    }

    private func remove(_ range: TextRange, holding text: String) {
        guard model.document.text(in: range) == text else { return }
        model.handle(.edit(range, replacement: "", origin: .code))
    }

    // MARK: In

    private var actions: GdkDragAction { GdkDragAction(GDK_ACTION_COPY.rawValue | GDK_ACTION_MOVE.rawValue) }

    private func addTarget() {
        guard let builder = gdk_content_formats_builder_new() else { return }
        gdk_content_formats_builder_add_mime_type(builder, ClipboardFragment.mediaType)
        gdk_content_formats_builder_add_gtype(builder, shim_type_string())
        let formats = gdk_content_formats_builder_free_to_formats(builder)
        let target = Object(
            owning: UnsafeMutableRawPointer(gtk_drop_target_async_new(formats, actions)))
        gtk_event_controller_set_propagation_phase(target.cast(), GTK_PHASE_CAPTURE)
        target.intercept("drop") { [weak self] arguments in
            guard let self, let drop = arguments.object(0) else { return false }
            self.editor.showDropCaret(at: nil)
            self.handle(
                Object(borrowing: drop), at: self.editor.offset(x: arguments.double(1), y: arguments.double(2)))
            return true
        }
        editor.textView.addController(target)
        let motion = Object(owning: UnsafeMutableRawPointer(gtk_drop_controller_motion_new()))
        motion.connect("motion") { [weak self] arguments in
            guard let self else { return }
            self.editor.showDropCaret(at: self.editor.offset(x: arguments.double(0), y: arguments.double(1)))
        }
        motion.connect("leave") { [weak self] _ in self?.editor.showDropCaret(at: nil) }
        editor.textView.addController(motion)
    }

    private func handle(_ drop: Object, at offset: Int) {
        // There is only one drag at a time: if one from this text is in progress, this is its drop.
        if let dragged {
            self.dragged = nil
            move(dragged.fragment, from: dragged.range, to: offset)
            return gdk_drop_finish(drop.cast(), GDK_ACTION_COPY)
        }
        guard gdk_content_formats_contain_mime_type(gdk_drop_get_formats(drop.cast()), ClipboardFragment.mediaType) != 0
        else {
            return handleText(drop, at: offset)
        }
        AsyncCall.start { callback, data in
            ClipboardFragment.mediaType.withCString { type in
                var types: [UnsafePointer<CChar>?] = [type, nil]
                gdk_drop_read_async(drop.cast(), &types, G_PRIORITY_DEFAULT, nil, callback, data)
            }
        } _: { [weak self] _, result in
            guard let stream = gdk_drop_read_finish(drop.cast(), result, nil, nil) else {
                return gdk_drop_finish(drop.cast(), GdkDragAction(0))
            }
            let limit = ClipboardFragment.maxEncodedBytes
            ContentStream.readAll(Object(owning: UnsafeMutableRawPointer(stream)), limit: limit) { data in
                // Any program may offer this type: refuse what cannot be decoded.
                guard let self, let fragment = data.flatMap({ try? ClipboardFragment.decode($0) }) else {
                    return gdk_drop_finish(drop.cast(), GdkDragAction(0))
                }
                self.insert(.fragment(fragment), at: offset)
                self.finish(drop)
            }
        }
    }

    private func handleText(_ drop: Object, at offset: Int) {
        AsyncCall.start {
            gdk_drop_read_value_async(drop.cast(), shim_type_string(), G_PRIORITY_DEFAULT, nil, $0, $1)
        } _: { [weak self] _, result in
            let value = gdk_drop_read_value_finish(drop.cast(), result, nil)
            guard let self, let value, let text = g_value_get_string(value) else {
                return gdk_drop_finish(drop.cast(), GdkDragAction(0))
            }
            self.insert(.text(String(cString: text)), at: offset)
            self.finish(drop)
        }
    }

    private func insert(_ offer: PasteOffer, at offset: Int) {
        model.handle(.select(.caret(offset)))
        model.handle(.paste([offer]))
        editor.textView.grabFocus()
    }

    /// Finishes the drop as a move if the source allows that, otherwise as a copy.
    private func finish(_ drop: Object) {
        let canMove = gdk_drop_get_actions(drop.cast()).rawValue & GDK_ACTION_MOVE.rawValue != 0
        gdk_drop_finish(drop.cast(), canMove ? GDK_ACTION_MOVE : GDK_ACTION_COPY)
    }

    private func move(_ fragment: ClipboardFragment, from range: TextRange, to offset: Int) {
        guard offset < range.location || offset > range.end else { return }
        let before = model.document.length
        insert(.fragment(fragment), at: offset)
        let added = model.document.length - before
        guard added > 0 else { return }
        let start = offset < range.location ? range.location + added : range.location
        remove(TextRange(location: start, length: range.length), holding: fragment.written.source)
    }
}
