import CGtk
import GtkKit

/// The composer's GtkTextView: draws pills behind mentions, and the drop position during a drag.
final class ComposerTextView: TextViewImplementation {
    var onDraw: ((ComposerTextView, Snapshot) -> Void)?
    var onStyleChange: (() -> Void)?
    /// The drop position in buffer coordinates; the width is ignored.
    var dropCaret: GdkRectangle? {
        didSet { if dropCaret != nil || oldValue != nil { queueDraw() } }
    }

    override class var typeName: String { "ParlanceComposerTextView" }

    override func drawBelowText(_ snapshot: Snapshot) { onDraw?(self, snapshot) }
    override func styleChanged() { onStyleChange?() }

    override func drawAboveText(_ snapshot: Snapshot) {
        guard let dropCaret else { return }
        let caret = Snapshot.Rectangle(
            x: Double(dropCaret.x), y: Double(dropCaret.y), width: 2, height: Double(dropCaret.height))
        snapshot.fill(caret, color)
    }
}
