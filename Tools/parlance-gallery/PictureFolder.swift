import Foundation
import GtkKit

/// The folder for pictures of widgets.
struct PictureFolder {
    let url: URL
    /// What the names of the files begin with.
    var prefix = ""

    /// - Returns: `false` if the window cannot be drawn yet or the file cannot be written.
    func saveWindow(_ window: Widget, _ name: String) -> Bool {
        window.saveWindowPNG(to: url.appending(path: "\(prefix)\(name).png").path)
    }

    /// - Returns: `false` if the widget cannot be drawn yet or the file cannot be written.
    func save(_ widget: Widget, _ name: String) -> Bool {
        widget.savePNG(to: url.appending(path: "\(prefix)\(name).png").path)
    }

    /// - Returns: the exit status.
    func fail(_ message: String) -> Int32 {
        FileHandle.standardError.write(Data("parlance-gallery: \(message)\n".utf8))
        return 1
    }
}
