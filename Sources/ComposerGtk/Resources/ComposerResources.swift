import Foundation
public import GtkKit

/// The bar's `.ui` file, style sheets, icons and emoji.
public enum ComposerResources {
    nonisolated static let prefix = "/io/github/parlance_chat/Parlance/"
    static let ui = prefix + "ui/composer.ui"
    private static let style = prefix + "style/composer.css"

    /// Registers the bundle, once.
    /// - Parameter folders: Folders to search before the build folder.
    public static func load(installed folders: [String] = []) throws(ResourceBundle.Missing) {
        try ResourceBundle("ComposerGtk", content: style) {
            Bundle.module.path(forResource: "ComposerGtk", ofType: "gresource")
        }.load(installed: folders)
    }

    /// Adds the style sheets to the default display. Idempotent.
    public static func loadStyle() {
        StyleSheet.load(resource: style)
        StyleSheet.loadForHighContrast(resource: prefix + "style/composer-high-contrast.css")
    }
}
