import ChatCore
import Composer

/// Messages as the composer hands them over, or as a command makes them.
nonisolated extension OutgoingMessage {
    /// One message, or one for each piece of a text that pictures stand in.
    static func messages(
        for message: ComposedMessage, as spoken: SpokenCommand?, _ makeTransactionID: () -> TransactionID
    ) -> [OutgoingMessage] {
        let isInOrder = message.parts.dropFirst().contains { if case .text = $0 { true } else { false } }
        guard isInOrder, spoken == nil else {
            return [OutgoingMessage(makeTransactionID(), message, as: spoken)]
        }
        var pieces: [(text: String, files: [Attachment])] = []
        for part in message.parts {
            switch part {
            case .text(let text): pieces.append((text, []))
            case .attachment(let file):
                if let last = pieces.indices.last, pieces[last].text.isEmpty {
                    pieces[last].files.append(file)
                } else {
                    pieces.append(("", [file]))
                }
            }
        }
        return pieces.enumerated().map { index, piece in
            OutgoingMessage(
                makeTransactionID(), text: piece.text, files: piece.files, replyTo: index == 0 ? message.replyTo : nil)
        }
    }

    private init(_ transaction: TransactionID, _ message: ComposedMessage, as spoken: SpokenCommand?) {
        self.init(
            transaction, text: spoken?.text ?? message.text, files: message.attachments, replyTo: message.replyTo,
            spoken: spoken)
    }

    private init(
        _ transaction: TransactionID, text: String, files: [Attachment], replyTo: String?, spoken: SpokenCommand? = nil
    ) {
        let files = files.compactMap { MediaReference($0) }
        self.init(
            transactionID: transaction, text: text, replyTo: replyTo.map { MessageID($0) },
            kind: files.first?.messageKind ?? (spoken?.isEmote ?? false ? .emote : .text),
            formattedText: spoken?.html, attachments: files)
    }
}
