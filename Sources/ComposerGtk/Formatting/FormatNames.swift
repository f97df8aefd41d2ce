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

    init(of rule: MarkdownRule) {
        self =
            switch rule.kind {
            case .bold: Self(translated("Bold"), icon: "bold")
            case .italic: Self(translated("Italic"), icon: "italic")
            case .strikethrough: Self(translated("Strikethrough"), icon: "strikethrough")
            case .code: Self(translated("Code"), icon: "code")
            case .codeBlock: Self(translated("Code Block"), icon: "code-block")
            case .quote: Self(translated("Quote"), icon: "quote")
            case .list: Self(translated("List"), icon: "list")
            case .link: Self(translated("Link"), icon: "link")
            case nil: Self(rule.title, icon: nil)
            }
    }
}
