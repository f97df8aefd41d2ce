public import ChatCore
public import Observation

/// A room's details: its name, topic and members.
@Observable
public final class RoomDetailsViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        public var name: String
        public var kind = Room.Kind.group
        /// The avatar URI, or `nil` if there is none.
        public var avatar: String?
        /// The topic; empty if none is set.
        public var topic = ""
        /// The joined and invited members known so far.
        public var entries: [RoomMembers.Entry] = []
        /// The text to search the members for.
        public var query = ""
        public var permissions: RoomMembers.Permissions = []
        /// The canonical alias, or `nil` if there is none.
        public var address: String?
        /// Whether the member list is being fetched from the server.
        public var isLoading = false
        public var hasTopic = false
        public var canInvite = false
        /// Whether the account supports notification settings.
        public var hasNotifications = false
        /// The room's own rule for notifications; `nil` for the account's defaults.
        public var notifications: RoomNotificationRule?
        /// Whether the room is encrypted; `nil` if that is not known.
        public var isEncrypted: Bool?
        /// Whether the account can encrypt.
        var supportsEncryption = false
        /// Whether encryption is being turned on.
        public var isEncrypting = false
        /// Why the last action failed.
        public var error: ChatError?

        /// The maximum number of listed members; others are found by search.
        static let maxListed = 30

        /// Whether there are more members than are listed.
        public var needsSearch: Bool { entries.count > Self.maxListed }
        /// The members to list.
        public var listed: [RoomMembers.Entry] { Array(found.prefix(Self.maxListed)) }
        /// The number of members found that are not listed.
        public var unlistedCount: Int { max(0, found.count - Self.maxListed) }

        private var found: [RoomMembers.Entry] {
            guard needsSearch, !query.isEmpty else { return entries }
            let query = query.lowercased()
            return entries.filter {
                $0.member.displayName.lowercased().contains(query) || $0.id.rawValue.contains(query)
            }
        }

        /// The number of joined members.
        public var memberCount: Int { entries.count { !$0.isInvited } }
        public var canRename: Bool { permissions.contains(.rename) }
        public var canSetTopic: Bool { hasTopic && permissions.contains(.setTopic) }
        public var isNameInvalid: Bool { error == .invalidName }
        /// Whether the user may enable encryption, which cannot be disabled again.
        public var canEncrypt: Bool {
            isEncrypted == false && supportsEncryption && !isEncrypting && permissions.contains(.encrypt)
        }
    }

    public nonisolated enum Action: Equatable, Sendable {
        /// Searches among the members.
        case search(String)
        case rename(String)
        case setTopic(String)
        case remove(MemberID)
        /// Sets the notification rule; `nil` for the account's defaults.
        case notify(RoomNotificationRule?)
        /// Adds newly invited users to the list.
        case invited([User])
        /// Enables encryption, as the user has confirmed.
        case encrypt
    }

    public typealias Service = RoomService & TimelineService & RoomCapabilityService & RoomMembersService
        & NotificationSettingsService

    public let roomID: RoomID
    public private(set) var state: State
    @ObservationIgnored private let onFailure: (ChatError) -> Void
    @ObservationIgnored private var isAbandoned = false
    @ObservationIgnored private let service: any Service
    @ObservationIgnored private var listening: Task<Void, Never>?
    @ObservationIgnored private var notifying: Task<Void, Never>?
    @ObservationIgnored private var hasLoadedMembers = false
    /// Runs actions in the order in which they were sent.
    @ObservationIgnored private let queue = DeliveryQueue()
    /// The rules whose requests are queued or under way, in order.
    @ObservationIgnored private var requestedRules: [RoomNotificationRule?] = []
    /// The rule to show if a request fails: the last one from the server, or the last one that it accepted.
    @ObservationIgnored private var knownRule: RoomNotificationRule?
    /// The number of rules received from the server.
    @ObservationIgnored private var receivedRules = 0
    /// The number of errors shown so far.
    @ObservationIgnored private var errorCount = 0
    /// The action that failed last; `nil` if the members could not be loaded since.
    @ObservationIgnored private var failedAction: Action?

    /// - Parameters:
    ///   - avatar: the URI of the room's avatar, or `nil` if it has none.
    ///   - onFailure: receives an error that occurs after ``abandon()``. Until then, the state has it.
    public init(
        room: RoomID, name: String, kind: Room.Kind = .group, avatar: String? = nil, service: any Service,
        encryption: EncryptionCondition = .none, onFailure: @escaping (ChatError) -> Void = { _ in }
    ) {
        roomID = room
        self.onFailure = onFailure
        state = State(name: name, kind: kind, avatar: avatar, hasTopic: service.capabilities.contains(.topic))
        self.service = service
        state.supportsEncryption = encryption == .on
        state.hasNotifications = service.capabilities.contains(.notificationSettings)
    }

    isolated deinit {
        listening?.cancel()
        notifying?.cancel()
    }

    /// Subscribes to the members.
    public func start() {
        guard listening == nil else { return }
        let stream = service.timeline(of: roomID, limit: 1)
        let needsServerMembers = service.capabilities.contains(.memberList)
        state.isLoading = needsServerMembers
        // Without power levels, everything is permitted.
        if !needsServerMembers { state.permissions = [.rename, .setTopic] }
        listening = Task { [weak self] in
            for await update in stream {
                guard let self else { return }
                switch update {
                case .opened(_, let members, _), .members(let members): self.show(members)
                case .membersChanged(let members): self.change(members)
                case .encrypted: self.state.isEncrypted = true
                default: break
                }
            }
        }
        if state.hasNotifications {
            let settings = service.notificationSettings()
            notifying = Task { [weak self, roomID] in
                for await settings in settings { self?.receive(settings.rooms[roomID]) }
            }
        }
        readEncryption()
        Task { [weak self, service, roomID] in
            // If the topic cannot be read, show none. The field is sent only once the user has changed it.
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

    private func readEncryption() {
        Task { [weak self, service, roomID] in
            // If this cannot be read, the row stays hidden.
            guard let isEncrypted = try? await service.isEncrypted(roomID), let self else { return }
            // The timeline may have reported encryption meanwhile, which is never disabled.
            if state.isEncrypted != true { state.isEncrypted = isEncrypted }
        }
    }

    /// Returns the view model of the invitation dialog, or `nil` if the user may not invite.
    public func inviting() -> InviteViewModel? {
        guard state.canInvite else { return nil }
        return InviteViewModel(
            room: roomID, service: service, excluding: Set(state.entries.map(\.id)),
            onDone: { [weak self] in self?.send(.invited($0)) }, onFailure: onFailure)
    }

    public func send(_ action: Action) {
        switch action {
        case .invited(let users): add(users)
        case .search(let text): state.query = text
        case .notify(let rule) where rule == state.notifications: break
        case .notify(let rule):
            requestedRules.append(rule)
            state.notifications = rule
            enqueue(action)
        case .encrypt where !state.canEncrypt: break
        case .encrypt:
            state.isEncrypting = true
            enqueue(action)
        case .rename, .setTopic, .remove: enqueue(action)
        }
    }

    /// Call when the dialog is closed: pending actions are still performed.
    public func abandon() { isAbandoned = true }

    private func enqueue(_ action: Action) {
        queue.add { [weak self, service, roomID, onFailure, shown = errorCount] in
            do {
                switch action {
                case .rename(let typed):
                    guard let name = RoomName.valid(typed) else {
                        // Shown in the dialog, where the name is typed.
                        self?.show(.invalidName, of: action)
                        return
                    }
                    try await service.renameRoom(roomID, to: name)
                    self?.state.name = name
                case .setTopic(let typed):
                    let topic = typed.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                    try await service.setTopic(topic.isEmpty ? nil : topic, of: roomID)
                    self?.state.topic = topic
                case .remove(let member):
                    try await service.removeMember(member, from: roomID)
                    self?.state.entries.removeAll { $0.id == member }
                case .notify(let rule):
                    if let self {
                        try await self.setNotifications(rule)
                    } else {
                        try await service.setNotificationRule(rule, of: roomID)
                    }
                case .encrypt:
                    if let self {
                        try await self.encrypt()
                    } else {
                        try await service.enableEncryption(in: roomID)
                    }
                case .invited, .search: break
                }
                self?.clearError(after: action, shown)
            } catch {
                // It may be gone with its dialog.
                guard let self else { return onFailure(ChatError(error)) }
                self.fail(error, of: action)
            }
        }
    }

    private func setNotifications(_ rule: RoomNotificationRule?) async throws {
        defer {
            requestedRules.removeFirst()
            showRule()
        }
        let before = receivedRules
        try await service.setNotificationRule(rule, of: roomID)
        // What the sync has delivered meanwhile is newer.
        if receivedRules == before { knownRule = rule }
    }

    private func receive(_ rule: RoomNotificationRule?) {
        receivedRules += 1
        knownRule = rule
        showRule()
    }

    /// Displays the rule that was requested last before the sync reports it: a row that showed an earlier one meanwhile
    /// would request that again.
    private func showRule() {
        let shown: RoomNotificationRule? = requestedRules.last ?? knownRule
        if shown != state.notifications { state.notifications = shown }
    }

    private func encrypt() async throws {
        defer { state.isEncrypting = false }
        try await service.enableEncryption(in: roomID)
        state.isEncrypted = true
    }

    private func fail(_ error: any Error, of action: Action? = nil) {
        let error = ChatError(error)
        show(error, of: action)
        if isAbandoned { onFailure(error) }
    }

    private func show(_ error: ChatError, of action: Action?) {
        errorCount += 1
        failedAction = action
        state.error = error
    }

    /// Removes the error once an action has succeeded that the user sent after seeing it, or that repeats what failed.
    /// That of another action, which was ahead in the queue, stays.
    /// - Parameter count: the number of errors shown before the action was sent.
    private func clearError(after action: Action, _ count: Int) {
        if errorCount == count || failedAction.map(action.repeats) == true { state.error = nil }
    }

    // MARK: Members

    private func show(_ roomMembers: RoomMembers) {
        hasLoadedMembers = true
        state.entries = roomMembers.entries
        state.permissions = roomMembers.permissions
        state.address = roomMembers.address
        state.canInvite = roomMembers.permissions.contains(.invite)
    }

    /// Shows locally known members until the server's list has arrived.
    private func show(_ members: [Member]) {
        guard !hasLoadedMembers else { return }
        state.entries = members.filter { !$0.hasLeft }.map { member in
            // In a local room, everyone but the user can be removed.
            RoomMembers.Entry(member, canBeRemoved: member.kind != .own && !service.capabilities.contains(.memberList))
        }
    }

    private func change(_ members: [Member]) {
        var entries = state.entries
        for member in members {
            let index = entries.firstIndex { $0.id == member.id }
            if let index, member.hasLeft {
                // Invited members count as absent but stay in the list.
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

nonisolated extension RoomDetailsViewModel.Action {
    /// Whether the action changes what another one was to change.
    fileprivate func repeats(_ other: Self) -> Bool {
        switch (self, other) {
        case (.rename, .rename), (.setTopic, .setTopic), (.notify, .notify): true
        default: self == other
        }
    }
}

/// Validates room names.
public nonisolated enum RoomName {
    /// Returns the name as stored: on one line, with white space trimmed and collapsed. Returns `nil` if it is empty or
    /// longer than ``ChatLimits/roomNameLength``.
    public static func valid(_ text: String) -> String? { ChatLimits.roomName(from: text) }
}
