public import ChatCore
public import Composer
import Foundation

extension WrittenMessage {
    /// Creates a message without marks.
    public init(
        _ source: String, kind: Message.Kind = .text, files: [MediaReference] = [], replyTo: MessageID? = nil
    ) {
        self.init(WrittenText(source), kind: kind, files: files, reply: replyTo.map { Reply(to: $0) })
    }
}

extension WrittenText {
    /// - Parameter mentions: targets by text; the first occurrence of each text becomes the mention.
    public init(_ source: String, mentioning mentions: [String: MentionTarget]) {
        let marks = mentions.map { text, target in
            let range = source.range(of: text)!
            let start = source.utf16.distance(from: source.startIndex, to: range.lowerBound)
            return Mark(.mention(target), over: TextRange(location: start, length: text.utf16.count))
        }
        self.init(source, marks: marks)!
    }
}

extension MessageService {
    @discardableResult
    public func send(
        _ outgoing: (transaction: TransactionID, message: WrittenMessage), to room: RoomID
    ) async throws -> Message {
        try await send(outgoing.message, as: outgoing.transaction, to: room)
    }

    public func edit(_ message: MessageID, in room: RoomID, text: String) async throws {
        try await edit(message, in: room, to: WrittenText(text))
    }
}
