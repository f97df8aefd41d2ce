public import ChatCore
public import Observation

/// A room's name and members, to be looked at and changed.
@Observable
public final class RoomDetailsViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var name: String
        /// Those who are there.
        public var members: [Member] = []
        /// Why the last action was not carried out.
        public var error: ChatError?

        /// Everyone who is there but oneself can be removed from a local room.
        public func canRemove(_ member: Member) -> Bool { member.kind != .own && !member.hasLeft }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case rename(String)
        case remove(MemberID)
    }

    public let roomID: RoomID
    public private(set) var state: State
    @ObservationIgnored private let service: any RoomService & TimelineService
    @ObservationIgnored private var listening: Task<Void, Never>?
    /// Actions are carried out in the order in which they were sent.
    @ObservationIgnored private let queue = DeliveryQueue()

    public init(room: RoomID, name: String, service: any RoomService & TimelineService) {
        roomID = room
        state = State(name: name)
        self.service = service
    }

    isolated deinit { listening?.cancel() }

    /// Begins to follow the members.
    public func start() {
        guard listening == nil else { return }
        let stream = service.timeline(of: roomID, limit: 1)
        listening = Task { [weak self] in
            for await update in stream {
                guard let self else { return }
                switch update {
                case .opened(_, let members, _), .members(let members):
                    self.state.members = members.filter { !$0.hasLeft }
                default: break
                }
            }
        }
    }

    public func send(_ action: Action) {
        queue.add { [weak self, service, roomID] in
            do {
                switch action {
                case .rename(let typed):
                    guard let name = RoomName.valid(typed) else { throw ChatError.invalidName }
                    try await service.renameRoom(roomID, to: name)
                    self?.state.name = name
                case .remove(let member): try await service.removeMember(member, from: roomID)
                }
                self?.state.error = nil
            } catch {
                self?.state.error = ChatError(error)
            }
        }
    }
}

/// Whether a text will do as a room's name.
public nonisolated enum RoomName {
    /// The name as it is stored: on one line, without white space around it or in a row; nil if nothing is left or
    /// it is longer than ``ChatLimits/roomNameLength``.
    public static func valid(_ text: String) -> String? { ChatLimits.roomName(from: text) }
}
