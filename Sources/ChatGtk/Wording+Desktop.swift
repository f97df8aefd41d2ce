import ChatViewModels
import ComposerGtk
import GtkKit

extension Wording {
    /// Translates with gettext, and formats as GLib does.
    static let desktop = Wording(
        translator: .gettext, byteCount: { ByteCount.text($0) }, fullDate: { DateText.desktop.full($0) })
}
