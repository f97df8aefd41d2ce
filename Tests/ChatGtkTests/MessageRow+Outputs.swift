import ChatCore
import ChatViewModels
import GtkKit

@testable import ChatGtk

extension MessageRow.Outputs {
    /// Ignores what is not given.
    @MainActor
    static func ignoring(
        actionRequested: @escaping (MessageAction, MessageID) -> Void = { _, _ in },
        linkActivated: @escaping (BodyLink, Widget) -> Void = { _, _ in }
    ) -> Self {
        Self(
            menuRequested: { _ in }, reactionsRequested: { _ in }, actionRequested: actionRequested,
            jumpRequested: { _ in }, linkActivated: linkActivated, fullTextRequested: { _ in })
    }
}
