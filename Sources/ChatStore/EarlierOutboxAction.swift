import ChatCore
import Composer
import Foundation

/// A request as versions before ``WrittenMessage`` wrote it: a text in Markdown or its HTML, and files by where they lay.
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

    /// As it is written now; nil for what was written as it still is.
    var action: OutboxAction? {
        if let message = send?._0 {
            // HTML was made by commands alone, whose text means what it says.
            let text = WrittenText(message.text, syntax: message.formattedText == nil ? .markdown : .plain)
            return .send(
                WrittenMessage(
                    text, kind: message.kind, files: message.attachments.map(Self.reference),
                    reply: message.replyTo.map { WrittenMessage.Reply(to: $0) }))
        }
        return edit.map { .edit($0._0, WrittenText($0.text)) }
    }

    /// In the archive a file is called by its digest.
    private static func reference(_ file: Sending.File) -> MediaReference {
        var reference = file.reference
        if reference.uri.isEmpty {
            reference.uri = MediaReference.localScheme + String(file.path.split(separator: "/").last ?? "")
        }
        return reference
    }
}
