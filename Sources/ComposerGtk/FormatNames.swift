import Composer
import GtkKit

/// The label and the icon of a Markdown rule, for menus and buttons.
struct FormatName {
    let label: String
    /// `nil` for rules of the host, whose buttons show the label.
    let icon: String?

    private init(_ label: String, icon: String?) {
        self.label = label
        self.icon = icon.map { "parlance-\($0)-symbolic" }
    }

    init(of rule: MarkdownRule) { self = Self.byTitle[rule.title] ?? Self(rule.title, icon: nil) }

    /// By the titles of the presets' rules, which are identifiers.
    private static let byTitle: [String: Self] = {
        let italic = Self(translated("Italic"), icon: "italic")
        let codeBlock = Self(translated("Code Block"), icon: "code-block")
        return [
            "Bold": Self(translated("Bold"), icon: "bold"),
            "Italic": italic,
            "Italics": italic,
            "Strike": Self(translated("Strikethrough"), icon: "strikethrough"),
            "Code": Self(translated("Code"), icon: "code"),
            "Code block": codeBlock,
            "Preformatted": codeBlock,
            "Quote": Self(translated("Quote"), icon: "quote"),
            "List": Self(translated("List"), icon: "list"),
            "Link": Self(translated("Link"), icon: "link"),
        ]
    }()
}
