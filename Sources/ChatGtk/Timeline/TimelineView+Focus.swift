import ChatCore
import ChatViewModels
import GtkKit
import TimelineGtk

/// The keyboard focus on a message that is being sent.
extension TimelineView {
    /// The message whose row has the focus. Changes of the rows may not have reached the list yet.
    var focusedID: MessageID? {
        guard widget.stateFlags.contains(.focusWithin), let focus = widget.root?.focus,
            case .message(let id)? = list.key(ofRowWith: focus)?.base as? TimelineItem.ID
        else { return nil }
        return id
    }

    /// Moves the focus from a local echo to the event that replaces it. The list gives it to a neighbor, as the event
    /// may come after the next frame.
    /// - Parameter focused: ``focusedID`` before a change of the rows.
    func followFocus(from focused: MessageID?) {
        if let focused, viewModel.rows.index(of: .message(focused)) == nil { removedFocus = focused }
        guard let removed = removedFocus else { return }
        let current = viewModel.currentID(of: removed)
        guard current != removed else { return }
        removedFocus = nil
        if widget.stateFlags.contains(.focusWithin) { list.focus(TimelineItem.ID.message(current)) }
    }
}
