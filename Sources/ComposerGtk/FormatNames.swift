import Composer
import GtkKit

/// Labels, icons and glyphs of the Markdown rules for menus and buttons.
enum FormatNames {
    static func label(for rule: MarkdownRule) -> String {
        switch rule.title {
        case "Bold": translated("Bold")
        case "Italic", "Italics": translated("Italic")
        case "Strike": translated("Strikethrough")
        case "Code": translated("Code")
        case "Code block", "Preformatted": translated("Code Block")
        case "Quote": translated("Quote")
        case "List": translated("List")
        case "Link": translated("Link")
        default: rule.title
        }
    }

    /// The icon name, or `nil` for a rule whose button shows its ``glyph(for:)``.
    static func icon(for rule: MarkdownRule) -> String? {
        switch rule.title {
        case "Bold": "format-text-bold-symbolic"
        case "Italic", "Italics": "format-text-italic-symbolic"
        case "Strike": "format-text-strikethrough-symbolic"
        case "List": "view-list-bullet-symbolic"
        case "Link": "insert-link-symbolic"
        default: nil
        }
    }

    static func glyph(for rule: MarkdownRule) -> String {
        switch rule.title {
        case "Code": "‹›"
        case "Code block", "Preformatted": "{ }"
        case "Quote": "❝"
        default: rule.title
        }
    }
}
