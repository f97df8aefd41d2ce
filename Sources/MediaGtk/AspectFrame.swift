package import GtkKit

/// Keeps its child at a fixed aspect ratio: as wide as possible up to the natural width, with the height that follows.
/// Its size does not depend on the child.
package final class AspectFrame: WidgetImplementation {
    package override class var typeName: String { "ParlanceAspectFrame" }
    package override class var cssName: String { "aspectframe" }

    /// In logical pixels; the height applies at the natural width.
    private var natural = (width: 1, height: 1)
    private static let minLength = 48

    package func setNaturalSize(width: Int, height: Int) {
        natural = (max(1, width), max(1, height))
        queueResize()
    }

    package func setChild(_ child: Widget) { child.setParent(self) }

    package override func measure(_ orientation: Orientation, for size: Int) -> SizeRequest {
        // GTK requires children to be measured before they are allocated.
        for child in children {
            _ = child.measure(orientation, for: size)
        }
        switch orientation {
        case .horizontal: return SizeRequest(minimum: min(Self.minLength, natural.width), natural: natural.width)
        case .vertical:
            let width = size < 0 ? natural.width : min(size, natural.width)
            let height = Int((Double(width) * Double(natural.height) / Double(natural.width)).rounded())
            return SizeRequest(minimum: max(1, height), natural: max(1, height))
        }
    }

    package override func allocate(width: Int, height: Int) {
        for child in children { child.allocate(width: width, height: height) }
    }
}
