import ChatCore
import Composer

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
        try? commands?.command(in: message.text.source)
    }

    /// Sends a message or executes a command.
    ///
    /// An image in the text splits it: the parts before and after become separate messages, in that order, as other
    /// clients can display them (MIB-20). They are stored all or none, so a retry sends no part twice.
    ///
    /// - Parameter draft: what to store as the draft in the same transaction: everything except this message.
    func send(_ message: ComposedMessage, leaving draft: ComposerDraft) async throws {
        let command = command(in: message)
        // A message with files is never a command: the text is their caption, and a command would drop the files.
        if let command, command.messageCommand == nil, message.attachments.isEmpty {
            try await onCommand(command)
            return
        }
        let messages = WrittenMessage.messages(for: message, as: command?.messageCommand)
        let saved = try await DraftWriter.saved(draft)
        try await service.send(messages.map { (makeTransactionID(), $0) }, to: roomID, leaving: saved)
    }

    func edit(_ id: MessageID, to message: ComposedMessage) async throws {
        try await service.edit(id, in: roomID, to: message.text)
    }
}
