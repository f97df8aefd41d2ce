import ChatCore
import ChatViewModels
import GtkKit

/// A code block: its language, a copy button, and the code in monospace.
final class CodeBlock {
    /// Horizontal: see `.message-code` in the style sheet.
    private static let padding = 9

    let widget: Box
    let text: BodyText
    private let code: String
    private let language: String?
    private var coloring: Timeout?
    private var coloredFor: Bool?

    init(_ code: String, language: String?) {
        self.code = code
        self.language = language
        widget = Box(.vertical)
        widget.addStyle("message-code")
        let textWidget = BodyText.make()
        guard let text = BodyText.of(textWidget) else { fatalError("ParlanceBodyText has no implementation") }
        self.text = text
        text.show(TextContent(InlineText(code), isCode: true))
        let header = Box(.horizontal, spacing: 6)
        let name = Label(MessageText.localized.title(ofCodeIn: language))
        name.addStyle("message-code-language")
        name.hexpand = true
        name.xalign = 0
        name.setEllipsize(.end)
        header.append(name)
        header.append(copyButton())
        // Long lines scroll horizontally; vertical scrolling belongs to the timeline.
        let scroller = ScrolledWindow(sideways: textWidget)
        scroller.maxContentWidth = BodyText.maxWidth - 2 * Self.padding
        // Code is left-to-right in every language. Set the direction of the viewport between the two as well.
        for widget in [scroller, textWidget.parent, textWidget] { widget?.textDirection = .leftToRight }
        widget.append(header)
        widget.append(scroller)
        guard language != nil else { return }
        // Colors do not affect sizes: compute them in idle time, and only for code that is drawn.
        text.onPaletteChange = { [weak self] in self?.highlight(isDark: $0.isDark) }
    }

    private func highlight(isDark: Bool) {
        guard coloredFor != isDark, let language else { return }
        coloredFor = isDark
        coloring = Timeout(whenIdle: { [weak self] in
            guard let self else { return }
            var content = text.content
            content.highlights = CodeHighlighter.highlights(of: code, language: language, isDark: isDark)
            text.show(content, selected: text.selected)
        })
    }

    private func copyButton() -> Widget {
        let button = Button(icon: "parlance-copy-symbolic")
        for style in ["flat", "message-code-copy"] { button.addStyle(style) }
        button.tooltip = translated("Copy Code")
        button.setAccessibleLabel(translated("Copy Code"))
        button.onClick { [weak self] in
            guard let self else { return }
            widget.clipboard.setText(code)
        }
        return button
    }
}
