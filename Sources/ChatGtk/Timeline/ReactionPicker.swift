import CGtk
import ChatCore
import ChatViewModels
import GtkKit

/// A popover with a few quick reactions and a button for all emoji. Shared by the whole timeline.
final class ReactionPicker {
    static let quick = ["👍", "❤️", "😂", "🎉", "😮", "🙏"]

    var onPick: ((MessageID, String) -> Void)?

    private let parent: Widget
    private let popover: Widget
    /// Created on demand, because it loads a table of all emoji.
    private var chooser: Widget?
    private(set) var buttons: [Button] = []
    private var message: MessageID?
    private var target = GdkRectangle()
    private let focus = FocusRestorer()
    private var isOpeningChooser = false

    init(parent: Widget) {
        self.parent = parent
        popover = Widget(sinking: gtk_popover_new())
        popover.addStyle("reaction-picker")
        popover.setAccessibleLabel(translated("React"))
        popover.attachPopover(to: parent)
        let row = Box(.horizontal)
        for emoji in Self.quick {
            let button = Button(sinking: gtk_button_new_with_label(emoji))
            button.setAccessibleLabel(emoji)
            button.onClick { [weak self] in self?.pick(emoji) }
            buttons.append(button)
        }
        let more = Button(sinking: gtk_button_new_from_icon_name("view-more-horizontal-symbolic"))
        more.tooltip = translated("All Emoji")
        more.setAccessibleLabel(translated("All Emoji"))
        more.onClick { [weak self] in self?.openChooser() }
        for button in buttons + [more] {
            button.addStyle("flat")
            row.append(button)
        }
        gtk_popover_set_child(popover.cast(), row.cast())
        popover.connect("closed") { [weak self] _ in
            if self?.isOpeningChooser == false { self?.focus.restore() }
        }
    }

    isolated deinit {
        for widget in [popover, chooser].compactMap({ $0 }) where gtk_widget_get_parent(widget.cast()) != nil {
            gtk_widget_unparent(widget.cast())
        }
    }

    var isOpen: Bool { popover.isVisible }

    /// Opens at a descendant of the parent.
    func open(for message: MessageID, at widget: Widget) {
        guard let bounds = widget.bounds(in: parent) else { return }
        self.message = message
        focus.save(around: parent)
        target = GdkRectangle(
            x: Int32(bounds.x), y: Int32(bounds.y), width: Int32(bounds.width), height: Int32(bounds.height))
        gtk_popover_set_pointing_to(popover.cast(), &target)
        gtk_popover_popup(popover.cast())
        buttons.first?.grabFocus()
    }

    private func pick(_ text: String) {
        gtk_popover_popdown(popover.cast())
        if let message { onPick?(message, text) }
    }

    private func openChooser() {
        let chooser = chooser ?? makeChooser()
        self.chooser = chooser
        isOpeningChooser = true
        gtk_popover_popdown(popover.cast())
        isOpeningChooser = false
        gtk_popover_set_pointing_to(chooser.cast(), &target)
        gtk_popover_popup(chooser.cast())
    }

    private func makeChooser() -> Widget {
        let chooser = Widget(sinking: gtk_emoji_chooser_new())
        chooser.attachPopover(to: parent)
        chooser.connect("emoji-picked") { [weak self] arguments in self?.pick(arguments.string(0)) }
        chooser.connect("closed") { [weak self] _ in self?.focus.restore() }
        return chooser
    }
}
