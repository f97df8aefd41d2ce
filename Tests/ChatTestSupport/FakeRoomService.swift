public import ChatCore
import Synchronization

/// Records calls; publishes the summaries and invitations that a test sets.
public final class FakeRoomService: RoomService, InvitationService {
    public enum Call: Equatable, Sendable {
        case create(String), rename(RoomID, String), leave(RoomID), remove(MemberID, RoomID)
        case accept(RoomID), decline(RoomID)
        case setMarkedUnread(RoomID, Bool), markAllRead(RoomID)
    }

    private let recorded = Mutex<[Call]>([])
    private let failure: ChatError?
    private let invited = AsyncStream.makeStream(of: [Invitation].self, bufferingPolicy: .bufferingNewest(1))
    private let stream: AsyncStream<[RoomSummary]>
    private let continuation: AsyncStream<[RoomSummary]>.Continuation

    public init(failing failure: ChatError? = nil) {
        self.failure = failure
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    public var calls: [Call] { recorded.withLock { $0 } }
    public func publish(_ rooms: [RoomSummary]) { continuation.yield(rooms) }
    public func publish(_ invitations: [Invitation]) { invited.continuation.yield(invitations) }
    public func invitations() -> AsyncStream<[Invitation]> { invited.stream }
    public func accept(_ invitation: RoomID) async throws { try record(.accept(invitation)) }
    public func decline(_ invitation: RoomID) async throws { try record(.decline(invitation)) }
    public func roomSummaries() -> AsyncStream<[RoomSummary]> { stream }

    public func createRoom(named name: String) async throws -> RoomID {
        try record(.create(name))
        return RoomID(name)
    }

    public func renameRoom(_ room: RoomID, to name: String) async throws { try record(.rename(room, name)) }
    public func leaveRoom(_ room: RoomID) async throws { try record(.leave(room)) }
    public func removeMember(_ member: MemberID, from room: RoomID) async throws { try record(.remove(member, room)) }
    public func setMarkedUnread(_ isMarkedUnread: Bool, in room: RoomID) async throws {
        try record(.setMarkedUnread(room, isMarkedUnread))
    }
    public func markAllRead(in room: RoomID) async throws { try record(.markAllRead(room)) }

    private func record(_ call: Call) throws {
        recorded.withLock { $0.append(call) }
        if let failure { throw failure }
    }
}
