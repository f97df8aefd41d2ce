public import ChatCore
import Composer
import Foundation
import MessageMarkup

/// Forwards messages of an open room to another one.
public struct MessageForwarder {
    let service: any ChatService
    let translator: Translator
    let rooms: RoomListViewModel
    let source: RoomID
    let requests: WindowRequests

    /// The rooms whose names contain the search text, in list order; all rooms if it is empty.
    public func destinations(matching typed: String) -> [RoomListViewModel.Row] {
        let query = typed.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !query.isEmpty else { return rooms.state.rows }
        return rooms.state.rows.filter { $0.name.localizedStandardContains(query) }
    }

    /// Sends messages of the room with their files to another room, in timeline order, skipping deleted ones.
    public func forward(_ messages: [MessageID], to room: RoomID) {
        let name = rooms.state.rows.first { $0.id == room }?.name ?? room.rawValue
        // Created once, so that a retried request does not send a message twice.
        let transactions = messages.map { _ in TransactionID(UUID().uuidString) }
        Task {
            do {
                guard try await staysEncrypted(in: room) else {
                    return requests.show(
                        .message(translator("Messages in encrypted rooms can only be forwarded to encrypted rooms")))
                }
                let found = try await service.messages(messages, in: source).sorted { $0.position < $1.position }
                let remaining = found.filter(\.hasContent)
                guard !remaining.isEmpty else { throw ChatError.notFound }
                let readsPlainTexts = service.capabilities.contains(.plainTexts)
                for (message, transaction) in zip(remaining, transactions) {
                    let copy = WrittenMessage(forwarding: message, readsPlainTexts: readsPlainTexts)
                    try await service.send(copy, as: transaction, to: room)
                }
                requests.show(.message(translator("Forwarded to {room}", ["room": name])))
            } catch {
                requests.show(.failed(ChatError(error)))
            }
        }
    }

    /// Whether nothing that was encrypted would leave in the clear.
    private func staysEncrypted(in room: RoomID) async throws -> Bool {
        guard try await service.isEncrypted(source) else { return true }
        return try await service.isEncrypted(room)
    }
}

nonisolated extension WrittenMessage {
    /// A forwarded copy, which does not notify the users it mentions.
    ///
    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    init(forwarding message: Message, readsPlainTexts: Bool) {
        let text =
            message.written ?? message.formattedText.flatMap { MessageMarkup.written(html: $0).text.unlessBlank }
            ?? WrittenText(message.text, syntax: message.textSyntax(readsPlainTexts: readsPlainTexts))
        self.init(text, kind: message.kind, files: message.attachments, origin: .forwarded)
    }
}
