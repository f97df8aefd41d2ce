import Foundation
import GtkKit

/// The compiled user interface that this library carries.
public enum Resource {
    nonisolated static let prefix = "/io/github/parlance_chat/Parlance/"

    static func ui(_ name: String) -> String { "\(prefix)ui/\(name).ui" }
    static let style = prefix + "style/parlance.css"

    /// Registers the bundle, once.
    /// - Parameter installed: folders to look in before the one that the build left.
    /// - Throws: ``Missing`` with the places looked at.
    public static func load(installed folders: [String] = []) throws(Missing) {
        guard !Resources.exists(style) else { return }
        var places = folders.map { $0 + "/parlance.gresource" }
        // Asked for only when needed: where the build folder is gone, `Bundle.module` ends the process.
        if !places.contains(where: FileManager.default.fileExists) {
            places.append(Bundle.module.path(forResource: "parlance", ofType: "gresource") ?? "")
        }
        for place in places where FileManager.default.fileExists(atPath: place) {
            do {
                try Resources.register(path: place)
                return
            } catch {
                throw Missing(message: error.message)
            }
        }
        throw Missing(message: "parlance.gresource is in none of: \(places.joined(separator: ", "))")
    }

    /// Adds the style sheet to the default display.
    public static func loadStyle() {
        StyleSheet.load(resource: style)
        StyleSheet.loadForHighContrast(resource: prefix + "style/high-contrast.css")
    }

    public struct Missing: Error {
        public let message: String
    }
}
