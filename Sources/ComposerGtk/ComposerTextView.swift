import CGtk
import GtkKit

/// The composer's GtkTextView: draws pills behind mentions, and the drop position during a drag.
final class ComposerTextView: TextViewImplementation {
    var onDraw: ((ComposerTextView, OpaquePointer) -> Void)?
    var onStyleChange: (() -> Void)?
    /// The drop position in buffer coordinates; the width is ignored.
    var dropCaret: GdkRectangle? {
        didSet { if dropCaret != nil || oldValue != nil { gtk_widget_queue_draw(cast()) } }
    }

    override class var typeName: String { "ParlanceComposerTextView" }

    override func drawBelowText(_ snapshot: OpaquePointer) { onDraw?(self, snapshot) }
    override func styleChanged() { onStyleChange?() }

    override func drawAboveText(_ snapshot: OpaquePointer) {
        guard let dropCaret else { return }
        var color = GdkRGBA()
        shim_widget_color(pointer, &color)
        var bounds = graphene_rect_t(
            origin: graphene_point_t(x: Float(dropCaret.x), y: Float(dropCaret.y)),
            size: graphene_size_t(width: 2, height: Float(dropCaret.height)))
        gtk_snapshot_append_color(snapshot, &color, &bounds)
    }
}
