public import ChatCore
import Synchronization

/// Records what is asked of it; tells the summaries that it is given.
public final class FakeRoomService: RoomService {
    public enum Call: Equatable, Sendable {
        case create(String), rename(RoomID, String), leave(RoomID), remove(MemberID, RoomID)
    }

    private let recorded = Mutex<[Call]>([])
    private let failure: ChatError?
    private let stream: AsyncStream<[RoomSummary]>
    private let continuation: AsyncStream<[RoomSummary]>.Continuation

    public init(failing failure: ChatError? = nil) {
        self.failure = failure
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    public var calls: [Call] { recorded.withLock { $0 } }
    public func tell(_ rooms: [RoomSummary]) { continuation.yield(rooms) }
    public func roomSummaries() -> AsyncStream<[RoomSummary]> { stream }

    public func createRoom(named name: String) async throws -> RoomID {
        try record(.create(name))
        return RoomID(name)
    }

    public func renameRoom(_ room: RoomID, to name: String) async throws { try record(.rename(room, name)) }
    public func leaveRoom(_ room: RoomID) async throws { try record(.leave(room)) }
    public func removeMember(_ member: MemberID, from room: RoomID) async throws { try record(.remove(member, room)) }

    private func record(_ call: Call) throws {
        recorded.withLock { $0.append(call) }
        if let failure { throw failure }
    }
}
