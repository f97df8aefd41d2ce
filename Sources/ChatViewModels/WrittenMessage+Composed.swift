import ChatCore
import Composer

/// Messages as the composer hands them over, or as a command makes them.
nonisolated extension WrittenMessage {
    /// One message, or one for each piece of a text that pictures stand in.
    static func messages(for message: ComposedMessage, as spoken: SpokenCommand?) -> [WrittenMessage] {
        let reply = message.reply.map { Reply(to: MessageID($0.messageID), by: $0.senderID.map { MemberID($0) }) }
        let isInOrder = message.parts.dropFirst().contains { if case .text = $0 { true } else { false } }
        guard isInOrder, spoken == nil else {
            let files = message.attachments.compactMap { MediaReference($0) }
            let isEmote = spoken?.isEmote ?? false
            return [
                WrittenMessage(
                    spoken?.written(from: message.text) ?? message.text,
                    kind: isEmote ? .emote : files.first?.messageKind ?? .text, files: files, reply: reply,
                    origin: spoken == nil ? .composed : .command)
            ]
        }
        var pieces: [(text: WrittenText, files: [MediaReference])] = []
        for part in message.parts {
            switch part {
            case .text(let text): pieces.append((text, []))
            case .attachment(let file):
                guard let file = MediaReference(file) else { continue }
                if let last = pieces.indices.last, pieces[last].text.source.isEmpty {
                    pieces[last].files.append(file)
                } else {
                    pieces.append((WrittenText(), [file]))
                }
            }
        }
        return pieces.enumerated().map { index, piece in
            WrittenMessage(
                piece.text, kind: piece.files.first?.messageKind ?? .text, files: piece.files,
                reply: index == 0 ? reply : nil)
        }
    }
}
