public import CGtk

/// A GtkTextView with custom drawing below and above its text.
open class TextViewImplementation: WidgetImplementation {
    open override class var extendedType: GType? { gtk_text_view_get_type() }

    /// Draws below the text, in buffer coordinates.
    open func drawBelowText(_ snapshot: Snapshot) {}
    /// Draws above the text, in buffer coordinates.
    open func drawAboveText(_ snapshot: Snapshot) {}

    open override class func initialize(_ widgetClass: UnsafeMutablePointer<GtkWidgetClass>) {
        let textClass = UnsafeMutableRawPointer(widgetClass).assumingMemoryBound(to: GtkTextViewClass.self)
        textClass.pointee.snapshot_layer = { view, layer, snapshot in
            nonisolated(unsafe) let (view, snapshot) = (view, snapshot)
            MainActor.assumeIsolated {
                let implementation = WidgetTypes.implementation(of: view) as? TextViewImplementation
                guard let snapshot, let implementation else { return }
                if layer == GTK_TEXT_VIEW_LAYER_BELOW_TEXT {
                    implementation.drawBelowText(Snapshot(pointer: snapshot))
                } else {
                    implementation.drawAboveText(Snapshot(pointer: snapshot))
                }
            }
        }
    }

    /// The visible part of the buffer, in buffer coordinates.
    public final var visibleRectangle: GdkRectangle {
        var rectangle = GdkRectangle()
        gtk_text_view_get_visible_rect(cast(), &rectangle)
        return rectangle
    }

    /// The visible range in Unicode scalars, extended to whole lines.
    public final var visibleOffsets: Range<Int> {
        let visible = visibleRectangle
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_view_get_line_at_y(cast(), &start, visible.y, nil)
        gtk_text_view_get_line_at_y(cast(), &end, visible.y + visible.height, nil)
        gtk_text_iter_forward_to_line_end(&end)
        let first = Int(gtk_text_iter_get_offset(&start))
        return first..<max(first, Int(gtk_text_iter_get_offset(&end))) + 1
    }

    /// Returns one rectangle per display line of a range, in buffer coordinates. Takes time linear in the length of the
    /// range.
    /// - Parameter range: In Unicode scalars.
    public final func rectangles(of range: Range<Int>) -> [GdkRectangle] {
        guard let buffer = gtk_text_view_get_buffer(cast()) else { return [] }
        var iter = GtkTextIter()
        gtk_text_buffer_get_iter_at_offset(buffer, &iter, Int32(clamping: range.lowerBound))
        var lines: [GdkRectangle] = []
        while gtk_text_iter_get_offset(&iter) < Int32(clamping: range.upperBound) {
            var location = GdkRectangle()
            gtk_text_view_get_iter_location(cast(), &iter, &location)
            if let last = lines.last, last.y < location.y + location.height, location.y < last.y + last.height {
                var union = GdkRectangle()
                var last = last
                gdk_rectangle_union(&last, &location, &union)
                lines[lines.count - 1] = union
            } else {
                lines.append(location)
            }
            guard gtk_text_iter_forward_char(&iter) != 0 else { break }
        }
        return lines
    }
}
