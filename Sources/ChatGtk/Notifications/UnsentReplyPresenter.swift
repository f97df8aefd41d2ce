import ChatViewModels
import ComposerGtk
import GtkKit

/// Asks what becomes of replies that were written into notifications of accounts or rooms that are gone, one at a time.
final class UnsentReplyPresenter {
    private let accounts: AccountsCoordinator
    private weak var window: Widget?
    /// What is being asked, or was left unanswered: it is asked again by the next window.
    private var asked: [UnsentReplies.Reply] = []
    private var isAsking = false
    private var rendering: Rendering?

    init(_ accounts: AccountsCoordinator, over window: Widget) {
        self.accounts = accounts
        self.window = window
        rendering = Rendering({ accounts.strandedReplies }, { [weak self] _ in self?.ask() })
    }

    private func ask() {
        guard let window, !isAsking, let reply = accounts.strandedReplies.first(where: { !asked.contains($0) }) else {
            return
        }
        isAsking = true
        asked.append(reply)
        let replies = accounts.unsentReplies
        let dialog = MessageDialog(heading: reply.heading(.gettext), body: accounts.question(about: reply, .gettext))
        dialog.addResponse("discard", translated("_Discard"), .destructive)
        dialog.addResponse("copy", translated("_Copy"), .suggested)
        dialog.setResponses(default: "copy", close: "later")
        dialog.onResponse("discard") { replies.remove(reply) }
        dialog.onResponse("copy") { [weak window] in
            guard let window else { return }
            window.clipboard.setText(reply.text)
            replies.remove(reply)
        }
        dialog.onResponse { [weak self] in
            self?.isAsking = false
            self?.ask()
        }
        dialog.present(over: window)
    }
}
