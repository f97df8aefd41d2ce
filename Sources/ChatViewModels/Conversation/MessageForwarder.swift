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
    let ongoingWork: OngoingWork

    /// The rooms whose names contain the search text, in list order; all rooms if it is empty.
    public func destinations(matching typed: String) -> [RoomListViewModel.Row] {
        let query = typed.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        guard !query.isEmpty else { return rooms.state.rows }
        return rooms.state.rows.filter { $0.name.localizedStandardContains(query) }
    }

    /// Says why the user certainly cannot send messages to a room, as is said there in place of the composer; `nil`
    /// otherwise.
    public func obstacle(in room: RoomID) async -> String? {
        await SendingObstacle.of(room, in: service)?.text(translator)
    }

    /// Sends messages of the room with their files to another room, in timeline order, skipping deleted ones: all of
    /// them or none. If encrypted messages would be sent unencrypted, the window asks first.
    public func forward(_ messages: [MessageID], to room: RoomID) {
        perform {
            // The server would reject them only once they are queued.
            if let obstacle = await obstacle(in: room) { return requests.show(.message(obstacle)) }
            guard try await staysEncrypted(in: room) else {
                let forwarding = UnencryptedForwarding(
                    messages: messages, source: source, destination: room, name: name(of: room))
                return requests.add(.confirmForwarding(forwarding))
            }
            try await send(messages, to: room)
        }
    }

    /// Sends the messages unencrypted, as the user has confirmed. Encrypted files are decrypted and uploaded again.
    public func forward(_ confirmed: UnencryptedForwarding) {
        perform { try await send(confirmed.messages, to: confirmed.destination, isUnencrypted: true) }
    }

    private func perform(_ work: @escaping () async throws -> Void) {
        Task {
            do { try await ongoingWork.run(work) } catch { requests.show(.failed(ChatError(error))) }
        }
    }

    private func send(_ messages: [MessageID], to room: RoomID, isUnencrypted: Bool = false) async throws {
        let found = try await service.messages(messages, in: source).sorted { $0.position < $1.position }
        let remaining = found.filter(\.hasContent)
        guard !remaining.isEmpty else { throw ChatError.notFound }
        let readsPlainTexts = service.capabilities.contains(.plainTexts)
        // Queued in one step: if one failed behind another, a retry would forward the first one again.
        var copies: [(transaction: TransactionID, message: WrittenMessage)] = []
        for message in remaining {
            var copy = WrittenMessage(forwarding: message, readsPlainTexts: readsPlainTexts)
            if isUnencrypted {
                for index in copy.files.indices {
                    copy.files[index] = try await service.unencrypted(copy.files[index])
                }
            }
            copies.append((TransactionID(UUID().uuidString), copy))
        }
        try await service.send(copies, to: room)
        requests.show(.message(translator("Forwarded to {room}", ["room": name(of: room)])))
    }

    private func name(of room: RoomID) -> String {
        rooms.state.rows.first { $0.id == room }?.name ?? room.rawValue
    }

    /// Whether no encrypted message would be sent unencrypted.
    private func staysEncrypted(in room: RoomID) async throws -> Bool {
        guard try await service.isEncrypted(source) else { return true }
        return try await service.isEncrypted(room)
    }
}

/// Messages of an encrypted room to be forwarded to an unencrypted one.
public nonisolated struct UnencryptedForwarding: Equatable, Sendable {
    public let messages: [MessageID]
    public let source: RoomID
    public let destination: RoomID
    /// The name of the destination.
    let name: String

    public func confirmation(_ translator: Translator) -> ConfirmationText {
        ConfirmationText(
            heading: translator("Forward Without Encryption?"),
            body: translator.plural(
                "“{room}” is not encrypted. The message and its files will no longer be encrypted there.",
                "“{room}” is not encrypted. The messages and their files will no longer be encrypted there.",
                messages.count, ["room": name]),
            action: translator("_Forward"))
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
