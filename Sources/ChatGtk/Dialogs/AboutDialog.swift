public import GtkKit

/// The window about Parlance.
public enum AboutDialog {
    private static let website = "https://github.com/parlance-chat/parlance"

    public static func present(version: String, over parent: Widget?) {
        let developers = translated("The Parlance developers")
        let window = AboutWindow(
            name: "Parlance", version: version, icon: "io.github.parlance_chat.Parlance", developer: developers,
            comments: translated("Chat on Matrix, or with yourself"))
        if let parent { window.setTransient(for: parent) }
        window.setLinks(website: website, issues: website + "/issues")
        window.setCopyright("© 2026 \(developers)")
        // The notes of the newest release in the metainfo.
        let notes = translated("First release.")
        window.setReleaseNotes("<p>\(Markup.escaped(notes))</p>", version: version)
        // Translators: replace this by your names, one on each line.
        let translators = translated("translator-credits")
        if translators != "translator-credits" { window.setTranslators(translators) }
        window.setLicense(.apache2)
        // MD4C is linked statically.
        window.addLegalSection("MD4C", copyright: "Copyright © 2016–2024 Martin Mitáš", .mit)
        window.present()
    }
}
