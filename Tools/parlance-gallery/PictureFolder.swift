import Foundation
import GtkKit

/// The folder for pictures of widgets.
struct PictureFolder {
    let url: URL
    /// What the names of the files begin with.
    var prefix = ""

    /// Creates the folder, and has everything drawn the same on every machine.
    /// - Returns: `false` if the folder cannot be created.
    func prepare() -> Bool {
        TextRendering.useDesignedShapes()
        StillDrawing.begin()
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            return true
        } catch {
            fail("cannot make \(url.path)")
            return false
        }
    }

    /// - Returns: `false` if the window cannot be drawn yet or the file cannot be written.
    func saveWindow(_ window: Widget, _ name: String) -> Bool {
        report(window.saveWindowPNG(to: path(of: name)), name)
    }

    /// - Returns: `false` if the widget cannot be drawn yet or the file cannot be written.
    func save(_ widget: Widget, _ name: String) -> Bool {
        report(widget.savePNG(to: path(of: name)), name)
    }

    private func path(of name: String) -> String { url.appending(path: "\(prefix)\(name).png").path }

    private func report(_ isSaved: Bool, _ name: String) -> Bool {
        if !isSaved { fail("cannot draw \(name)") }
        return isSaved
    }

    /// - Returns: the exit status.
    @discardableResult
    func fail(_ message: String) -> Int32 {
        FileHandle.standardError.write(Data("parlance-gallery: \(message)\n".utf8))
        return 1
    }
}
