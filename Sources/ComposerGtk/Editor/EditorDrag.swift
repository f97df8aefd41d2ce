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
        // In the capture phase: before the text view's own drag source, which would offer plain text only.
        let source = DragSource([.copy, .move], phase: .capture)
        source.onPrepare { [weak self] event in self?.prepare(x: event.x, y: event.y) }
        source.onDragBegin { [weak self] drag in
            guard let self else { return }
            let label = Label(String(self.dragged?.fragment.text.prefix(60) ?? ""))
            label.addStyle("composer-drag")
            drag.setIcon(label)
        }
        source.onDragEnd { [weak self] deletes in
            guard let self, let dragged = self.dragged else { return }
            self.dragged = nil
            // Moved to another widget: remove the original.
            if deletes { self.remove(dragged.range, holding: dragged.fragment.text) }
        }
        editor.textView.addController(source)
    }

    /// Only the selection can be dragged, and only by a point within it.
    private func prepare(x: Double, y: Double) -> ContentProvider? {
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

    private func addTarget() {
        let target = AsyncDropTarget(textOr: ClipboardFragment.mediaType, [.copy, .move], phase: .capture)
        target.onDrop { [weak self] drop, point in
            guard let self else { return drop.finishDrop([]) }
            self.editor.showDropCaret(at: nil)
            self.handle(drop, at: self.editor.offset(x: point.x, y: point.y))
        }
        editor.textView.addController(target)
        let motion = DropMotionController()
        motion.onMove { [weak self] point in
            guard let self else { return }
            self.editor.showDropCaret(at: self.editor.offset(x: point.x, y: point.y))
        }
        motion.onLeave { [weak self] in self?.editor.showDropCaret(at: nil) }
        editor.textView.addController(motion)
    }

    private func handle(_ drop: ContentOffer, at offset: Int) {
        // There is only one drag at a time: if one from this text is in progress, this is its drop.
        if let dragged {
            self.dragged = nil
            move(dragged.range, holding: dragged.fragment.text, to: offset)
            return drop.finishDrop(.copy)
        }
        guard drop.offers(ClipboardFragment.mediaType) else { return handleText(drop, at: offset) }
        drop.readData(ClipboardFragment.mediaType, limit: ClipboardFragment.maxEncodedBytes) { [weak self] result in
            guard let self else { return drop.finishDrop([]) }
            // Any program may offer this type: fall back to text if the data cannot be read or decoded.
            guard let data = try? result.get(), let fragment = try? ClipboardFragment.decode(data) else {
                return self.handleText(drop, at: offset)
            }
            self.insert(.fragment(fragment), at: offset)
            self.finish(drop)
        }
    }

    private func handleText(_ drop: ContentOffer, at offset: Int) {
        drop.readText { [weak self] text in
            guard let self, let text else { return drop.finishDrop([]) }
            self.insert(.text(text), at: offset)
            self.finish(drop)
        }
    }

    private func insert(_ offer: PasteOffer, at offset: Int) {
        model.handle(.select(.caret(offset)))
        model.handle(.paste([offer]))
        editor.textView.grabFocus()
    }

    /// Finishes the drop as a move if the source allows that, otherwise as a copy.
    private func finish(_ drop: ContentOffer) { drop.finishDrop(drop.dropActions.contains(.move) ? .move : .copy) }

    /// Moves what was dragged within the text, with its mentions and images, as one undo step.
    private func move(_ range: TextRange, holding text: String, to offset: Int) {
        guard model.document.text(in: range) == text else { return }
        model.handle(.moveText(range, to: offset))
        editor.textView.grabFocus()
    }
}
