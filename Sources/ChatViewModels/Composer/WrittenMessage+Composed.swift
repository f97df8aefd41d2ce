import ChatCore
import Composer
import ComposerSessions

/// Converts composed messages and commands.
nonisolated extension WrittenMessage {
    /// Returns one message, or one for each part of a text split by inline images.
    static func messages(for message: ComposedMessage, as command: MessageCommand?) -> [WrittenMessage] {
        let reply = message.reply.map { Reply(to: MessageID($0.messageID), by: $0.senderID.map { MemberID($0) }) }
        let isInOrder = message.parts.dropFirst().contains { if case .text = $0 { true } else { false } }
        guard isInOrder, command == nil else {
            let files = message.attachments.compactMap { MediaReference($0) }
            let isEmote = command?.isEmote ?? false
            return [
                WrittenMessage(
                    command?.written(from: message.text) ?? message.text,
                    kind: isEmote ? .emote : files.first?.messageKind ?? .text, files: files, reply: reply,
                    origin: command == nil ? .composed : .command)
            ]
        }
        var segments: [(text: WrittenText, files: [MediaReference])] = []
        for part in message.parts {
            switch part {
            case .text(let text): segments.append((text, []))
            case .attachment(let file):
                guard let file = MediaReference(file) else { continue }
                if let last = segments.indices.last, segments[last].text.source.isEmpty {
                    segments[last].files.append(file)
                } else {
                    segments.append((WrittenText(), [file]))
                }
            }
        }
        return segments.enumerated().map { index, segment in
            WrittenMessage(
                segment.text, kind: segment.files.first?.messageKind ?? .text, files: segment.files,
                reply: index == 0 ? reply : nil)
        }
    }
}
