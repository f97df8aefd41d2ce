import CGtk
import Composer
import ComposerSessions
import GtkKit

/// The editor's context menu: opened at the pointer by the secondary button, at the finger by a long press, or at the
/// caret by Menu or Shift+F10 (SLK-38).
final class EditorMenu {
    private let editor: EditorView
    private let model: any ComposerModel
    private let anchor: Widget
    private let textView: Widget
    private let formats = Menu()
    /// What concerns the whole message.
    private let messageItems = Menu()
    /// Whether ``messageItems`` offers to collapse the field; `nil` before the menu was first opened.
    private var offersCollapsing: Bool?
    /// Created on demand: GTK creates widgets for all menu items.
    private var madePopover: PopoverMenu?
    private let actions = ActionGroup()
    private var named: [String: Action] = [:]
    private let rules: [MarkdownRule]
    private let spelling: SpellingMenu

    /// - Parameter anchor: The widget around the text, the menu's parent.
    init(editor: EditorView, model: any ComposerModel, textView: Widget, anchor: Widget) {
        self.editor = editor
        self.model = model
        self.textView = textView
        self.anchor = anchor
        rules = model.markdownRules
        spelling = SpellingMenu(model: model, actions: actions)
        addActions()
        anchor.insertActions(actions, prefix: "composer")
        // In the capture phase: before the text view's own menu, which bypasses the engine.
        let click = ClickGesture(.secondary, phase: .capture)
        click.onPress { [weak self] event in
            guard let self else { return }
            event.claim()
            self.open(x: event.x, y: event.y)
        }
        textView.addController(click)
        let press = LongPressGesture()
        press.isTouchOnly = true
        press.phase = .capture
        press.onPress { [weak self] event in
            guard let self else { return }
            event.controller.claim()
            self.open(x: event.x, y: event.y)
        }
        textView.addController(press)
        editor.onMenuKey = { [weak self] in self?.openAtCaret() }
    }

    isolated deinit {
        madePopover?.unparent()
    }

    var isOpen: Bool { madePopover?.isVisible == true }

    private var popover: PopoverMenu {
        if let madePopover { return madePopover }
        let popover = PopoverMenu(model: Self.menu(formats, messageItems, spelling), parent: anchor)
        // GTK would focus the bar's first focusable widget instead of the one that had the focus.
        popover.onClose { [weak textView] in textView?.grabFocus() }
        madePopover = popover
        return popover
    }

    // MARK: Items

    private static func menu(_ formats: Menu, _ messageItems: Menu, _ spelling: SpellingMenu) -> Menu {
        let menu = Menu()
        menu.append(section: spelling.suggestions)
        menu.append(section: spelling.word)
        let sections: [[(String, String)]] = [
            [(translated("_Undo"), "composer.undo"), (translated("_Redo"), "composer.redo")],
            [
                (translated("Cu_t"), "composer.cut"), (translated("_Copy"), "composer.copy"),
                (translated("_Paste"), "composer.paste"), (translated("Paste as Plain Te_xt"), "composer.paste-text"),
            ],
        ]
        for items in sections {
            let section = Menu()
            for (label, action) in items { section.append(label, action) }
            menu.append(section: section)
        }
        let formatting = Menu()
        formatting.append(translated("_Format"), submenu: formats)
        formatting.append(translated("Clear For_matting"), "composer.clear-styles")
        menu.append(section: formatting)
        menu.append(section: messageItems)
        menu.append(section: spelling.languages)
        return menu
    }

    private func addActions() {
        let events: [(String, ComposerEvent)] = [
            ("undo", .undo), ("redo", .redo), ("cut", .cut), ("copy", .copy), ("clear-styles", .clearStyles),
            ("clear", .clear),
        ]
        for (name, event) in events {
            named[name] = actions.add(name) { [weak self] in self?.model.handle(event) }
        }
        named["expand"] = actions.add("expand") { [weak self] in
            guard let self else { return }
            self.model.handle(.expand(!self.model.composer.isExpanded))
        }
        named["paste"] = actions.add("paste") { [weak self] in self?.editor.paste() }
        named["paste-text"] = actions.add("paste-text") { [weak self] in self?.editor.paste(asPlainText: true) }
        named["select-all"] = actions.add("select-all") { [weak self] in
            guard let self else { return }
            self.model.handle(.select(TextRange(location: 0, length: self.model.composer.length)))
        }
        named["format"] = actions.add("format", withString: { [weak self] in self?.model.handle(.format($0)) })
    }

    // MARK: Opening

    /// Updates the items from the engine's state.
    /// - Parameter offset: The position of the menu, in UTF-16 code units of the document.
    private func update(at offset: Int) {
        let state = model.composer
        spelling.update(at: offset)
        let hasSelection = !state.selection.isEmpty
        let enabled: [String: Bool] = [
            "undo": state.canUndo, "redo": state.canRedo, "cut": hasSelection, "copy": hasSelection,
            "select-all": state.length > 0, "format": hasSelection, "clear": state.length > 0,
            "clear-styles": state.canClearStyles,
        ]
        for (name, isEnabled) in enabled { named[name]?.isEnabled = isEnabled }
        formats.removeAll()
        for rule in rules where state.formatting.contains(rule.title) {
            formats.append(FormatName(of: rule).label, "composer.format::\(rule.title)")
        }
        updateMessageItems(isExpanded: state.isExpanded)
    }

    private func updateMessageItems(isExpanded: Bool) {
        guard isExpanded != offersCollapsing else { return }
        offersCollapsing = isExpanded
        messageItems.removeAll()
        messageItems.append(translated("Select _All"), "composer.select-all")
        messageItems.append(translated("C_lear Message"), "composer.clear")
        // The same letter for both, as both are the same key.
        let label = isExpanded ? translated("Collaps_e Message Field") : translated("_Expand Message Field")
        messageItems.append(label, "composer.expand")
    }

    private func openAtCaret() {
        let caretRectangle = editor.caretRectangle
        let (x, y) = (Double(caretRectangle.x), Double(caretRectangle.y + caretRectangle.height))
        open(x: x, y: y, at: model.composer.selection.location)
    }

    private func isInLowerHalf(x: Double, y: Double) -> Bool {
        guard let root = textView.root, let point = textView.translate(x: x, y: y, to: root) else { return false }
        return point.y > Double(root.height) / 2
    }

    /// Opens the menu at a point in the text view's coordinates.
    private func open(x: Double, y: Double) { open(x: x, y: y, at: editor.offset(x: x, y: y)) }

    private func open(x: Double, y: Double, at offset: Int) {
        update(at: offset)
        textView.grabFocus()
        let point = textView.translate(x: x, y: y, to: anchor) ?? (0, 0)
        // GTK flips a menu only if it fits completely on the other side. If it fits on neither, as with suggestions on
        // a low screen, GTK shrinks it on the requested side.
        if isInLowerHalf(x: x, y: y) { popover.placeAbove() } else { popover.placeBelow() }
        popover.popUp(x: point.x, y: point.y)
    }
}
