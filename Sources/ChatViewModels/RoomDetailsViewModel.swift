public import ChatCore
public import Observation

/// A room's name, topic and members, to be looked at and changed.
@Observable
public final class RoomDetailsViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var name: String
        /// What the room is about; empty if nobody said.
        public var topic = ""
        /// Who is there, and who is asked in; as far as is known.
        public var entries: [RoomMembers.Entry] = []
        public var permissions: RoomMembers.Permissions = []
        /// Under which others find the room; nil without one.
        public var address: String?
        /// Whether the server is being asked who is there.
        public var isLoading = false
        public var hasTopic = false
        public var canInvite = false
        /// Why the last action was not carried out.
        public var error: ChatError?

        /// How many are there.
        public var memberCount: Int { entries.count { !$0.isInvited } }
        public var canRename: Bool { permissions.contains(.rename) }
        public var canSetTopic: Bool { permissions.contains(.setTopic) }
    }

    public nonisolated enum Action: Equatable, Sendable {
        case rename(String)
        case setTopic(String)
        case remove(MemberID)
        /// Somebody was asked in.
        case invited([User])
    }

    public typealias Service = RoomService & TimelineService & RoomCapabilityService & RoomMembersService

    public let roomID: RoomID
    public private(set) var state: State
    /// Told of each action that was not carried out.
    @ObservationIgnored public var onFailure: ((ChatError) -> Void)?
    @ObservationIgnored private let service: any Service
    @ObservationIgnored private var listening: Task<Void, Never>?
    @ObservationIgnored private var hasLoadedMembers = false
    /// Actions are carried out in the order in which they were sent.
    @ObservationIgnored private let queue = DeliveryQueue()

    public init(room: RoomID, name: String, service: any Service) {
        roomID = room
        state = State(name: name, hasTopic: service.capabilities.contains(.topic))
        self.service = service
    }

    isolated deinit { listening?.cancel() }

    /// Begins to follow the members.
    public func start() {
        guard listening == nil else { return }
        let stream = service.timeline(of: roomID, limit: 1)
        let needsServerMembers = service.capabilities.contains(.memberList)
        state.isLoading = needsServerMembers
        // Where nobody has more of a say than others, everybody may do everything.
        if !needsServerMembers { state.permissions = [.rename, .setTopic] }
        listening = Task { [weak self] in
            for await update in stream {
                guard let self else { return }
                switch update {
                case .opened(_, let members, _), .members(let members): self.show(members)
                case .membersChanged(let members): self.change(members)
                default: break
                }
            }
        }
        Task { [weak self, service, roomID] in
            let topic = service.capabilities.contains(.topic) ? (try? await service.topic(of: roomID)) ?? "" : ""
            self?.state.topic = topic
            guard needsServerMembers else { return }
            do {
                self?.show(try await service.members(of: roomID))
            } catch {
                self?.fail(error)
            }
            self?.state.isLoading = false
        }
    }

    /// View model of a dialog that asks people in; nil where the user may not.
    public func inviting() -> InviteViewModel? {
        guard state.canInvite else { return nil }
        let invite = InviteViewModel(room: roomID, service: service, excluding: Set(state.entries.map(\.id)))
        invite.onDone = { [weak self] in self?.send(.invited($0)) }
        invite.onFailure = onFailure
        return invite
    }

    public func send(_ action: Action) {
        if case .invited(let users) = action { return add(users) }
        queue.add { [weak self, service, roomID] in
            do {
                switch action {
                case .rename(let typed):
                    guard let name = RoomName.valid(typed) else { throw ChatError.invalidName }
                    try await service.renameRoom(roomID, to: name)
                    self?.state.name = name
                case .setTopic(let typed):
                    let topic = typed.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    try await service.setTopic(topic.isEmpty ? nil : topic, of: roomID)
                    self?.state.topic = topic
                case .remove(let member):
                    try await service.removeMember(member, from: roomID)
                    self?.state.entries.removeAll { $0.id == member }
                case .invited: break
                }
                self?.state.error = nil
            } catch {
                self?.fail(error)
            }
        }
    }

    private func fail(_ error: any Error) {
        let error = ChatError(error)
        state.error = error
        onFailure?(error)
    }

    // MARK: Who is there

    private func show(_ roomMembers: RoomMembers) {
        hasLoadedMembers = true
        state.entries = roomMembers.entries
        state.permissions = roomMembers.permissions
        state.address = roomMembers.address
        state.canInvite = roomMembers.permissions.contains(.invite)
    }

    /// What this computer knows, until the server has said more.
    private func show(_ members: [Member]) {
        guard !hasLoadedMembers else { return }
        state.entries = members.filter { !$0.hasLeft }.map { member in
            // Of a room on this computer everyone but oneself can be taken out.
            RoomMembers.Entry(member, canBeRemoved: member.kind != .own && !service.capabilities.contains(.memberList))
        }
    }

    private func change(_ members: [Member]) {
        var entries = state.entries
        for member in members {
            let index = entries.firstIndex { $0.id == member.id }
            if let index, member.hasLeft {
                // Who was asked in is not there yet, and stays in the list.
                if !entries[index].isInvited { entries.remove(at: index) }
            } else if let index {
                entries[index].member = member
                entries[index].isInvited = false
            } else if !member.hasLeft {
                entries.append(RoomMembers.Entry(member))
            }
        }
        state.entries = entries
    }

    private func add(_ users: [User]) {
        for user in users where !state.entries.contains(where: { $0.id == user.id }) {
            let member = Member(
                id: user.id, displayName: user.title, kind: .person, hasLeft: true, avatar: user.avatar)
            state.entries.append(RoomMembers.Entry(member, isInvited: true, canBeRemoved: true))
        }
    }
}

/// Whether a text will do as a room's name.
public nonisolated enum RoomName {
    /// The name as it is stored: on one line, without white space around it or in a row; nil if nothing is left or
    /// it is longer than ``ChatLimits/roomNameLength``.
    public static func valid(_ text: String) -> String? { ChatLimits.roomName(from: text) }
}
