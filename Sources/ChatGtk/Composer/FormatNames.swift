import Composer
import GtkKit

/// What menus and buttons call the rules of Markdown, and how buttons show them.
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

    /// nil for a rule that a button spells out by its ``glyph(for:)``.
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
