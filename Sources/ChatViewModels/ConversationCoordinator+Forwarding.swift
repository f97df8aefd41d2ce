public import ChatCore
import Composer
import Foundation
import MessageMarkup

/// Passing on to one room what was said in another.
extension ConversationCoordinator {
    /// The rooms whose names contain what is typed, in the order of the list; all for an empty text.
    public func destinations(matching typed: String) -> [RoomListViewModel.Row] {
        let query = typed.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !query.isEmpty else { return rooms.state.rows }
        return rooms.state.rows.filter { $0.name.localizedStandardContains(query) }
    }

    /// Sends messages of the open room to another, in the order in which they were said, with their files. Those that
    /// were deleted meanwhile are left out.
    public func forward(_ messages: [MessageID], to room: RoomID) {
        guard let open = conversation else { return }
        let source = open.roomID
        let name = rooms.state.rows.first { $0.id == room }?.name ?? room.rawValue
        // Once each, however often one of them has to be tried.
        let transactions = messages.map { _ in TransactionID(UUID().uuidString) }
        Task { [weak self, service] in
            do {
                let found = try await service.messages(messages, in: source).sorted { $0.position < $1.position }
                let remaining = found.filter { !$0.isDeleted }
                guard !remaining.isEmpty else { throw ChatError.notFound }
                let readsPlainTexts = service.capabilities.contains(.plainTexts)
                for (message, transaction) in zip(remaining, transactions) {
                    let copy = WrittenMessage(forwarding: message, readsPlainTexts: readsPlainTexts)
                    try await service.send(copy, as: transaction, to: room)
                }
                self?.notifyForwarded(to: name)
            } catch {
                self?.onToast?(.failed(ChatError(error)))
            }
        }
    }

    private func notifyForwarded(to name: String) {
        onToast?(.message(translator("Forwarded to %s").replacing("%s", with: name)))
    }
}

nonisolated extension WrittenMessage {
    /// Another's words as they are read here: nobody is told of them anew.
    ///
    /// - Parameter readsPlainTexts: see ``BackendCapabilities/plainTexts``.
    init(forwarding message: Message, readsPlainTexts: Bool) {
        let text =
            message.written ?? message.formattedText.flatMap { MessageMarkup.written(html: $0).text.unlessBlank }
            ?? WrittenText(message.text, syntax: message.textSyntax(readsPlainTexts: readsPlainTexts))
        self.init(text, kind: message.kind, files: message.attachments, origin: .forwarded)
    }
}
