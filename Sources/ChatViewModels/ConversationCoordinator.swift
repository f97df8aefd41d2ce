public import ChatCore
public import Composer
public import Foundation
import MessageMarkup
public import Observation

/// An open room: its timeline and its composer, wired to each other.
@Observable
public final class Conversation {
    /// Whether nothing can be sent, as what is said there is encrypted.
    public internal(set) var isEncrypted = false
    /// Where it goes on and comes from.
    public internal(set) var succession = RoomSuccession()
    /// What is said of it beside its name.
    public internal(set) var headline = RoomHeadline()
    /// Whether something can be said in it.
    public var acceptsMessages: Bool { !isEncrypted && succession.next == nil }
    public let roomID: RoomID
    public let timeline: TimelineViewModel
    public let composer: ComposerViewModel
    /// The files of its messages.
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

/// Knows the view models of the window and routes between them.
@Observable
public final class ConversationCoordinator {
    /// Something to tell the user in passing.
    public nonisolated enum Toast: Equatable, Sendable {
        case failed(ChatError)
        case rejected(ComposerRejection)
        /// In the user's language.
        case message(String)
        /// The text of a room's composer was emptied: ``ConversationCoordinator/undoClearing(_:)``.
        case cleared(RoomID)
    }

    public nonisolated enum OpenItem: Equatable, Sendable {
        case room(RoomID)
        case invitation(RoomID)
    }

    public let rooms: RoomListViewModel
    /// The files of the account's messages, and the pictures of its members and rooms.
    public var media: any MediaService { service }
    /// Through all rooms.
    public let search: SearchViewModel
    /// The room that is open.
    public private(set) var conversation: Conversation?
    /// The invitation that is open in the place of a room.
    public private(set) var invitation: InvitationViewModel?
    /// Which of the two is open; nil for neither.
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
    /// What there was to tell before anybody listened.
    @ObservationIgnored private var pendingToasts: [Toast] = []
    /// An own message was stored: the reader wants to see it.
    @ObservationIgnored public var onSent: (() -> Void)?
    /// What the user chose about writing, in all rooms.
    @ObservationIgnored public var preferences = WritingPreferences() {
        didSet { composers.values.forEach { $0.preferences = preferences } }
    }

    /// The user wants to leave the room, and must be asked first: its messages go with it.
    @ObservationIgnored public var onLeaveRequested: ((RoomID) -> Void)?
    /// What a text that begins with a slash means, in all rooms; nil where it is text like any other.
    @ObservationIgnored public var commands: CommandRegistry? {
        didSet { composers.values.forEach { $0.commands = commands } }
    }
    /// Told of the emoji that are chosen.
    @ObservationIgnored public var emoji: EmojiLibrary? {
        didSet { composers.values.forEach { $0.emoji = emoji } }
    }
    /// Takes events before the composers do.
    @ObservationIgnored public var inputController: (any ComposerInputController)? {
        didSet { composers.values.forEach { $0.setInputController(inputController) } }
    }
    /// Who answers the completion queries of a room's composer; nothing is offered where nobody does.
    @ObservationIgnored public var completionSources: (RoomID) -> [any CompletionSource] = { _ in [] } {
        didSet { for (room, composer) in composers { composer.completionSources = completionSources(room) } }
    }

    /// Whether nothing can be sent before the user has signed in again.
    public var isSignedOut = false {
        didSet { conversation?.timeline.isSignedOut = isSignedOut }
    }

    /// Exports and imports, if the application does so.
    @ObservationIgnored public var archive: (any ConversationArchive)?
    /// Whether what is imported becomes rooms of these.
    @ObservationIgnored public var canImport = false

    @ObservationIgnored let service: any ChatService
    @ObservationIgnored let translator: Translator
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private let now: () -> Date
    /// Composers of rooms that were open, so that undo survives going to another room.
    @ObservationIgnored private var composers: [RoomID: ComposerViewModel] = [:]
    /// A message to go to when its room opens.
    @ObservationIgnored private var awaited: (room: RoomID, message: MessageID)?
    @ObservationIgnored private var dayChangeMonitor: DayChangeMonitor?
    /// Rooms of which the server told all members, since they were opened.
    @ObservationIgnored private var wholeRooms: Set<RoomID> = []
    /// Rooms in which the server lets the user notify everyone.
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

    /// Begins to follow the rooms and opens one as soon as it is there.
    public func start(opening room: RoomID?) {
        rooms.start(opening: room)
        dayChangeMonitor?.start()
    }

    /// Returns when the rooms are there and the open one has its messages and its draft, so that a window shown then is
    /// complete and takes what is typed into it at once; after `limit` it returns whatever is there.
    public func waitUntilIdle(within limit: Duration) async {
        await time.wait(atMost: limit) { [weak self] in self?.isIdle ?? true }
    }

    private var isIdle: Bool {
        guard rooms.state.isLoaded else { return false }
        guard let conversation else { return rooms.state.selection == nil || invitation != nil }
        return conversation.timeline.state.isLoaded && conversation.composer.state.isReady
    }

    /// View model of a dialog about a room; nil if it is not in the list.
    public func details(of room: RoomID) -> RoomDetailsViewModel? {
        guard let row = rooms.state.rows.first(where: { $0.id == room }) else { return nil }
        return RoomDetailsViewModel(room: room, name: row.name, service: service)
    }

    /// Brings back the text that was emptied, unless something was written since.
    public func undoClearing(_ room: RoomID) { composers[room]?.undoClearing() }

    /// View model of an export or import; nil where the application does neither.
    public func transfer(_ task: TransferViewModel.Task) -> TransferViewModel? {
        guard let archive else { return nil }
        let transfer = TransferViewModel(task, archive: archive)
        transfer.onOutput = { [weak rooms] in if case .show(let room) = $0 { rooms?.send(.select(room)) } }
        return transfer
    }

    /// Writes all drafts, and where the user reads, and returns when they are safe.
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
            // That the room is gone is no news to who left it.
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

    /// Has the server tell who is in a room, once each time it is opened.
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

    /// Whether a mention of everyone would notify them. Where a server decides, not before it said so.
    func mayNotifyEveryone(in room: RoomID) -> Bool {
        !service.capabilities.contains(.memberList) || notifiableRooms.contains(room)
    }

    /// Encryption may come to a room at any time, and never goes.
    private func checkEncryption() {
        guard let conversation, !conversation.isEncrypted else { return }
        Task { [service] in
            conversation.isEncrypted = (try? await service.isEncrypted(conversation.roomID)) ?? false
        }
    }

    /// Where something cannot be read, what is known stays.
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

    /// Opens a room, as soon as it is in the list, and goes to a message in it.
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

    /// What an edit loses, before it is made; nil for nothing.
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
        // Nobody tells a closed room who has stopped.
        closing.composer.send(.typingUsers([]))
        Task {
            await closing.timeline.flush()
            await closing.composer.flushDraft()
        }
    }
}
