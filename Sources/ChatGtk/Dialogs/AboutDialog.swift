public import GtkKit

/// Presents information about Parlance.
public enum AboutDialog {
    private static let website = "https://github.com/parlance-chat/parlance"

    /// - Parameter encryptionLibrary: The name and version of the linked library, such as "vodozemac 0.10.0", or `nil`.
    public static func present(version: String, encryptionLibrary: String?, over parent: Widget?) {
        let developers = translated("The Parlance developers")
        let dialog = AboutWindow(
            name: "Parlance", version: version, icon: "io.github.parlance_chat.Parlance", developer: developers,
            comments: comments(encryptionLibrary: encryptionLibrary))
        dialog.setLinks(website: website, issues: website + "/issues")
        dialog.setCopyright("© 2026 \(developers)")
        // The notes of the newest release in the metainfo.
        let notes = translated("First release.")
        dialog.setReleaseNotes("<p>\(Markup.escaped(notes))</p>", version: version)
        // Translators: replace this by your names, one on each line.
        let translators = translated("translator-credits")
        if translators != "translator-credits" { dialog.setTranslators(translators) }
        dialog.setLicense(.apache2)
        // MD4C is linked statically.
        dialog.addLegalSection("MD4C", copyright: "Copyright © 2016–2024 Martin Mitáš", .mit)
        if encryptionLibrary != nil { addLicensesOfEncryption(to: dialog) }
        dialog.setDebugInfo(debugInfo(version: version, encryptionLibrary: encryptionLibrary))
        dialog.present(over: parent)
    }

    static func comments(encryptionLibrary: String?) -> String {
        let tagline = translated("Chat on Matrix, or with yourself")
        guard encryptionLibrary != nil else { return tagline }
        let limits = translated(
            "Encrypted rooms use an audited library; the rest of Parlance has not been audited. Messages on your computer are not encrypted."
        )
        return "\(tagline)\n\n\(limits)"
    }

    /// Always in English, as developers read it.
    static func debugInfo(version: String, encryptionLibrary: String?) -> String {
        """
        Parlance \(version)
        Encryption: \(encryptionLibrary ?? "built without")
        """
    }

    /// Libraries that share a license.
    struct LegalSection {
        var libraries: String
        var copyright: String
        var license: AboutWindow.License
    }

    /// What the encryption library consists of; `share/licenses` has the names and license texts of all.
    static let encryptionLibraries = [
        LegalSection(
            libraries: "vodozemac",
            copyright: "Copyright © 2021–2025 The Matrix.org Foundation, Damir Jelić, Denis Kasak",
            license: .apache2),
        LegalSection(
            libraries: "RustCrypto, Rust, Serde, PROST!",
            copyright: "Copyright © The RustCrypto, Rust, Serde and PROST! developers", license: .apache2),
        LegalSection(
            libraries: "curve25519-dalek, ed25519-dalek, x25519-dalek, subtle",
            copyright: "Copyright © 2016–2021 Isis Agora Lovecruft, Henry de Valence", license: .bsd3),
        LegalSection(
            libraries: "bytes, generic-array, memchr, winnow, zmij",
            copyright: "Copyright © 2015–2018 Carl Lerche, Bartłomiej Kamiński, Andrew Gallant and others",
            license: .mit),
        LegalSection(
            libraries: "unicode-ident", copyright: "Copyright © 1991–2023 Unicode, Inc.",
            license: .other(name: "Unicode License V3", url: "https://www.unicode.org/license.txt")),
    ]

    private static func addLicensesOfEncryption(to dialog: AboutWindow) {
        for section in encryptionLibraries {
            dialog.addLegalSection(section.libraries, copyright: section.copyright, section.license)
        }
    }
}
