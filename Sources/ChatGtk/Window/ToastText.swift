import CGtk
import ChatCore
import ChatViewModels
import Composer
import GtkKit

/// Localized toast texts.
enum ToastText {
    static func text(for toast: ConversationCoordinator.Toast) -> String? {
        switch toast {
        case .failed(let error): text(for: error)
        case .rejected(.limit(let rejected)):
            translated("%d character did not fit", "%d characters did not fit", count: rejected)
                .replacing("%d", with: "\(rejected)")
        case .rejected(.overLimit): translated("The message is too long")
        case .rejected(.draft): translated("The stored draft of this room could not be read")
        case .rejected(.rejectedByHost(let reason)): reason
        case .message(let text): text
        case .rejected(.attachmentCount(let limit)):
            translated("%d file fits in a message", "%d files fit in a message", count: limit)
                .replacing("%d", with: "\(limit)")
        case .rejected(.attachmentSize(let limit)): tooLarge(limit)
        case .rejected(.attachmentWhileEditing): translated("A message that is being edited takes no files")
        case .rejected(.uploading): translated("A file is still being added")
        case .rejected(.mediaType): translated("This kind of file cannot be added")
        case .rejected: nil
        case .cleared: translated("Text cleared")
        }
    }

    static func text(for error: ChatError) -> String {
        switch error {
        case .notFound: translated("It is not there any more")
        case .notPermitted: translated("That is not permitted here")
        case .invalidName: translated("A room needs a name of at most 100 characters")
        case .invalidMessage: translated("The message is empty or too long")
        case .unreadableFile: translated("The file could not be read")
        case .fileTooLarge(let limit): tooLarge(limit)
        case .unreachable: translated("The server cannot be reached")
        case .signedOut: translated("Sign in again first")
        case .busy: translated("The server is busy: try again in a moment")
        case .rejected(let reason): translated("The server does not allow it: %s").replacing("%s", with: reason)
        case .diskFull: translated("The disk is full: nothing was stored")
        case .storage: translated("It could not be stored")
        }
    }

    private static func tooLarge(_ limit: Int) -> String {
        translated("Files of more than %s cannot be sent").replacing("%s", with: ByteCount.text(limit))
    }

    static func escaped(_ text: String) -> String {
        guard let escaped = g_markup_escape_text(text, -1) else { return "" }
        defer { g_free(escaped) }
        return String(cString: escaped)
    }
}
