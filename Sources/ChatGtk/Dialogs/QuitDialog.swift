public import ChatViewModels
import ComposerGtk
public import GtkKit

/// Asks whether to quit although something would be lost.
public final class QuitDialog: EndQuestionView {
    private let dialog: MessageDialog

    private init(_ dialog: MessageDialog) {
        self.dialog = dialog
    }

    /// Shows a question unless it was withdrawn.
    public static func present(_ question: EndQuestion, over parent: Widget) {
        guard question.isAwaited else { return }
        let text = question.obstacle.confirmation(.gettext)
        let dialog = MessageDialog(heading: text.heading, body: text.body)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("confirm", text.action, .destructive)
        dialog.setResponses(default: "cancel", close: "cancel")
        dialog.onResponse("confirm") { question.agree() }
        dialog.onClosed { question.viewClosed() }
        dialog.present(over: parent)
        question.show(in: QuitDialog(dialog))
    }

    public var isOpen: Bool { dialog.isMapped }
    public func present() { dialog.window?.present() }
    public func close() { dialog.close() }
}
