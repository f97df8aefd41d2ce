public import ChatCore
import Composer
import Foundation

/// The texts of toasts, and of errors wherever they are shown.
public struct ToastText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    public func text(for toast: WindowRequests.Toast) -> String? {
        switch toast {
        case .failed(let error): text(for: error)
        case .rejected(.limit(let rejected)):
            translator.plural("%d character did not fit", "%d characters did not fit", rejected)
                .replacing("%d", with: "\(rejected)")
        case .rejected(.overLimit): translator("The message is too long")
        case .rejected(.draft): translator("The stored draft of this room could not be read")
        case .rejected(.rejectedByHost(let reason)): reason
        case .message(let text): text
        case .rejected(.attachmentCount(let limit)): tooManyFiles(limit)
        case .rejected(.attachmentSize(let limit)): tooLarge(limit)
        case .rejected(.attachmentWhileEditing): translator("A message that is being edited takes no files")
        case .rejected(.uploading): translator("A file is still being added")
        case .rejected(.mediaType): translator("This kind of file cannot be added")
        case .rejected: nil
        case .cleared: translator("Text cleared")
        }
    }

    public func text(for error: ChatError) -> String {
        switch error {
        case .notFound: translator("It is not there any more")
        case .notPermitted: translator("That is not permitted here")
        case .invalidName: translator("A room needs a name of at most 100 characters")
        case .invalidDisplayName: translator("You need a name of at most 100 characters")
        case .invalidAddress:
            translator("A room address is made of at most 100 letters, digits, dots, hyphens and underscores")
        case .topicTooLong(let limit):
            translator.plural("A topic has at most %d character", "A topic has at most %d characters", limit)
                .replacing("%d", with: "\(limit)")
        case .emptyMessage: translator("The message is empty")
        case .messageTooLong: translator("The message is too long")
        case .tooManyAttachments(let limit): tooManyFiles(limit)
        case .attachmentsNotPermitted: translator("Files cannot be sent with this message")
        case .invalidReaction: translator("A reaction is an emoji or a few characters")
        case .unreadableFile: translator("The file could not be read")
        case .fileTooLarge(let limit): tooLarge(limit)
        case .unreachable: translator("The server cannot be reached")
        case .signedOut: translator("Sign in again first")
        case .busy: translator("The server is busy: try again in a moment")
        case .rejected(let reason): translator("The server does not allow it: %s").replacing("%s", with: reason)
        case .diskFull: translator("The disk is full: nothing was stored")
        case .storage: translator("It could not be stored")
        }
    }

    private func tooManyFiles(_ limit: Int) -> String {
        translator.plural("%d file fits in a message", "%d files fit in a message", limit)
            .replacing("%d", with: "\(limit)")
    }

    private func tooLarge(_ limit: Int) -> String {
        translator("Files of more than %s cannot be sent").replacing("%s", with: wording.byteCount(limit))
    }
}
