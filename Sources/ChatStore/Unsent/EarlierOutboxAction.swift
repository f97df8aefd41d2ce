import ChatCore
import Composer
import Foundation

/// The format of outbox requests before ``WrittenMessage``: Markdown or HTML text, and attachments by path.
struct EarlierOutboxAction: Decodable {
    private struct Sending: Decodable {
        struct File: Decodable {
            var path: String
            var reference: MediaReference
        }

        struct Wrapped: Decodable {
            var kind: Message.Kind
            var text: String
            var formattedText: String?
            var replyTo: MessageID?
            var attachments: [File]
        }

        var _0: Wrapped
    }

    private struct Editing: Decodable {
        var _0: OutboxTarget
        var text: String
    }

    private var send: Sending?
    private var edit: Editing?

    /// The action in the current format, or `nil` if it did not use the earlier one.
    var action: OutboxAction? {
        if let message = send?._0 {
            // Only commands created HTML, and their text was plain.
            let text = WrittenText(message.text, syntax: message.formattedText == nil ? .markdown : .plain)
            return .send(
                WrittenMessage(
                    text, kind: message.kind, files: message.attachments.map(Self.reference),
                    reply: message.replyTo.map { WrittenMessage.Reply(to: $0) }))
        }
        return edit.map { .edit($0._0, WrittenText($0.text)) }
    }

    /// Files in the archive are named by their digest.
    private static func reference(_ file: Sending.File) -> MediaReference {
        var reference = file.reference
        if reference.uri.isEmpty {
            reference.uri = MediaReference.localScheme + String(file.path.split(separator: "/").last ?? "")
        }
        return reference
    }
}
