public import ChatCore
public import Composer
public import Foundation
import MessageMarkup
public import Observation

/// An open room: its timeline and its composer, wired to each other.
@Observable
public final class Conversation {
    /// Whether the room is encrypted, which is not supported for sending.
    public internal(set) var isEncrypted = false
    /// The room's predecessor and successor.
    public internal(set) var succession = RoomSuccession()
    /// The room's topic and other details.
    public internal(set) var headline = RoomHeadline()
    /// Whether messages can be sent to the room.
    public var acceptsMessages: Bool { !isEncrypted && succession.next == nil }
    public let roomID: RoomID
    public let timeline: TimelineViewModel
    public let composer: ComposerViewModel
    /// The media service for the room's messages.
    public let media: any MediaService
    public let search: RoomSearchViewModel

    init(
        roomID: RoomID, timeline: TimelineViewModel, composer: ComposerViewModel, search: RoomSearchViewModel,
        media: any MediaService
    ) {
        self.media = media
        self.search = search
        self.roomID = roomID
        self.timeline = timeline
        self.composer = composer
    }
}

/// Owns the window's view models and routes events between them.
@Observable
public final class ConversationCoordinator {
    /// A message to show in a toast.
    public nonisolated enum Toast: Equatable, Sendable {
        case failed(ChatError)
        case rejected(ComposerRejection)
        /// A localized text.
        case message(String)
        /// A room's composer was cleared; undo with ``ConversationCoordinator/undoClearing(_:)``.
        case cleared(RoomID)
    }

    public nonisolated enum OpenItem: Equatable, Sendable {
        case room(RoomID)
        case invitation(RoomID)
    }

    public let rooms: RoomListViewModel
    /// The media service for the account's messages and avatars.
    public var media: any MediaService { service }
    /// Search across all rooms.
    public let search: SearchViewModel
    /// The open room.
    public private(set) var conversation: Conversation?
    /// The open invitation, shown instead of a room.
    public private(set) var invitation: InvitationViewModel?
    /// Which of the two is open, or `nil` if neither.
    public var openItem: OpenItem? {
        conversation.map { .room($0.roomID) } ?? invitation.map { .invitation($0.state.invitation.room) }
    }
    @ObservationIgnored public var onToast: ((Toast) -> Void)? {
        didSet {
            guard let onToast else { return }
            let toasts = pendingToasts
            pendingToasts = []
            toasts.forEach(onToast)
        }
    }
    /// Toasts raised before the window set ``onToast``.
    @ObservationIgnored private var pendingToasts: [Toast] = []
    /// Called when a message of the user's was accepted, so that the timeline can scroll to it.
    @ObservationIgnored public var onSent: (() -> Void)?
    /// The user's writing preferences, for all rooms.
    @ObservationIgnored public var preferences = WritingPreferences() {
        didSet { composers.values.forEach { $0.preferences = preferences } }
    }

    /// Called when the user asks to leave a room. Leaving deletes its messages, so it needs confirmation.
    @ObservationIgnored public var onLeaveRequested: ((RoomID) -> Void)?
    /// The slash commands, for all rooms; `nil` if a leading slash has no meaning.
    @ObservationIgnored public var commands: CommandRegistry? {
        didSet { composers.values.forEach { $0.commands = commands } }
    }
    /// Receives the emoji the user picks.
    @ObservationIgnored public var emoji: EmojiLibrary? {
        didSet { composers.values.forEach { $0.emoji = emoji } }
    }
    /// Intercepts events before the composers handle them.
    @ObservationIgnored public var inputController: (any ComposerInputController)? {
        didSet { composers.values.forEach { $0.setInputController(inputController) } }
    }
    /// Returns the sources that answer the completion queries of a room's composer.
    @ObservationIgnored public var completionSources: (RoomID) -> [any CompletionSource] = { _ in [] } {
        didSet { for (room, composer) in composers { composer.completionSources = completionSources(room) } }
    }

    /// Whether sending is blocked until the user signs in again.
    public var isSignedOut = false {
        didSet { conversation?.timeline.isSignedOut = isSignedOut }
    }

    /// Exports and imports rooms; `nil` if the application does neither.
    @ObservationIgnored public var archive: (any ConversationArchive)?
    /// Whether imported conversations become rooms of this account.
    @ObservationIgnored public var canImport = false

    @ObservationIgnored let service: any ChatService
    @ObservationIgnored let translator: Translator
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private let now: () -> Date
    /// The composers of rooms opened so far, retained so that undo survives switching rooms.
    @ObservationIgnored private var composers: [RoomID: ComposerViewModel] = [:]
    /// A message to jump to once its room opens.
    @ObservationIgnored private var awaited: (room: RoomID, message: MessageID)?
    @ObservationIgnored private var dayChangeMonitor: DayChangeMonitor?
    /// Rooms whose full member list has been requested since they were opened.
    @ObservationIgnored private var wholeRooms: Set<RoomID> = []
    /// Rooms in which power levels allow the user to notify everyone.
    private var notifiableRooms: Set<RoomID> = []

    public init(
        service: any ChatService, time: Timekeeper = .continuous, translator: Translator = .untranslated,
        now: @escaping () -> Date = { Date() }
    ) {
        self.service = service
        self.translator = translator
        self.time = time
        self.now = now
        rooms = RoomListViewModel(
            service: service, readsPlainTexts: service.capabilities.contains(.plainTexts), now: now)
        let list = rooms
        search = SearchViewModel(
            service: service, readsPlainTexts: service.capabilities.contains(.plainTexts), now: now
        ) { [weak list] in list?.state.rows ?? [] }
        rooms.onOutput = { [weak self] in self?.receive($0) }
        search.onOutput = { [weak self] in self?.receive($0) }
        onToast = { [weak self] in self?.pendingToasts.append($0) }
        dayChangeMonitor = DayChangeMonitor(time: time, now: now) { [weak self] in
            self?.rooms.send(.dayChanged)
            self?.conversation?.timeline.send(.dayChanged)
        }
    }

    /// Subscribes to the room list, and opens a room once it is listed.
    public func start(opening room: RoomID?) {
        rooms.start(opening: room)
        dayChangeMonitor?.start()
    }

    /// Returns when the room list is loaded and the open room has its messages and draft, so that a window presented
    /// then is complete and accepts input; at the latest after `limit`.
    public func waitUntilIdle(within limit: Duration) async {
        await time.wait(atMost: limit) { [weak self] in self?.isIdle ?? true }
    }

    private var isIdle: Bool {
        guard rooms.state.isLoaded else { return false }
        guard let conversation else { return rooms.state.selection == nil || invitation != nil }
        return conversation.timeline.state.isLoaded && conversation.composer.state.isReady
    }

    /// Returns the view model of a room's details dialog, or `nil` if the room is not in the list.
    public func details(of room: RoomID) -> RoomDetailsViewModel? {
        guard let row = rooms.state.rows.first(where: { $0.id == room }) else { return nil }
        return RoomDetailsViewModel(room: room, name: row.name, service: service)
    }

    /// Restores a cleared text, unless something was written since.
    public func undoClearing(_ room: RoomID) { composers[room]?.undoClearing() }

    /// Returns the view model of an export or import, or `nil` if the application does neither.
    public func transfer(_ task: TransferViewModel.Task) -> TransferViewModel? {
        guard let archive else { return nil }
        let transfer = TransferViewModel(task, archive: archive)
        transfer.onOutput = { [weak rooms] in if case .show(let room) = $0 { rooms?.send(.select(room)) } }
        return transfer
    }

    /// Stores all drafts and the scroll position; returns when they are stored.
    public func flushDrafts() async {
        await conversation?.timeline.flush()
        for composer in composers.values { await composer.flushDraft() }
    }

    // MARK: Routing

    private func receive(_ output: RoomListViewModel.Output) {
        switch output {
        case .opened(let room): open(room)
        case .invited(let invitation): open(invitation)
        case .closed: close()
        case .removed(let rooms): forget(rooms)
        case .failed(let error): onToast?(.failed(error))
        }
    }

    private func forget(_ rooms: Set<RoomID>) {
        for room in rooms {
            // Do not report failures about a room the user has left.
            composers[room]?.onOutput = nil
            composers[room] = nil
        }
    }

    private func open(_ room: RoomID) {
        guard conversation?.roomID != room else { return }
        close()
        let timeline = TimelineViewModel(roomID: room, service: service, time: time, now: now)
        let composer = composers[room] ?? makeComposer(room)
        composers[room] = composer
        timeline.onOutput = { [weak self, weak composer] output in self?.receive(output, from: room, for: composer) }
        timeline.editing = composer.state.composer.editing.map { MessageID($0) }
        timeline.replyingTo = composer.state.composer.reply.map { MessageID($0.messageID) }
        timeline.isSignedOut = isSignedOut
        timeline.start()
        let search = RoomSearchViewModel(roomID: room, service: service, now: now)
        search.onOutput = { [weak timeline] in if case .show(let id) = $0 { timeline?.send(.jump(.message(id))) } }
        conversation = Conversation(
            roomID: room, timeline: timeline, composer: composer, search: search, media: service)
        checkEncryption()
        checkRoom()
        showAwaited()
    }

    private func open(_ newInvitation: Invitation) {
        if let invitation, invitation.state.invitation.room == newInvitation.room {
            return invitation.update(newInvitation)
        }
        close()
        let viewModel = InvitationViewModel(newInvitation, service: service)
        viewModel.onOutput = { [weak rooms] in if case .accepted(let room) = $0 { rooms?.send(.select(room)) } }
        invitation = viewModel
    }

    /// Requests the full member list from the server, once each time the room is opened.
    func loadMembers(of room: RoomID) {
        guard service.capabilities.contains(.memberList), wholeRooms.insert(room).inserted else { return }
        Task { [weak self, service] in
            guard let roomMembers = try? await service.members(of: room) else {
                self?.wholeRooms.remove(room)
                return
            }
            if roomMembers.permissions.contains(.notifyEveryone) {
                self?.notifiableRooms.insert(room)
            } else {
                self?.notifiableRooms.remove(room)
            }
        }
    }

    /// Whether mentioning everyone notifies them. If the server decides, false until the member list is loaded.
    func mayNotifyEveryone(in room: RoomID) -> Bool {
        !service.capabilities.contains(.memberList) || notifiableRooms.contains(room)
    }

    /// Encryption can be enabled at any time and never disabled, so the flag is only ever set.
    private func checkEncryption() {
        guard let conversation, !conversation.isEncrypted else { return }
        Task { [service] in
            conversation.isEncrypted = (try? await service.isEncrypted(conversation.roomID)) ?? false
        }
    }

    /// Keeps the previous values of what cannot be read.
    private func checkRoom() {
        guard let conversation else { return }
        Task { [service] in
            if let found = try? await service.succession(of: conversation.roomID), found != conversation.succession {
                conversation.succession = found
            }
            if let found = try? await service.headline(of: conversation.roomID), found != conversation.headline {
                conversation.headline = found
            }
        }
    }

    private func receive(_ output: SearchViewModel.Output) {
        if case .show(let found) = output { show(found.message, in: found.room) }
    }

    /// Opens a room once it is in the list, and jumps to a message in it.
    func show(_ message: MessageID?, in room: RoomID) {
        awaited = message.map { (room, $0) }
        rooms.send(.select(room))
        if conversation?.roomID == room { showAwaited() }
    }

    private func showAwaited() {
        guard let awaited, let conversation else { return }
        self.awaited = nil
        if conversation.roomID == awaited.room { conversation.timeline.send(.jump(.message(awaited.message))) }
    }

    private func makeComposer(_ room: RoomID) -> ComposerViewModel {
        var configuration = ComposerConfiguration()
        configuration.typingPhrases = TypingPhrases(translator)
        let composer = ComposerViewModel(
            roomID: room, service: service, media: service, configuration: configuration, time: time)
        composer.preferences = preferences
        composer.completionSources = completionSources(room)
        composer.commands = commands
        composer.setInputController(inputController)
        composer.emoji = emoji
        composer.onCommand = { [weak self] in try await self?.perform($0, in: room) }
        composer.onOutput = { [weak self] in self?.receive($0, from: room) }
        Task { await composer.start() }
        return composer
    }

    private func receive(
        _ output: TimelineViewModel.Output, from room: RoomID, for composer: ComposerViewModel?
    ) {
        switch output {
        case .edit(let id, let message):
            composer?.send(
                .startEdit(id, message.text, mayBeEmpty: message.mayBeEmpty, warning: warning(of: message.losses)))
        case .reply(let target): composer?.send(.startReply(target))
        case .replyTargetChanged(let id, let preview):
            composer?.handle(.replyPreview(id: id.rawValue, preview))
        case .typing(let names): if conversation?.roomID == room { composer?.send(.typingUsers(names)) }
        case .editedMessageDeleted(let id): composer?.send(.messageDeleted(id))
        case .encrypted: if conversation?.roomID == room { conversation?.isEncrypted = true }
        case .roomChanged: if conversation?.roomID == room { checkRoom() }
        case .failed(let error): onToast?(.failed(error))
        }
    }

    /// Describes what saving the edit will lose, or returns `nil` if nothing.
    private func warning(of losses: [MarkupLoss]) -> String? {
        guard !losses.isEmpty else { return nil }
        let list = losses.map { $0.text(translator) }.joined(separator: ", ")
        // Translators: %s is a list of what Markdown can't say, as "some spacing, the form of a table".
        return translator("Saving loses %s").replacing("%s", with: list)
    }

    private func receive(_ output: ComposerViewModel.Output, from room: RoomID) {
        let open = conversation.flatMap { $0.roomID == room ? $0 : nil }
        switch output {
        case .editLast: open?.timeline.send(.editLast)
        case .editing(let message): open?.timeline.editing = message
        case .replyingTo(let message): open?.timeline.replyingTo = message
        case .sent: if open != nil { onSent?() }
        case .cleared: if open != nil { onToast?(.cleared(room)) }
        case .failed(let error):
            onToast?(.failed(error))
            checkEncryption()
        case .rejected(let reason): if open != nil { onToast?(.rejected(reason)) }
        case .editSuspended:
            if open != nil { onToast?(.message(translator("The other edit is kept: Undo goes back to it"))) }
        case .notDone(let reason): onToast?(.message(reason))
        }
    }

    private func close() {
        if invitation != nil { invitation = nil }
        guard let closing = conversation else { return }
        wholeRooms.remove(closing.roomID)
        conversation = nil
        // Closed rooms get no typing notifications, so clear the typing users.
        closing.composer.send(.typingUsers([]))
        Task {
            await closing.timeline.flush()
            await closing.composer.flushDraft()
        }
    }
}
