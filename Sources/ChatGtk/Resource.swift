import ComposerGtk
public import Foundation
public import GtkKit

/// The `.ui` files, style sheets and icons of the views, and what they use of other targets.
public enum Resource {
    private nonisolated static let prefix = "/io/github/parlance_chat/Parlance/"
    private static let style = prefix + "style/parlance.css"

    static func ui(_ name: String) -> String { "\(prefix)ui/\(name).ui" }

    /// Registers the bundles, once.
    /// - Parameter folders: Folders to search before the build folder.
    public static func load(installed folders: [String] = []) throws(ResourceBundle.Missing) {
        try ComposerResources.load(installed: folders)
        try ResourceBundle("ChatGtk", content: style) {
            Bundle.module.path(forResource: "ChatGtk", ofType: "gresource")
        }.load(installed: folders)
    }

    /// Adds the style sheets to the default display. Idempotent.
    public static func loadStyle() {
        ComposerResources.loadStyle()
        StyleSheet.load(resource: style)
        StyleSheet.loadForHighContrast(resource: prefix + "style/high-contrast.css")
    }

    /// The PNG file of a composer with formatted text, for the guide's greeting. `make published-screenshots` draws it.
    public nonisolated static var composerImage: Data? { Resources.data(prefix + "images/composer.png") }
}
