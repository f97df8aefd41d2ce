import CGtk
import ChatViewModels
import Composer
import ComposerGtk
import GtkKit
import TimelineGtk

/// Key bindings beyond the list's own scrolling keys.
extension TimelineView {
    func addKeys() {
        let keys = KeyController()
        keys.onPress { [weak self] key in
            self?.handleKey(key) ?? false
        }
        widget.addController(keys)
    }

    private func handleKey(_ press: KeyPress) -> Bool {
        removedFocus = nil
        let key = press.key
        let control = press.modifiers.contains(.control)
        let shift = press.modifiers.contains(.shift)
        if !press.modifiers.isDisjoint(with: [.alt, .super]) { return false }
        if control, handleControlKey(press) { return true }
        if shift, handleShiftKey(key) { return true }
        switch key {
        case GDK_KEY_Escape:
            if viewModel.canCancelSelection { viewModel.send(.selection(.cancel)) } else { onLeave?() }
        case GDK_KEY_space where focusedEvents != nil, GDK_KEY_Return where focusedEvents != nil:
            focusedEvents.map { toggleEvents($0.id) }
        case GDK_KEY_space where !control && !shift && focusedMessage != nil:
            focusedMessage.map { viewModel.send(.selection(.toggle($0.id))) }
        case GDK_KEY_Delete where viewModel.state.selection.canDelete: viewModel.send(.selection(.requestDeletion))
        case GDK_KEY_Menu: openMenuOfFocusedRow()
        case GDK_KEY_plus where !control && focusedMessage?.canReact == true: reactToFocused()
        default:
            guard !control else { return false }
            if !shift, let message = focusedMessage, handleKey(key, of: message) { return true }
            guard KeyChord.isWriting(key) else { return false }
            onType?(press)
        }
        return true
    }

    /// Handles single-key shortcuts for the focused message; all other letters start a new message.
    private func handleKey(_ key: Int32, of message: MessageItem) -> Bool {
        let action: MessageAction? =
            switch key {
            case GDK_KEY_r: .reply
            case GDK_KEY_e: .edit
            case GDK_KEY_f: .forward
            case GDK_KEY_l: .copyLink
            case GDK_KEY_h: .showHistory
            case GDK_KEY_Delete: .requestDeletion
            default: nil
            }
        guard let action, message.offers(action) else { return false }
        viewModel.send(.message(message.id, action))
        return true
    }

    private func handleControlKey(_ press: KeyPress) -> Bool {
        let shift = press.modifiers.contains(.shift)
        switch press.key {
        case GDK_KEY_End, GDK_KEY_KP_End: viewModel.send(.pages(.jump(.newest)))
        case GDK_KEY_Home, GDK_KEY_KP_Home: viewModel.send(.pages(.jump(.oldest)))
        case GDK_KEY_c, GDK_KEY_C, GDK_KEY_Insert:
            viewModel.send(.selection(.copy(focused: focusedMessage?.id)))
        case GDK_KEY_a, GDK_KEY_A: viewModel.send(.selection(.selectAll))
        case GDK_KEY_v, GDK_KEY_V: onType?(press)
        case GDK_KEY_Left where shift: extend(.word, forward: false)
        case GDK_KEY_Right where shift: extend(.word, forward: true)
        default: return false
        }
        return true
    }

    private func handleShiftKey(_ key: Int32) -> Bool {
        switch key {
        case GDK_KEY_Page_Up, GDK_KEY_KP_Page_Up: viewModel.send(.pages(.jump(.firstUnread)))
        case GDK_KEY_F10: openMenuOfFocusedRow()
        case GDK_KEY_Left: extend(.character, forward: false)
        case GDK_KEY_Right: extend(.character, forward: true)
        case GDK_KEY_Up: extend(.message, forward: false)
        case GDK_KEY_Down: extend(.message, forward: true)
        default: return false
        }
        return true
    }

    private var focusedMessage: MessageItem? {
        list.focusedRow.flatMap { $0 < viewModel.rows.count ? viewModel.rows[$0].message : nil }
    }

    private var focusedEvents: EventGroup? {
        list.focusedRow.flatMap { $0 < viewModel.rows.count ? viewModel.rows[$0].events : nil }
    }

    private func extend(_ step: SelectionStep, forward: Bool) {
        guard let start = focusedMessage else { return }
        viewModel.send(.selection(.extend(step, forward: forward, from: start.id)))
        // Focus the message at the end of the selection, which scrolls it into view.
        if let end = viewModel.selectedText?.focus.message, end != start.id { list.focus(TimelineItem.ID.message(end)) }
    }

    private func reactToFocused() {
        guard let message = focusedMessage, let row = list.row(for: TimelineItem.ID.message(message.id)) as? MessageRow
        else { return }
        openReactions(of: row)
    }

    private func openMenuOfFocusedRow() {
        guard let message = focusedMessage, let row = list.row(for: TimelineItem.ID.message(message.id)) as? MessageRow
        else { return }
        openMenu(of: row)
    }
}
