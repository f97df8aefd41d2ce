public import ChatCore

/// The contract of every backend, as cases that each run on a fresh account.
///
/// A case creates its own rooms and throws ``Violation`` if the backend breaks the contract.
public struct BackendContract: Sendable, CustomStringConvertible {
    public struct Violation: Error, CustomStringConvertible {
        public let description: String
    }

    public let description: String
    /// Runs the case.
    public let run: @Sendable (any ChatService) async throws -> Void

    init(_ description: String, _ run: @escaping @Sendable (any ChatService) async throws -> Void) {
        self.description = description
        self.run = run
    }

    public static let all = rooms + messages + timelines + media + pages + annotations + written

    static func expect(_ condition: Bool, _ message: String, line: Int = #line) throws {
        if !condition { throw Violation(description: "line \(line): \(message)") }
    }

    static func require<T>(_ value: T?, _ message: String, line: Int = #line) throws -> T {
        guard let value else { throw Violation(description: "line \(line): \(message)") }
        return value
    }

    static func expect(
        _ error: ChatError, line: Int = #line, from operation: () async throws -> Void
    ) async throws {
        do {
            try await operation()
        } catch let thrown as ChatError where thrown == error {
            return
        } catch {
            throw Violation(description: "line \(line): threw \(error)")
        }
        throw Violation(description: "line \(line): threw nothing instead of \(error)")
    }

    /// The room's summary in the first update where it satisfies the condition.
    static func summary(
        of room: RoomID, in backend: any ChatService, where condition: (RoomSummary) -> Bool = { _ in true }
    ) async -> RoomSummary? {
        var summaries = backend.roomSummaries().makeAsyncIterator()
        return await summaries.next { rooms in rooms.first { $0.id == room }.map(condition) ?? false }?
            .first { $0.id == room }
    }

    /// Waits until the timeline publishes the message as acknowledged.
    static func sent(
        _ transaction: TransactionID, in updates: inout AsyncStream<TimelineUpdate>.Iterator
    ) async throws -> Message {
        while let update = await updates.next(isolation: #isolation) {
            let messages: [Message] =
                switch update {
                case .opened(let page, _, _): page.messages
                case .changed(let messages): messages
                default: []
                }
            if let message = messages.first(where: { $0.transactionID == transaction && $0.delivery == .sent }) {
                return message
            }
        }
        throw Violation(description: "the timeline ended before \(transaction) was sent")
    }
}
