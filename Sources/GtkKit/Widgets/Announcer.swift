import CGtk
import Glibc

/// Announces text to assistive technology.
///
/// GTK 4.14 and later have `gtk_accessible_announce`; before that, the accessible name of a status region changes,
/// which screen readers report.
public final class Announcer {
    private typealias Announce =
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt32) -> Void

    /// Looked up at run time: GTK 4.8, the oldest supported version, lacks the symbol.
    private static let announce: Announce? = {
        guard let program = dlopen(nil, RTLD_NOW), let symbol = dlsym(program, "gtk_accessible_announce") else {
            return nil
        }
        return unsafeBitCast(symbol, to: Announce.self)
    }()
    /// `GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM`.
    private static let mediumPriority: UInt32 = 1

    /// The invisible status region; add it to the window as an overlay.
    public let region: Widget
    /// The last announced text.
    public private(set) var text = ""

    public init() {
        region = Widget(
            sinking: shim_object_new_with_role(gtk_label_get_type(), GTK_ACCESSIBLE_ROLE_STATUS))
        gtk_widget_set_can_target(region.cast(), 0)
        gtk_widget_set_opacity(region.cast(), 0)
    }

    /// Announces the text, unless it equals the last one.
    public func post(_ text: String) {
        guard text != self.text else { return }
        self.text = text
        region.setAccessibleLabel(text)
        guard !text.isEmpty else { return }
        Self.announce?(region.pointer, text, Self.mediumPriority)
    }
}
