import ChatViewModels
import ComposerGtk
import GtkKit

/// Explains, before the first reaction in an encrypted room, that reactions are not encrypted.
enum ReactionDialog {
    private final class Choice {
        var isRejected = false
    }

    @discardableResult
    static func present(
        _ question: ReactionQuestion, over parent: Widget,
        onAnswer: @escaping @MainActor (ReactionQuestion.Answer) -> Void
    ) -> MessageDialog {
        let dialog = MessageDialog(heading: question.heading(.gettext), body: question.body(.gettext))
        let rejection = CheckButton(question.rejection(.gettext))
        rejection.wrapLabel()
        dialog.setExtraChild(rejection)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("react", question.button(.gettext))
        dialog.setResponses(default: "cancel", close: "cancel")
        // Capture weakly: the dialog owns its signal handlers.
        let choice = Choice()
        rejection.onToggle { [weak dialog] isRejected in
            choice.isRejected = isRejected
            dialog?.setResponse("react", isEnabled: !isRejected)
        }
        dialog.onResponse("react") { onAnswer(.react) }
        // The response may arrive after what the dialog retains is gone.
        dialog.onResponse("cancel") { onAnswer(choice.isRejected ? .never : .cancel) }
        dialog.retain([rejection])
        dialog.present(over: parent)
        return dialog
    }
}
