import Foundation
import GtkKit

/// The GResource bundle of this library.
public enum Resource {
    nonisolated static let prefix = "/io/github/parlance_chat/Parlance/"

    static func ui(_ name: String) -> String { "\(prefix)ui/\(name).ui" }
    static let style = prefix + "style/parlance.css"

    /// Registers the bundle, once.
    /// - Parameter installed: Folders to search before the build folder.
    /// - Throws: ``Missing`` with the searched paths.
    public static func load(installed folders: [String] = []) throws(Missing) {
        guard !Resources.exists(style) else { return }
        var paths = folders.map { $0 + "/parlance.gresource" }
        // Only as a fallback: `Bundle.module` traps if the build folder no longer exists.
        if !paths.contains(where: FileManager.default.fileExists) {
            paths.append(Bundle.module.path(forResource: "parlance", ofType: "gresource") ?? "")
        }
        for path in paths where FileManager.default.fileExists(atPath: path) {
            do {
                try Resources.register(path: path)
                return
            } catch {
                throw Missing(message: error.message)
            }
        }
        throw Missing(message: "parlance.gresource is in none of: \(paths.joined(separator: ", "))")
    }

    /// Adds the style sheets to the default display.
    public static func loadStyle() {
        StyleSheet.load(resource: style)
        StyleSheet.loadForHighContrast(resource: prefix + "style/high-contrast.css")
    }

    public struct Missing: Error {
        public let message: String
    }
}
