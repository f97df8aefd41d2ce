import CGtk
import Composer
import ComposerSessions
import GtkKit

/// Buttons for the engine's Markdown rules. They leave the focus in the text.
final class FormattingBar {
    let widget: Widget
    private var buttons: [(rule: MarkdownRule, button: Button)] = []
    private var rendering: Rendering?

    /// - Parameter isInFocusChain: Whether Tab reaches the buttons. `false` in the popover at the selection.
    init(model: any ComposerModel, isInFocusChain: Bool) {
        let box = Box(.horizontal, spacing: 0)
        widget = box
        box.addStyle("parlance-formatting")
        box.setAccessibleLabel(translated("Formatting"))
        for rule in model.markdownRules {
            let name = FormatName(of: rule)
            let button = name.icon.map { Button(icon: $0) } ?? Button(label: name.label)
            button.addStyle("flat")
            button.focusOnClick = false
            button.isFocusable = isInFocusChain
            button.tooltip = [name.label, model.chord(for: rule)?.description]
                .compactMap { $0 }.joined(separator: " — ")
            button.setAccessibleLabel(name.label)
            button.onClick { [weak model] in model?.handle(.format(rule.title)) }
            box.append(button)
            buttons.append((rule, button))
        }
        rendering = Rendering(
            { [weak model] in model?.composer.offeredFormats },
            { [weak self] offered in
                self?.buttons.forEach { rule, button in button.isSensitive = offered?.contains(rule.title) ?? true }
            })
    }
}

/// A popover with the formatting bar above the current selection.
final class SelectionToolbar {
    /// Created with the first selection: a room is opened more often than text is selected in it.
    private var made: (popover: CompanionPopover, bar: FormattingBar)?
    private let editor: EditorView
    private weak var model: (any ComposerModel)?
    private let anchor: Widget
    private var rendering: Rendering?
    /// `false` if disabled by a setting, or if the permanent bar is shown.
    var isEnabled = true {
        didSet { if !isEnabled { made?.popover.isOpen = false } }
    }

    init(editor: EditorView, model: any ComposerModel, anchor: Widget) {
        self.editor = editor
        self.model = model
        self.anchor = anchor
        rendering = Rendering(
            { [weak model] in model?.composer.selectionToFormat },
            { [weak self] selection in self?.show(selection) })
    }

    isolated deinit {
        made?.popover.unparent()
    }

    var isOpen: Bool { made?.popover.isOpen == true }

    private func popover(for model: any ComposerModel) -> CompanionPopover {
        if let made { return made.popover }
        let popover = CompanionPopover(parent: anchor)
        popover.addStyle("formatting-popover")
        let bar = FormattingBar(model: model, isInFocusChain: false)
        popover.setChild(bar.widget)
        made = (popover, bar)
        return popover
    }

    private func show(_ selection: TextRange?) {
        guard isEnabled, let selection, let model, anchor.isMapped else {
            made?.popover.isOpen = false
            return
        }
        let popover = popover(for: model)
        let rectangle = editor.rectangle(at: selection.location, in: anchor)
        popover.point(x: Double(rectangle.x), y: Double(rectangle.y), width: 1, height: Double(rectangle.height))
        popover.isOpen = true
    }
}
