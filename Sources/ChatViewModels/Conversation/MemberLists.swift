import ChatCore
import ComposerSessions
import Observation

/// Requests a room's whole member list from the server when it is first needed, and records what it permits the
/// user.
final class MemberLists {
    /// The longest time that completion waits for a list.
    static let maxWait = Duration.seconds(10)

    private let service: any ChatService
    private let openRooms: OpenRooms
    private let time: Timekeeper
    /// The requests for rooms since they were opened, also those that have succeeded.
    private var requests: [RoomID: MemberListRequest] = [:]
    /// Rooms in which power levels allow the user to notify everyone.
    private var notifiable: Set<RoomID> = []

    init(service: any ChatService, openRooms: OpenRooms, time: Timekeeper) {
        self.service = service
        self.openRooms = openRooms
        self.time = time
    }

    /// Requests the list, once each time the room is opened.
    ///
    /// - Returns: a task that ends when the request has failed or the room's timeline has the members, or else
    ///   ``maxWait`` after the request; `nil` if that has happened, or there is no list to request.
    @discardableResult
    func load(_ room: RoomID) -> Task<Void, Never>? {
        guard service.capabilities.contains(.memberList) else { return nil }
        if let request = requests[room] { return request.waiting }
        let request = MemberListRequest()
        requests[room] = request
        Task { [weak self, service, openRooms, time] in
            do {
                let members = try await service.members(of: room)
                self?.note(members.permissions, in: room)
                // The members arrive with the updates of the timeline, which may not have been handled yet.
                let joined = members.entries.filter { !$0.isInvited }.map(\.id)
                await time.wait(atMost: Self.maxWait) {
                    guard let timeline = openRooms.conversation(in: room)?.timeline else { return true }
                    return joined.allSatisfy { timeline.member($0) != nil }
                }
            } catch {
                // Completion does without the missing members; the next mention requests the list again.
                self?.forget(request, of: room)
            }
            request.hasEnded = true
        }
        let waiting = Task { [time] in
            await time.wait(atMost: Self.maxWait) { request.hasEnded }
            request.waiting = nil
        }
        request.waiting = waiting
        return waiting
    }

    /// Makes the next opening of the room request the list again.
    func roomClosed(_ room: RoomID) { requests[room] = nil }

    /// Whether mentioning everyone notifies them. If the server decides, false until the member list is loaded.
    func mayNotifyEveryone(in room: RoomID) -> Bool {
        !service.capabilities.contains(.memberList) || notifiable.contains(room)
    }

    private func forget(_ request: MemberListRequest, of room: RoomID) {
        if requests[room] === request { requests[room] = nil }
    }

    private func note(_ permissions: RoomMembers.Permissions, in room: RoomID) {
        if permissions.contains(.notifyEveryone) { notifiable.insert(room) } else { notifiable.remove(room) }
    }
}

/// The request for one room's member list.
@Observable
final class MemberListRequest {
    /// Whether it has failed, or the room's timeline has the members.
    fileprivate(set) var hasEnded = false
    /// What completion waits for: see ``MemberLists/load(_:)``.
    @ObservationIgnored fileprivate(set) var waiting: Task<Void, Never>?
}
