public import ChatCore
public import Composer
import Synchronization

/// Records calls; a sent message comes back as the next message.
public final class FakeMessageService: MessageService {
    public enum Call: Equatable, Sendable {
        case send(WrittenMessage, TransactionID, RoomID)
        case edit(MessageID, RoomID, WrittenText), delete(MessageID, RoomID)
        case retry(TransactionID?, RoomID), discard(TransactionID?, RoomID)
        case typing(Bool, RoomID)
    }

    private let recorded = Mutex<[Call]>([])
    private let failure: ChatError?

    public init(failing failure: ChatError? = nil) { self.failure = failure }

    public var calls: [Call] { recorded.withLock { $0 } }

    public func send(
        _ message: WrittenMessage, as transaction: TransactionID, to room: RoomID
    ) async throws -> Message {
        let position = try record(.send(message, transaction, room))
        return Fixtures.message(Int64(position), in: room.rawValue, text: message.text.source)
    }

    public func send(
        _ messages: [(transaction: TransactionID, message: WrittenMessage)], to room: RoomID, leaving draft: SavedDraft?
    ) async throws {
        for (transaction, message) in messages { try record(.send(message, transaction, room)) }
    }

    public func edit(_ message: MessageID, in room: RoomID, to text: WrittenText) async throws {
        try record(.edit(message, room, text))
    }

    public func retry(_ transaction: TransactionID?, in room: RoomID) async throws {
        try record(.retry(transaction, room))
    }
    public func discard(_ transaction: TransactionID?, in room: RoomID) async throws {
        try record(.discard(transaction, room))
    }
    public func delete(_ message: MessageID, in room: RoomID) async throws { try record(.delete(message, room)) }
    /// Reports no error, as in a backend.
    public func setTyping(_ isTyping: Bool, in room: RoomID) async { _ = try? record(.typing(isTyping, room)) }

    @discardableResult
    private func record(_ call: Call) throws -> Int {
        let count = recorded.withLock { calls in
            calls.append(call)
            return calls.count
        }
        if let failure { throw failure }
        return count
    }
}
