import CGtk
import Glibc

/// Has assistive technology say something that is only to be seen.
///
/// GTK 4.14 and later announce it; before that the name of a status region changes, which screen readers tell of.
public final class Announcer {
    private typealias Announce =
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UInt32) -> Void

    /// Looked up once: the symbol is not in GTK 4.8, the oldest that this runs on.
    private static let announce: Announce? = {
        guard let program = dlopen(nil, RTLD_NOW), let symbol = dlsym(program, "gtk_accessible_announce") else {
            return nil
        }
        return unsafeBitCast(symbol, to: Announce.self)
    }()
    /// `GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM`.
    private static let mediumPriority: UInt32 = 1

    /// To be put somewhere in the window, where it takes no room.
    public let region: Widget
    /// What was said last.
    public private(set) var text = ""

    public init() {
        region = Widget(
            sinking: shim_object_new_with_role(gtk_label_get_type(), GTK_ACCESSIBLE_ROLE_STATUS))
        gtk_widget_set_can_target(region.cast(), 0)
        gtk_widget_set_opacity(region.cast(), 0)
    }

    /// Says it, unless it is what was said last.
    public func post(_ text: String) {
        guard text != self.text else { return }
        self.text = text
        region.setAccessibleLabel(text)
        guard !text.isEmpty else { return }
        Self.announce?(region.pointer, text, Self.mediumPriority)
    }
}
