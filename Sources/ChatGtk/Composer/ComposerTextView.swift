import CGtk
import GtkKit

/// The composer's GtkTextView: draws pills behind mentions.
final class ComposerTextView: TextViewImplementation {
    var onDraw: ((ComposerTextView, OpaquePointer) -> Void)?
    var onStyleChange: (() -> Void)?

    override class var typeName: String { "ParlanceComposerTextView" }

    override func drawBelowText(_ snapshot: OpaquePointer) { onDraw?(self, snapshot) }
    override func styleChanged() { onStyleChange?() }
}
