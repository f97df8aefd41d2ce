public import ChatCore
import Synchronization

/// Records calls; publishes the updates that a test sets and returns a fixed older page.
public final class FakeTimelineService: TimelineService {
    public enum Call: Equatable, Sendable {
        case open(RoomID, limit: Int), page(RoomID, before: Int64, limit: Int), markRead(MessageID, RoomID)
        case pageAfter(RoomID, Int64, limit: Int), pageAround(RoomID, TimelineTarget, limit: Int)
    }

    private let recorded = Mutex<[Call]>([])
    private let older: TimelinePage
    private let stream: AsyncStream<TimelineUpdate>
    private let continuation: AsyncStream<TimelineUpdate>.Continuation

    public init(older: TimelinePage = TimelinePage(messages: [], hasOlder: false)) {
        self.older = older
        (stream, continuation) = AsyncStream.makeStream()
    }

    public var calls: [Call] { recorded.withLock { $0 } }
    public func publish(_ update: TimelineUpdate) { continuation.yield(update) }

    public func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        recorded.withLock { $0.append(.open(room, limit: limit)) }
        return stream
    }

    public func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        recorded.withLock { $0.append(.page(room, before: position, limit: limit)) }
        return older
    }

    public func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        recorded.withLock { $0.append(.pageAfter(room, position, limit: limit)) }
        return TimelinePage(messages: [], hasOlder: true)
    }

    public func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        recorded.withLock { $0.append(.pageAround(room, target, limit: limit)) }
        throw ChatError.notFound
    }

    public func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] { [] }

    public func markRead(_ message: MessageID, in room: RoomID) async throws {
        recorded.withLock { $0.append(.markRead(message, room)) }
    }
}
