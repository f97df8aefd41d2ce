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

    /// The label of a toast's button, or `nil` if it has none.
    public func button(of toast: WindowRequests.Toast) -> String? {
        if case .cleared = toast { translator("Undo") } else { nil }
    }

    public func text(for toast: WindowRequests.Toast) -> String? {
        switch toast {
        case .failed(let error): text(for: error)
        case .rejected(.limit(let rejected)):
            translator.plural(
                "{count} character over the limit was not inserted",
                "{count} characters over the limit were not inserted", rejected)
        case .rejected(.overLimit): translator("Message too long")
        case .rejected(.draft): translator("Could not restore the draft")
        case .rejected(.rejectedByHost(let reason)): reason
        case .message(let text): text
        case .rejected(.attachmentCount(let limit)): tooManyFiles(limit)
        case .rejected(.attachmentSize(let limit)): tooLarge(limit)
        case .rejected(.attachmentWhileEditing): translator("Files cannot be attached while editing")
        case .rejected(.uploading): translator("A file is still being attached")
        case .rejected(.uploadFailed): translator("A file could not be attached. Retry or remove it.")
        case .rejected(.mediaType): translator("File type not supported")
        case .rejected: nil
        case .notEdited(.pending): translator("Your last message can be edited once it is sent")
        case .notEdited(.failed): translator("Your last message was not sent. Retry or discard it.")
        case .notEdited(.noMessage): translator("There is no recent message of yours to edit")
        case .cleared: translator("Message cleared")
        case .removed(let removal): sentence(about: removal)
        }
    }

    private func sentence(about removal: RoomRemoval) -> String {
        let values = ["actor": removal.actorName, "room": removal.roomName, "reason": removal.reason ?? ""]
        return switch (removal.kind, removal.reason) {
        case (.removed, nil): translator("{actor} removed you from “{room}”", values)
        case (.removed, _): translator("{actor} removed you from “{room}”: {reason}", values)
        case (.banned, nil): translator("{actor} banned you from “{room}”", values)
        case (.banned, _): translator("{actor} banned you from “{room}”: {reason}", values)
        }
    }

    public func text(for error: ChatError) -> String {
        switch error {
        case .notFound: translator("No longer available")
        case .notPermitted: translator("You do not have permission to do this")
        case .invalidName:
            translator.plural(
                "Enter a room name with up to {count} character", "Enter a room name with up to {count} characters",
                ChatLimits.roomNameLength)
        case .invalidDisplayName:
            translator.plural(
                "Enter a display name with up to {count} character",
                "Enter a display name with up to {count} characters", ChatLimits.roomNameLength)
        case .invalidAddress:
            translator("Enter a room address with up to 100 letters, digits, dots, hyphens, and underscores")
        case .topicTooLong(let limit):
            translator.plural(
                "Enter a topic with up to {count} character", "Enter a topic with up to {count} characters", limit)
        case .emptyMessage: translator("Message is empty")
        case .messageTooLong: translator("Message too long")
        case .tooManyAttachments(let limit): tooManyFiles(limit)
        case .attachmentsNotPermitted: translator("This message cannot include files")
        case .spaceUnsupported: translator("Spaces are not supported")
        case .encryptionUnavailable: translator("Encryption does not work on this device")
        case .invalidReaction: translator("React with an emoji or a few characters")
        case .unreadableFile: translator("Could not read file")
        case .noApplication: translator("No app can open this file")
        case .fileTooLarge(let limit): tooLarge(limit)
        case .downloadTooLarge(let limit):
            translator("Files larger than {size} cannot be downloaded", ["size": wording.byteCount(limit)])
        case .unreachable: translator("Could not connect to the server")
        case .signedOut: translator("Sign in again to continue")
        case .busy: translator("Server busy. Try again in a moment.")
        case .rejected(let reason): translator("Not allowed by the server: {reason}", ["reason": reason])
        case .unexpectedAnswer: translator("Unexpected answer from the server")
        case .diskFull: translator("Not enough disk space")
        case .storage: translator("Could not read or save data")
        }
    }

    private func tooManyFiles(_ limit: Int) -> String {
        translator.plural("Attach up to {count} file per message", "Attach up to {count} files per message", limit)
    }

    private func tooLarge(_ limit: Int) -> String {
        translator("Files larger than {size} cannot be sent", ["size": wording.byteCount(limit)])
    }
}
