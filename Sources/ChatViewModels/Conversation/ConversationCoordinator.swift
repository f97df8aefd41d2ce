public import ChatCore
import Composer
public import ComposerSessions
public import Foundation
import MessageMarkup
public import Observation

/// Owns the view models of one account and routes events between them.
@Observable
@MainActor
public final class ConversationCoordinator {
    public nonisolated enum OpenItem: Equatable, Sendable {
        case room(RoomID)
        case invitation(RoomID)
        /// The selected room has a window of its own.
        case window(RoomID)

        public var roomID: RoomID {
            switch self {
            case .room(let room), .invitation(let room), .window(let room): room
            }
        }
    }

    public let environment: ConversationEnvironment
    /// What the window is to show or ask.
    public let requests = WindowRequests()
    @ObservationIgnored public private(set) lazy var rooms = RoomListViewModel(
        service: environment.service, readsPlainTexts: environment.readsPlainTexts, now: environment.now
    ) { [weak self] in self?.receive($0) }
    /// Search across all rooms.
    @ObservationIgnored public private(set) lazy var search = SearchViewModel(
        service: environment.service, readsPlainTexts: environment.readsPlainTexts, time: environment.time,
        now: environment.now, rooms: { [rooms] in rooms.state.rows },
        onShow: { [navigator] in navigator.show($0.message, in: $0.room) })
    /// The media service for the account's messages and avatars.
    public var media: any MediaService { environment.service }
    /// The room that is open in the main window.
    public var conversation: Conversation? { openRooms.conversation }
    /// The open invitation, shown instead of a room.
    public private(set) var invitation: InvitationViewModel?
    /// The invitations that were closed before the server had answered: opened again, they cannot be answered twice.
    @ObservationIgnored private var answeredInvitations: [RoomID: InvitationViewModel] = [:]
    /// What the main window displays, or `nil` if nothing is open.
    public var openItem: OpenItem? {
        if let conversation { return .room(conversation.roomID) }
        if let invitation { return .invitation(invitation.state.invitation.room) }
        guard hasWindow, let room = rooms.state.selection, openRooms.window(of: room) != nil else { return nil }
        return .window(room)
    }

    let openRooms = OpenRooms()
    @ObservationIgnored private lazy var navigator = RoomNavigator(
        rooms: rooms, openRooms: openRooms, time: environment.time)
    @ObservationIgnored private lazy var performer = CommandPerformer(
        service: environment.service, translator: environment.translator, rooms: rooms, openRooms: openRooms,
        navigator: navigator, requests: requests, session: environment.session, time: environment.time)
    /// The account's encryption; `nil` for the rooms on this computer.
    @ObservationIgnored public private(set) lazy var encryption = environment.encryption.map { service in
        EncryptionCoordinator(service, session: environment.session) { [weak self] in self?.openRooms.name(of: $0) }
    }
    @ObservationIgnored private(set) lazy var members = MemberLists(
        service: environment.service, openRooms: openRooms, time: environment.time)
    @ObservationIgnored private lazy var sources = ConversationSources(
        rooms: rooms, openRooms: openRooms, members: members, everyone: environment.completion?.everyone)
    @ObservationIgnored private lazy var composers = makeComposers()
    @ObservationIgnored private lazy var draftMover = DraftMover(
        rooms: rooms, composers: composers, time: environment.time)
    /// Receives what was written in a room that the user is no longer in, and cannot be sent any more.
    @ObservationIgnored var onUnsent: (String, RoomID) -> Void = { _, _ in }
    @ObservationIgnored private var followingUnsent: Task<Void, Never>?
    @ObservationIgnored private var followingRemovals: Task<Void, Never>?
    /// Whether a main window displays the account, or will. Otherwise, the selected room is not opened until there is
    /// one.
    @ObservationIgnored private var hasWindow = true
    /// Waits until rooms whose windows are to be restored are listed.
    @ObservationIgnored var restoring: ChangeSubscription?
    @ObservationIgnored private lazy var dayChangeMonitor = DayChangeMonitor(
        time: environment.time, now: environment.now
    ) { [rooms, openRooms] in
        rooms.send(.dayChanged)
        for conversation in openRooms.all { conversation.timeline.send(.context(.dayChanged)) }
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

    isolated deinit {
        followingUnsent?.cancel()
        followingRemovals?.cancel()
    }

    /// Hands on to ``onUnsent`` what was unsent in rooms, as their removal is no decision of the user's.
    func followUnsent() {
        guard followingUnsent == nil else { return }
        let contents = environment.service.unsentOfLeftRooms()
        followingUnsent = Task { [weak self] in
            for await content in contents {
                guard let self else { return }
                if let text = content.text, !self.rooms.leaving.contains(content.room) {
                    self.onUnsent(text, content.room)
                }
            }
        }
    }

    /// Tells the user who removes them from rooms, open or not: the history is gone with the room.
    func followRemovals() {
        guard followingRemovals == nil else { return }
        let removals = environment.service.roomRemovals()
        followingRemovals = Task { [weak self] in
            for await removal in removals {
                guard let self else { return }
                if !self.rooms.leaving.contains(removal.room) { self.requests.show(.removed(removal)) }
            }
        }
    }

    /// Returns the number of unsent items that leaving a room would lose; `nil` if they could not be counted.
    public func pendingCount(in room: RoomID) async -> PendingCount? {
        await composers[room]?.flushDraft()
        return try? await environment.service.pendingCount(in: room)
    }

    /// Subscribes to the room list, and opens a room once it is listed.
    public func start(opening room: RoomID?) {
        rooms.start(opening: room)
        windowsChanged()
    }

    /// Opens the selected room for a main window that is about to display it.
    public func attachWindow() {
        guard !hasWindow else { return }
        hasWindow = true
        rooms.send(.dayChanged)
        windowsChanged()
        openSelection()
    }

    /// Closes the main window's room. The composers stay, so that undo survives a closed window as it survives a visit
    /// to another room. Store the drafts first.
    public func detachWindow() {
        guard hasWindow else { return }
        hasWindow = false
        search.send(.field(.close))
        close()
        windowsChanged()
    }

    /// Opens the selected room if there is a main window.
    func openSelection() {
        if hasWindow, let selected = rooms.state.open { receive(selected) }
    }

    /// Resumes updates that only windows need, or stops them after the last window has closed.
    func windowsChanged() {
        guard !hasWindow, openRooms.inWindows.isEmpty else { return dayChangeMonitor.start() }
        dayChangeMonitor.stop()
        sources.forgetMembers()
    }

    /// Returns when the room list is loaded and the open room has its messages and draft, so that a window presented
    /// then is complete and accepts input; at the latest after `limit`.
    public func waitUntilIdle(within limit: Duration) async {
        await environment.time.wait(atMost: limit) { [weak self] in self?.isIdle ?? true }
    }

    private var isIdle: Bool {
        guard rooms.state.isLoaded else { return false }
        guard let conversation else { return rooms.state.selection == nil || openItem != nil }
        return conversation.timeline.state.isLoaded && conversation.composer.state.isReady
    }

    // MARK: Actions

    /// Whether addresses of rooms and users outside the list can be resolved.
    public var acceptsAddresses: Bool { environment.service.capabilities.contains(.join) }

    /// Opens the target of an address or link: joins a room, jumps to a message or opens a direct chat.
    /// - Parameter opening: called with the room once it is selected; it opens as soon as it is listed. Not called if
    ///   the room could not be joined, or the user has opened another one meanwhile.
    public func open(_ address: String, opening: @escaping @MainActor (RoomID) -> Void = { _ in }) {
        open(address, as: UserChoice(), opening: opening)
    }

    /// Opens the target of an address or link that the user chose earlier.
    func open(_ address: String, as choice: UserChoice, opening: @escaping @MainActor (RoomID) -> Void) {
        performer.open(address, as: choice, opening: opening)
    }

    /// Shows a message once its room is listed.
    /// - Parameter choice: when the user chose it.
    func show(_ message: MessageID?, in room: RoomID, as choice: UserChoice = UserChoice()) {
        navigator.show(message, in: room, as: choice)
    }

    /// Opens a room once it is listed, and starts a reply to one of its messages.
    /// - Parameter choice: when the user chose to reply.
    func reply(to message: MessageID, in room: RoomID, as choice: UserChoice = UserChoice()) {
        navigator.show(message, in: room, replies: true, as: choice)
    }

    /// Asks the user whether to leave a room.
    /// - Parameter requests: the requests of the window that asks; `nil` for the main window.
    public func requestLeaving(_ room: RoomID, in requests: WindowRequests? = nil) {
        performer.requestLeaving(room, in: requests ?? self.requests)
    }

    /// Whether a room is definitely not among the joined ones.
    func hasLeft(_ room: RoomID) -> Bool { rooms.state.isLoaded && !rooms.state.rows.contains { $0.id == room } }

    /// Sends a text that was not written in the room's composer. As the same transaction, it is stored once.
    /// - Returns: whether it is stored. If not, the error is shown.
    func send(_ text: String, as transaction: TransactionID, answeringIn room: RoomID) async -> Bool {
        do {
            _ = try await environment.service.send(
                WrittenMessage(WrittenText(text), origin: .notification), as: transaction, to: room)
            return true
        } catch {
            (openRooms.conversation(in: room)?.requests ?? requests).show(.failed(ChatError(error)))
            return false
        }
    }

    /// Appends a text to a room's draft.
    /// - Parameters:
    ///   - mayBeThere: whether an earlier process may have done so. A draft that ends with the text stays as it is
    ///     then.
    ///   - onStoredLater: called once the draft is stored after all, if it has the text and could not be stored.
    /// - Returns: whether the draft has the text, and is stored. If not, adding it again may be tried.
    func addToDraft(
        _ text: String, of room: RoomID, unlessThere mayBeThere: Bool = false,
        onStoredLater: @escaping () -> Void = {}
    ) async -> Bool {
        let composer = composers.composer(of: room)
        await environment.time.wait(atMost: .seconds(10)) { composer.state.isReady }
        // A text that waits in the composer for the draft would be in it twice once the caller tries again.
        guard composer.state.isReady else { return false }
        if !mayBeThere || !composer.endsWithLines(text) { composer.handle(.appendToMessage(text)) }
        let isStored = await composer.flushDraft()
        // The draft of a room that is left meanwhile is gone.
        guard !hasLeft(room) else { return false }
        if !isStored { composer.whenDraftIsStored(onStoredLater) }
        return isStored
    }

    /// Whether a draft would be lost with the program, after ``flushDrafts()``.
    var hasUnstoredDraft: Bool { composers.hasUnstoredDraft }

    /// Whether a composer is still copying a file.
    var isCopyingFiles: Bool { composers.isCopyingFiles }

    /// Whether a composer can undo or redo.
    var canUndo: Bool { composers.canUndo }

    /// Restores a cleared text, unless something was written since.
    public func undoClearing(_ room: RoomID) { composers[room]?.undoClearing() }

    /// The dialogs of the main window.
    public var dialogs: RoomDialogs { dialogs(reportingTo: requests) }

    /// Returns the dialogs of the window that handles these requests.
    public func dialogs(reportingTo requests: WindowRequests) -> RoomDialogs {
        RoomDialogs(
            service: environment.service, session: environment.session, rooms: rooms, openRooms: openRooms,
            requests: requests)
    }

    /// Returns a forwarder of an open room's messages.
    public func forwarder(of conversation: Conversation) -> MessageForwarder {
        forwarder(from: conversation.roomID, reportingTo: conversation.requests)
    }

    /// Returns a forwarder of a room's messages that also works after the room was closed.
    public func forwarder(from room: RoomID, reportingTo requests: WindowRequests) -> MessageForwarder {
        MessageForwarder(
            service: environment.service, translator: environment.translator, rooms: rooms, source: room,
            requests: requests, ongoingWork: environment.ongoingWork)
    }

    /// Stores all drafts and the scroll positions; returns when they are stored.
    public func flushDrafts() async {
        for conversation in openRooms.all { await conversation.timeline.flush() }
        await composers.flush()
    }

    // MARK: Opening and closing

    private func receive(_ output: RoomListViewModel.Output) {
        switch output {
        case .opened(let room): if hasWindow { open(room) }
        case .invited(let invitation): if hasWindow { open(invitation) }
        case .closed: close()
        case .removed(let rooms):
            composers.remove(rooms, onUnsent: onUnsent)
            sources.forget(rooms)
            for room in rooms { closeWindow(of: room) }
        case .notLeft(let room, let error):
            (openRooms.conversation(in: room)?.requests ?? requests).show(.failed(error))
        case .failed(let error): requests.show(.failed(error))
        }
    }

    private func open(_ room: RoomID) {
        guard conversation?.roomID != room else { return }
        close()
        guard openRooms.window(of: room) == nil else { return }
        let conversation = makeConversation(in: room, requests: requests)
        openRooms.conversation = conversation
        conversation.start()
        navigator.roomOpened(conversation)
    }

    /// - Parameter requests: the requests of the window that displays the room.
    func makeConversation(in room: RoomID, requests: WindowRequests) -> Conversation {
        let composer = composers.composer(of: room)
        let conversation = Conversation(
            roomID: room, composer: composer, environment: environment, encryption: encryption, requests: requests,
            onTimelineOutput: { [weak self, weak composer] in self?.receive($0, from: room, for: composer) })
        conversation.draftMover = draftMover
        return conversation
    }

    private func open(_ newInvitation: Invitation) {
        if let invitation, invitation.state.invitation.room == newInvitation.room {
            return invitation.update(newInvitation)
        }
        close()
        if let answered = answeredInvitations[newInvitation.room] {
            answered.update(newInvitation)
            invitation = answered
            return
        }
        invitation = InvitationViewModel(newInvitation, service: environment.service) { [weak self] in
            self?.receive($0)
        }
    }

    private func receive(_ output: InvitationViewModel.Output) {
        let room = output.room
        answeredInvitations[room] = nil
        // A user who has moved on meanwhile is not brought back.
        let isOpen = invitation?.state.invitation.room == room
        switch output {
        case .accepted: if isOpen { rooms.select(room, as: nil) }
        case .removed: break
        // The open page shows it.
        case .failed(_, let error): if !isOpen { requests.show(.failed(error)) }
        }
    }

    /// Closes the main window's room.
    func close() {
        if let closing = invitation {
            if closing.isSending { answeredInvitations[closing.state.invitation.room] = closing }
            invitation = nil
        }
        guard let closing = conversation else { return }
        members.roomClosed(closing.roomID)
        openRooms.conversation = nil
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
        let open = openRooms.conversation(in: room)
        let requests = open?.requests ?? requests
        switch output {
        case .edit(let id, let message):
            composer?.send(
                .startEdit(
                    id, message.text, mayBeEmpty: message.mayBeEmpty, warning: message.warning(environment.translator)))
        case .notEdited(let reason): requests.show(.notEdited(reason))
        case .reply(var target, let trust):
            target.preview = target.preview.marked(by: trust, environment.translator)
            composer?.send(.startReply(target))
        case .replyTargetChanged(let id, let preview, let trust):
            composer?.handle(.replyPreview(id: id.rawValue, preview.marked(by: trust, environment.translator)))
        case .typing(let names): if open != nil { composer?.send(.typingUsers(names)) }
        case .editedMessageDeleted(let id): composer?.send(.messageDeleted(id))
        case .seen: rooms.send(.reading(room, .seen))
        case .encrypted: open?.noteEncrypted()
        case .roomChanged: open?.refresh()
        case .choseReactions(let areUsed): environment.preferences.chooseReactions(areUsed)
        case .failed(let error): requests.show(.failed(error))
        }
    }

    private func receive(_ output: ComposerViewModel.Output, from room: RoomID) {
        let open = openRooms.conversation(in: room)
        let requests = open?.requests ?? requests
        switch output {
        case .editLast: open?.timeline.send(.composer(.editLast))
        case .editing(let message):
            open?.timeline.send(.composer(.editing(message)))
            if let message { findWarning(of: message, in: room) }
        case .replyingTo(let message): open?.timeline.send(.composer(.replyingTo(message)))
        case .sent: open?.timeline.send(.pages(.jump(.newest)))
        case .cleared: if open != nil { requests.show(.cleared(room)) }
        case .failed(let error):
            requests.show(.failed(error))
            // It may have failed because encryption was enabled meanwhile.
            open?.checkEncryption()
        case .rejected(let reason): if open != nil { requests.show(.rejected(reason)) }
        case .editSuspended:
            if open != nil {
                requests.show(.message(environment.translator("Your unfinished edit was kept. Undo to return to it.")))
            }
        case .commandFailed(let reason): requests.show(.message(reason))
        }
    }

    /// Finds out what saving an edit removes that was begun before a restart: drafts do not store that.
    private func findWarning(of message: MessageID, in room: RoomID) {
        guard let composer = composers[room], !composer.knowsWarning(of: message) else { return }
        Task { [weak composer, environment] in
            // If this fails, the next time that the composer returns to the edit asks again.
            guard let found = try? await environment.service.messages([message], in: room).first, found.hasContent
            else { return }
            // What is lost does not depend on the parsed text.
            let editable = EditableMessage(found, body: MessageBody(), readsPlainTexts: environment.readsPlainTexts)
            composer?.setRestoredWarning(editable.warning(environment.translator), of: message)
        }
    }
}
