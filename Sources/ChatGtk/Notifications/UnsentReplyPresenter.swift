import ChatViewModels
import ComposerGtk
import GtkKit

/// Asks what to do with replies and messages whose account or room is gone, one at a time.
final class UnsentReplyPresenter {
    private let accounts: AccountsCoordinator
    private weak var window: Widget?
    /// The replies being asked about, or dismissed. The next window asks again.
    private var asked: Set<UnsentReplies.Reply.ID> = []
    private var isAsking = false
    private var rendering: Rendering?

    init(_ accounts: AccountsCoordinator, over window: Widget) {
        self.accounts = accounts
        self.window = window
        rendering = Rendering({ accounts.strandedReplies }, { [weak self] _ in self?.ask() })
    }

    private func ask() {
        guard let window, !isAsking,
            let reply = accounts.strandedReplies.first(where: { !asked.contains($0.id) })
        else { return }
        isAsking = true
        asked.insert(reply.id)
        let replies = accounts.unsentReplies
        let dialog = MessageDialog(heading: reply.heading(.gettext), body: accounts.question(about: reply, .gettext))
        // The dialog may appear while the user types: Return must neither lose the text nor replace the clipboard.
        dialog.addResponse("later", translated("_Not Now"))
        dialog.addResponse("discard", translated("_Discard"), .destructive)
        dialog.addResponse("copy", translated("_Copy"), .suggested)
        dialog.setResponses(default: "later", close: "later")
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
