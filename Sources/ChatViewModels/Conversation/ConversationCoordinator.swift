public import ChatCore
public import Composer
public import ComposerSessions
public import Foundation
import MessageMarkup
public import Observation

/// Owns the view models of one account and routes events between them.
@Observable
public final class ConversationCoordinator {
    public nonisolated enum OpenItem: Equatable, Sendable {
        case room(RoomID)
        case invitation(RoomID)
    }

    public let environment: ConversationEnvironment
    /// What the window is to show or ask.
    public let requests = WindowRequests()
    @ObservationIgnored public private(set) lazy var rooms = RoomListViewModel(
        service: environment.service, readsPlainTexts: environment.readsPlainTexts, now: environment.now
    ) { [weak self] in self?.receive($0) }
    /// Search across all rooms.
    @ObservationIgnored public private(set) lazy var search = SearchViewModel(
        service: environment.service, readsPlainTexts: environment.readsPlainTexts, now: environment.now,
        rooms: { [rooms] in rooms.state.rows },
        onShow: { [navigator] in navigator.show($0.message, in: $0.room) })
    /// The media service for the account's messages and avatars.
    public var media: any MediaService { environment.service }
    /// The open room.
    public var conversation: Conversation? { openRoom.conversation }
    /// The open invitation, shown instead of a room.
    public private(set) var invitation: InvitationViewModel?
    /// Which of the two is open, or `nil` if neither.
    public var openItem: OpenItem? {
        conversation.map { .room($0.roomID) } ?? invitation.map { .invitation($0.state.invitation.room) }
    }

    private let openRoom = OpenRoom()
    @ObservationIgnored private lazy var navigator = RoomNavigator(
        rooms: rooms, openRoom: openRoom, time: environment.time)
    @ObservationIgnored private lazy var performer = CommandPerformer(
        service: environment.service, translator: environment.translator, rooms: rooms, openRoom: openRoom,
        navigator: navigator, requests: requests)
    @ObservationIgnored private(set) lazy var members = MemberLists(service: environment.service)
    @ObservationIgnored private lazy var sources = ConversationSources(
        rooms: rooms, openRoom: openRoom, members: members, everyone: environment.completion?.everyone)
    @ObservationIgnored private lazy var composers = makeComposers()
    /// Whether a window shows the account, or will. Without one nothing is open: what is selected meanwhile opens with
    /// the next window.
    @ObservationIgnored private var hasWindow = true
    @ObservationIgnored private lazy var dayChangeMonitor = DayChangeMonitor(
        time: environment.time, now: environment.now
    ) { [rooms, openRoom] in
        rooms.send(.dayChanged)
        openRoom.conversation?.timeline.send(.context(.dayChanged))
    }

    public init(_ environment: ConversationEnvironment) {
        self.environment = environment
    }

    public convenience init(
        service: any ChatService, time: Timekeeper = .continuous, translator: Translator = .untranslated,
        now: @escaping () -> Date = { Date() }
    ) {
        self.init(ConversationEnvironment(service: service, time: time, now: now, translator: translator))
    }

    /// Subscribes to the room list, and opens a room once it is listed.
    public func start(opening room: RoomID?) {
        rooms.start(opening: room)
        if hasWindow { dayChangeMonitor.start() }
    }

    /// Opens what is selected, for a window that is about to show it.
    public func attachWindow() {
        guard !hasWindow else { return }
        hasWindow = true
        rooms.send(.dayChanged)
        dayChangeMonitor.start()
        if let selected = rooms.state.open { receive(selected) }
    }

    /// Closes what only a window shows. The composers stay, so that undo survives a closed window as it survives a visit
    /// to another room. Store the drafts first.
    public func detachWindow() {
        guard hasWindow else { return }
        hasWindow = false
        dayChangeMonitor.stop()
        search.send(.field(.close))
        close()
        sources.forgetMembers()
    }

    /// Returns when the room list is loaded and the open room has its messages and draft, so that a window presented
    /// then is complete and accepts input; at the latest after `limit`.
    public func waitUntilIdle(within limit: Duration) async {
        await environment.time.wait(atMost: limit) { [weak self] in self?.isIdle ?? true }
    }

    private var isIdle: Bool {
        guard rooms.state.isLoaded else { return false }
        guard let conversation else { return rooms.state.selection == nil || invitation != nil }
        return conversation.timeline.state.isLoaded && conversation.composer.state.isReady
    }

    // MARK: Actions

    /// Whether addresses of rooms and users outside the list can be resolved.
    public var acceptsAddresses: Bool { environment.service.capabilities.contains(.join) }

    /// Opens the target of an address or link: joins a room, jumps to a message or opens a direct chat.
    public func open(_ address: String) { performer.open(address) }

    /// Opens a room once it is listed, at a message.
    func show(_ message: MessageID?, in room: RoomID) { navigator.show(message, in: room) }

    /// Opens a room once it is listed, and begins a reply to one of its messages.
    func reply(to message: MessageID, in room: RoomID) { navigator.show(message, in: room, replies: true) }

    /// Asks the user whether to leave a room.
    public func requestLeaving(_ room: RoomID) { performer.requestLeaving(room) }

    /// Restores a cleared text, unless something was written since.
    public func undoClearing(_ room: RoomID) { composers[room]?.undoClearing() }

    public var dialogs: RoomDialogs {
        RoomDialogs(service: environment.service, rooms: rooms, openRoom: openRoom, requests: requests)
    }

    public var forwarder: MessageForwarder {
        MessageForwarder(
            service: environment.service, translator: environment.translator, rooms: rooms, openRoom: openRoom,
            requests: requests)
    }

    /// Stores all drafts and the scroll position; returns when they are stored.
    public func flushDrafts() async {
        await conversation?.timeline.flush()
        await composers.flush()
    }

    // MARK: Opening and closing

    private func receive(_ output: RoomListViewModel.Output) {
        switch output {
        case .opened(let room): if hasWindow { open(room) }
        case .invited(let invitation): if hasWindow { open(invitation) }
        case .closed: close()
        case .removed(let rooms): composers.remove(rooms)
        case .failed(let error): requests.show(.failed(error))
        }
    }

    private func open(_ room: RoomID) {
        guard conversation?.roomID != room else { return }
        close()
        let composer = composers.composer(of: room)
        let conversation = Conversation(
            roomID: room, composer: composer, environment: environment,
            onFailure: { [requests] in requests.show(.failed($0)) },
            onTimelineOutput: { [weak self, weak composer] in self?.receive($0, from: room, for: composer) })
        openRoom.conversation = conversation
        conversation.start()
        navigator.roomOpened()
    }

    private func open(_ newInvitation: Invitation) {
        if let invitation, invitation.state.invitation.room == newInvitation.room {
            return invitation.update(newInvitation)
        }
        close()
        invitation = InvitationViewModel(newInvitation, service: environment.service) { [weak rooms] in
            if case .accepted(let room) = $0 { rooms?.send(.select(room)) }
        }
    }

    private func close() {
        if invitation != nil { invitation = nil }
        guard let closing = conversation else { return }
        members.roomClosed(closing.roomID)
        openRoom.conversation = nil
        closing.close()
    }

    private func makeComposers() -> RoomComposers {
        let (completion, sources) = (environment.completion, sources)
        return RoomComposers(
            environment,
            sources: { room in completion.map { sources.sources(for: room) + $0.sources } ?? [] },
            onCommand: { [weak self] in try await self?.performer.perform($0, in: $1) },
            onOutput: { [weak self] in self?.receive($0, from: $1) })
    }

    // MARK: Routing

    private func receive(
        _ output: TimelineViewModel.Output, from room: RoomID, for composer: ComposerViewModel?
    ) {
        let open = openRoom.conversation(in: room)
        switch output {
        case .edit(let id, let message):
            composer?.send(
                .startEdit(
                    id, message.text, mayBeEmpty: message.mayBeEmpty, warning: message.warning(environment.translator)))
        case .reply(let target): composer?.send(.startReply(target))
        case .replyTargetChanged(let id, let preview):
            composer?.handle(.replyPreview(id: id.rawValue, preview))
        case .typing(let names): if open != nil { composer?.send(.typingUsers(names)) }
        case .editedMessageDeleted(let id): composer?.send(.messageDeleted(id))
        case .seen: rooms.send(.reading(room, .seen))
        case .encrypted: open?.noteEncrypted()
        case .roomChanged: open?.refresh()
        case .failed(let error): requests.show(.failed(error))
        }
    }

    private func receive(_ output: ComposerViewModel.Output, from room: RoomID) {
        let open = openRoom.conversation(in: room)
        switch output {
        case .editLast: open?.timeline.send(.composer(.editLast))
        case .editing(let message): open?.timeline.send(.composer(.editing(message)))
        case .replyingTo(let message): open?.timeline.send(.composer(.replyingTo(message)))
        case .sent: open?.timeline.send(.pages(.jump(.newest)))
        case .cleared: if open != nil { requests.show(.cleared(room)) }
        case .failed(let error):
            requests.show(.failed(error))
            // It may have failed because encryption was enabled meanwhile.
            conversation?.checkEncryption()
        case .rejected(let reason): if open != nil { requests.show(.rejected(reason)) }
        case .editSuspended:
            if open != nil {
                requests.show(.message(environment.translator("Your unfinished edit was kept. Undo to return to it.")))
            }
        case .commandFailed(let reason): requests.show(.message(reason))
        }
    }

}
