import ChatCore
import ChatViewModels
import GtkKit

@testable import ChatGtk

extension MessageRow.Outputs {
    /// Outputs that ignore everything without a handler.
    @MainActor
    static func ignoring(
        actionRequested: @escaping (MessageAction, MessageID) -> Void = { _, _ in },
        linkActivated: @escaping (BodyLink, Widget) -> Void = { _, _ in }
    ) -> Self {
        Self(
            menuRequested: { _ in }, reactionsRequested: { _ in }, actionRequested: actionRequested,
            jumpRequested: { _ in }, linkActivated: linkActivated, mentionActivated: { _ in },
            fullTextRequested: { _ in })
    }
}
