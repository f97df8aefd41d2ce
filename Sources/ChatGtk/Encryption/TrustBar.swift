import ChatCore
import ChatViewModels
import ComposerGtk
import GtkKit

/// The banner above the messages that warns about identities of an encrypted room's members.
final class TrustBar {
    private let view = Banner()
    private var rendering: Rendering?
    var widget: Widget { view.widget }

    private weak var conversation: Conversation?
    private var displayed: RoomTrustViewModel.Notice?
    private let isInOwnWindow: Bool

    /// - Parameter isInOwnWindow: whether the room has a window of its own.
    init(isInOwnWindow: Bool) {
        self.isInOwnWindow = isInOwnWindow
        view.onButtonClick { [weak self] in
            if let self, let displayed { conversation?.answerTrustNotice(displayed) }
        }
    }

    /// Shows what is to be known in this room from now on.
    func show(_ conversation: Conversation) {
        self.conversation = conversation
        displayed = nil
        rendering = nil
        guard let trust = conversation.trust else {
            view.isRevealed = false
            return
        }
        rendering = Rendering({ [weak conversation] in
            conversation?.isEncrypted == true ? trust.state.notice : nil
        }) { [weak self] in self?.show($0, trust) }
    }

    private func show(_ notice: RoomTrustViewModel.Notice?, _ trust: RoomTrustViewModel) {
        displayed = notice
        view.isRevealed = notice != nil
        guard let notice else { return }
        let text = IdentityText(.gettext)
        view.title = text.notice(notice) { trust.name($0) }
        view.buttonLabel = text.button(notice, isInOwnWindow: isInOwnWindow)
        view.isProblem = notice.isProblem
    }
}
