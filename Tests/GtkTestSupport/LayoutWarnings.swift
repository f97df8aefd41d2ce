import CGtk
import Foundation
import GtkKit

/// GTK's warnings about widgets that it could not paint because a layout was missed; on screen they are blank.
@MainActor
enum LayoutWarnings {
    /// The widgets reported since the last ``drain()``, each with its ancestors.
    private static var seen: [String] = []
    private static let marker = "without a current allocation"

    /// Installs the log writer. GLib allows this once per process, before any message is logged.
    static let listen: Void = g_log_set_writer_func(
        { level, fields, count, _ in
            nonisolated(unsafe) let fields = fields
            MainActor.assumeIsolated {
                for index in 0..<Int(count) {
                    guard let field = fields?[index], strcmp(field.key, "MESSAGE") == 0, let value = field.value else {
                        continue
                    }
                    note(String(cString: value.assumingMemoryBound(to: CChar.self)))
                }
            }
            return g_log_writer_default(level, fields, count, nil)
        }, nil, nil)

    static func drain() -> [String] {
        defer { seen = [] }
        return seen
    }

    private static func note(_ message: String) {
        guard message.contains(marker) else { return }
        let address = message.split(separator: " ").first { $0.hasPrefix("0x") }
        var next = address.flatMap { UInt($0.dropFirst(2), radix: 16) }.flatMap {
            UnsafeMutablePointer<GtkWidget>(bitPattern: $0)
        }
        var path: [String] = []
        while let widget = next {
            let name = gtk_widget_get_css_name(widget).map { String(cString: $0) } ?? "?"
            var classes: [String] = []
            let list = gtk_widget_get_css_classes(widget)
            for index in 0... {
                guard let item = list?[index] else { break }
                classes.append("." + String(cString: item))
            }
            g_strfreev(list)
            path.append(name + classes.joined())
            next = gtk_widget_get_parent(widget)
        }
        // GTK 4.18 and later move the slider of their own scrollbars during layout and paint it in the next frame.
        guard !(path.first == "trough" && path.dropFirst(2).first?.hasPrefix("scrollbar") == true) else { return }
        seen.append(path.joined(separator: " in "))
    }
}
