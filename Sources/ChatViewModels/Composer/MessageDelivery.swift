import ChatCore
import Composer
import ComposerSessions

/// Delivers a room's messages, commands and edits.
struct MessageDelivery {
    let roomID: RoomID
    let service: any MessageService & DraftService
    let makeTransactionID: () -> TransactionID
    let commands: CommandRegistry?
    /// Executes commands that are not messages.
    let onCommand: (ChatCommand) async throws -> Void

    /// The command that a message consists of, or `nil` if it is not one.
    func command(in message: ComposedMessage) -> ChatCommand? {
        // Throws for an invalid command, but the send gate has rejected those.
        (try? commands?.command(in: message.text.source))?.identified(by: message.text)
    }

    /// The command to execute instead of sending the message, or `nil` if the message is sent.
    ///
    /// A message with files is never a command: the text is their caption, and a command would drop the files.
    func executedCommand(in message: ComposedMessage) -> ChatCommand? {
        guard message.attachments.isEmpty, let command = command(in: message), command.messageCommand == nil else {
            return nil
        }
        return command
    }

    /// Sends a message or executes a command.
    ///
    /// An image in the text splits it: the parts before and after become separate messages, in that order, as other
    /// clients can display them (MIB-20). They are stored all or none, so a retry sends no part twice.
    ///
    /// - Parameter draft: what to store as the draft in the same transaction: everything except this message.
    func send(_ message: ComposedMessage, leaving draft: ComposerDraft) async throws {
        if let command = executedCommand(in: message) { return try await onCommand(command) }
        let messages = WrittenMessage.messages(for: message, as: command(in: message)?.messageCommand)
        let saved = try await DraftWriter.saved(draft)
        try await service.send(messages.map { (makeTransactionID(), $0) }, to: roomID, leaving: saved)
    }

    func edit(_ id: MessageID, to message: ComposedMessage) async throws {
        try await service.edit(id, in: roomID, to: message.text)
    }
}

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
