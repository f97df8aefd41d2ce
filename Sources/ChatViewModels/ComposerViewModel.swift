public import ChatCore
public import Composer
public import Foundation
public import Observation

/// A room's composer: the engine, with the room's services behind it.
@Observable
public final class ComposerViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        /// All but the text, which views mirror edit by edit (``ComposerViewModel/onTextEffect``).
        public var composer: ComposerState
        /// The first line of the message being edited.
        public var editQuote: String?
        /// What saving the edit will lose, in words for the user.
        public var editWarning: String?
        /// Whether the stored draft was looked for; what is written before that is added to it then.
        public var isReady = false
    }

    public nonisolated enum Action: Sendable {
        case composer(ComposerEvent)
        /// Changes a stored message. One with files may lose its text; a warning says what saving will lose.
        case startEdit(MessageID, WrittenText, mayBeEmpty: Bool = false, warning: String? = nil)
        /// Answers a message with what is written next; ends an edit.
        case startReply(ReplyTarget)
        /// Who else types now; all others have stopped.
        case typingUsers([String])
        /// The message that is being edited was deleted.
        case messageDeleted(MessageID)
    }

    public nonisolated enum Output: Equatable, Sendable {
        /// The user wants to edit the newest own message.
        case editLast
        case editing(MessageID?)
        /// The message that is being answered.
        case replyingTo(MessageID?)
        /// A message was stored by the backend.
        case sent
        /// The user emptied the text, which ``ComposerEvent/undo`` brings back.
        case cleared
        case failed(ChatError)
        /// Another message's edit was left half done; ``ComposerEvent/undo`` goes back to it.
        case editSuspended
        /// Nothing was changed, for this reason.
        case rejected(ComposerRejection)
        /// A command was not carried out, for this reason in words for the user; its text is back.
        case notDone(String)
    }

    public let roomID: RoomID
    public private(set) var state: State
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    /// Told at once, in order, of what a view of the text must mirror: edits, selection, clipboard and focus.
    @ObservationIgnored public var onTextEffect: ((ComposerEffect) -> Void)?
    /// Carries out what is more than a message. What it throws is told, and the command's text comes back.
    @ObservationIgnored public var onCommand: ((ChatCommand) async throws -> Void)?

    @ObservationIgnored private let engine: HostedEngine
    @ObservationIgnored private let service: any MessageService & DraftService
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private let makeTransactionID: () -> TransactionID
    @ObservationIgnored private let timer: DeadlineTimer
    @ObservationIgnored private let drafts: DraftWriter
    @ObservationIgnored private let deliveries = DeliveryQueue()
    @ObservationIgnored private let typing: LatestValueSink<Bool>
    @ObservationIgnored private var editing: MessageID?
    /// Measures what a long text becomes, off the main actor; of several the newest.
    @ObservationIgnored private lazy var sizes = LatestValueSink<(ComposerDocument, Int)> { [weak self] in
        await self?.measure($0.0, revision: $0.1)
    }
    /// The revision of the text that was measured last, or needed no measuring.
    @ObservationIgnored private var measuredRevision = 0
    /// Of the messages that were edited since the start: undo may go back to an edit.
    @ObservationIgnored private var editWarnings: [MessageID: String] = [:]
    @ObservationIgnored private var pendingEvents = EventQueue()
    /// Takes files in; nil where the service has no place for them.
    @ObservationIgnored public private(set) var attachments: AttachmentQueue?
    @ObservationIgnored private lazy var completion = CompletionQueries { [weak self] in self?.handle($0) }

    public init(
        roomID: RoomID, service: any MessageService & DraftService, media: (any MediaService)? = nil,
        configuration: ComposerConfiguration = .preset(.parlance), time: Timekeeper = .continuous,
        makeTransactionID: @escaping () -> TransactionID = { TransactionID(UUID().uuidString) }
    ) {
        self.roomID = roomID
        self.service = service
        self.time = time
        timer = DeadlineTimer(time)
        self.makeTransactionID = makeTransactionID
        var configuration = configuration
        // With the time to write it the draft on disk is at most half a second behind the keyboard.
        configuration.draftDelay = .milliseconds(300)
        // Services tell when others stop; the deadline is for a stop that got lost.
        configuration.typingTimeout = .seconds(30)
        configuration.attachments = AttachmentLimits(count: ChatLimits.attachments, bytes: ChatLimits.attachmentBytes)
        preferences = WritingPreferences(sendKey: configuration.sendKey)
        let engine = HostedEngine(configuration)
        self.engine = engine
        drafts = DraftWriter(service: service, roomID: roomID, stored: engine.makeDraft())
        typing = LatestValueSink { await service.setTyping($0, in: roomID) }
        state = State(composer: engine.state)
        drafts.onFailure = { [weak self] in self?.onOutput?(.failed($0)) }
        attachments = media.map { AttachmentQueue(service: $0, composer: self) }
    }

    /// The text and its spans, for a view that begins to mirror it.
    public var document: ComposerDocument { engine.document }
    public var configuration: ComposerConfiguration { engine.configuration }
    public var keys: KeyTable { engine.keys }

    var allAttachments: [Attachment] { engine.makeDraft().allAttachments }
    /// Before the stored draft was looked for the tray is not there yet; what is refused then is swept away later.
    var acceptsAttachments: Bool { state.isReady }

    /// Told of the emoji that are chosen, so that completion offers them first.
    @ObservationIgnored public var emoji: EmojiLibrary?

    /// Writes an emoji that the user chose in a list, at the caret.
    public func insertEmoji(_ text: String) {
        handle(.insert(text, origin: .typed))
        emoji?.noteUse(of: text)
    }

    /// Tells the user why something could not be done.
    public func report(_ error: ChatError) { onOutput?(.failed(error)) }

    /// Who answers completion queries; of several with one prefix the first. What nobody answers for is not offered.
    public var completionSources: [any CompletionSource] {
        get { completion.sources }
        set { completion.sources = newValue }
    }

    /// What a text that begins with a slash means; nil where it is text like any other.
    public var commands: CommandRegistry? {
        didSet { engine.change { [commands] in $0.setSendGate(commands) } }
    }

    public func withEngine(_ body: @escaping (inout ComposerEngine, Duration) -> [ComposerEffect]) {
        let now = time.now()
        carryOut(engine.run { body(&$0, now) })
    }

    /// What the user chose about writing, from now on.
    public var preferences: WritingPreferences {
        didSet {
            guard preferences != oldValue else { return }
            var configuration = engine.configuration
            configuration.sendKey = preferences.sendKey
            configuration.completion.implicitLength =
                preferences.suggestsMembers ? WritingPreferences.suggestedLength : 0
            carryOut(engine.reconfigure(configuration))
        }
    }

    /// Restores the stored draft and adds what was written meanwhile.
    public func start() async {
        guard !state.isReady else { return }
        let stored = await Result { [service, roomID] in try await service.draft(in: roomID) }
        switch stored {
        case .success(let saved?) where !saved.data.isEmpty: restore(saved)
        case .success: break
        case .failure(let error): onOutput?(.failed(ChatError(error)))
        }
        drafts.noteStored(engine.makeDraft())
        state.isReady = true
        attachments?.failRestoredUploads()
        pendingEvents.replay(into: engine.value, restored: !engine.makeDraft().isEmpty).forEach { handle($0) }
        pendingEvents = EventQueue()
    }

    public func send(_ action: Action) {
        switch action {
        case .composer(let event): handle(event)
        case .startEdit(let message, let text, let mayBeEmpty, let warning):
            editWarnings[message] = warning
            handle(.startEdit(id: message.rawValue, text, mayBeEmpty: mayBeEmpty))
            onTextEffect?(.focusRequested(true))
        case .startReply(let target):
            handle(.reply(target))
            onTextEffect?(.focusRequested(true))
        case .typingUsers(let names):
            for name in state.composer.typingNames where !names.contains(name) {
                handle(.userTyping(name: name, false))
            }
            for name in names { handle(.userTyping(name: name, true)) }
        case .messageDeleted(let message): handle(.messageDeleted(id: message.rawValue))
        }
    }

    /// - Returns: whether the composer took a key press for itself.
    @discardableResult
    public func handle(_ event: ComposerEvent) -> Bool {
        if !state.isReady, let isHandled = pendingEvents.enqueue(event, in: engine.value) { return isHandled }
        let isClearing = clears(event)
        let isHandled = carryOut(engine.handle(event, at: time.now()))
        if isClearing, engine.document.isEmpty { onOutput?(.cleared) }
        return isHandled
    }

    /// Whether the user asks to empty a text that is there (SLK-43).
    private func clears(_ event: ComposerEvent) -> Bool {
        guard !engine.document.isEmpty else { return false }
        switch event {
        case .clear: return true
        case .key(let chord): return engine.keys.action(for: chord, in: engine.keyContext) == .clear
        default: return false
        }
    }

    /// Brings back what ``Output/cleared`` told of, unless something was written since.
    public func undoClearing() {
        if engine.document.isEmpty { handle(.undo) }
    }

    /// Asks the service to stop what is on its way (MIB-10); what it stops comes back into the composer.
    public func cancelSending() { deliveries.cancelCurrent() }

    /// Returns when what was sent is delivered and what is unsent is written. For closing.
    public func flushDraft() async {
        await deliveries.finish()
        if state.composer.failedCount > 0 { handle(.restoreFailedMessage) }
        if state.isReady { drafts.writeIfNeeded(engine.makeDraft()) }
        await drafts.waitUntilIdle()
    }

    // MARK: Effects

    @discardableResult
    private func carryOut(_ effects: [ComposerEffect]) -> Bool {
        distribute(effects, completing: completion) { effect in
            switch effect {
            case .send(let message): deliver(message)
            case .commitEdit(let id, let message): commitEdit(MessageID(id), message)
            case .editLastRequested: onOutput?(.editLast)
            case .editSuspended: onOutput?(.editSuspended)
            case .typing(let isTyping): typing.put(isTyping)
            case .draftChanged: drafts.write(engine.makeDraft())
            case .rejected(let reason): onOutput?(.rejected(reason))
            default: break
            }
        } refresh: {
            refreshState()
            scheduleTimer()
        }
    }

    private func refreshState() {
        var next = state
        next.composer = engine.state
        let editing = next.composer.editing.map { MessageID($0) }
        let isOther = editing != self.editing
        if isOther {
            self.editing = editing
            next.editQuote = editing == nil ? nil : engine.document.firstLine
            next.editWarning = editing.flatMap { editWarnings[$0] }
        }
        let isReplyingToOther = next.composer.reply?.messageID != state.composer.reply?.messageID
        if next != state { state = next }
        if isReplyingToOther { onOutput?(.replyingTo(state.composer.reply.map { MessageID($0.messageID) })) }
        measureIfLong()
        // Last: whoever is told may send the next event at once.
        if isOther { onOutput?(.editing(editing)) }
    }

    /// Up to how many bytes a text is short for any service.
    private static let measuredBytes = 1_000

    /// What a message takes of a server's limit only the service knows (SLK-14); of a short one it need not be asked.
    private func measureIfLong() {
        let revision = state.composer.revision
        guard revision != measuredRevision else { return }
        measuredRevision = revision
        if engine.document.byteCount > Self.measuredBytes {
            sizes.put((engine.document, revision))
        } else if state.composer.counter != nil {
            handle(.measured(nil))
        }
    }

    private func measure(_ document: ComposerDocument, revision: Int) async {
        guard revision == measuredRevision else { return }
        let files = state.composer.attachments.compactMap { MediaReference($0) }
        let excess = await Self.excess(of: document, files, service, isEdit: editing != nil)
        // What is written now is measured by itself, or is short.
        guard revision == measuredRevision else { return }
        handle(.measured(MeasuredSize(excess: excess, bytes: document.byteCount)))
    }

    @concurrent
    private static func excess(
        of document: ComposerDocument, _ files: [MediaReference], _ service: any MessageService & DraftService,
        isEdit: Bool
    ) async -> Int { service.excess(of: WrittenMessage(document.written, files: files), isEdit: isEdit) }

    private func scheduleTimer() {
        timer.schedule(engine.nextDeadline) { [weak self] now in
            guard let self else { return }
            self.carryOut(self.engine.advance(to: now))
        }
    }

    private func restore(_ saved: SavedDraft) {
        // A damaged draft gives an empty composer and a report; the row stays until something new is written.
        carryOut(engine.restore(encoded: saved.data) { MentionTarget(firstDraft: $0, $1) })
    }

    // MARK: Services

    /// Carries out what the user handed over, in order. Meanwhile no draft is written: the stored one goes when the
    /// message is stored and not before, so that a crash between the two loses nothing; and none that is older than
    /// the message comes back behind it.
    private func enqueue(_ work: @escaping @MainActor (ComposerViewModel) async -> Void) {
        drafts.hold()
        deliveries.add { [self] in
            await drafts.waitUntilIdle()
            await work(self)
            drafts.write(engine.makeDraft())
            drafts.release()
        }
    }

    private func deliver(_ message: ComposedMessage) {
        let command = try? commands?.command(in: message.text.source)
        enqueue { composer in
            do {
                // With files it is what they are called, not a command: they would be lost.
                if let command, command.messageCommand == nil, message.attachments.isEmpty {
                    try await composer.onCommand?(command)
                } else {
                    try await composer.deliver(message, as: command?.messageCommand)
                }
                composer.handle(.sendAccepted(message.id))
                // A message that failed before may have its place again.
                if composer.state.composer.failedCount > 0 { composer.handle(.restoreFailedMessage) }
                if command == nil || command?.messageCommand != nil { composer.onOutput?(.sent) }
                if command == .help { composer.handle(.complete("/")) }
            } catch is CancellationError {
                composer.handle(.sendFailed(message.id))
            } catch {
                composer.handle(.sendFailed(message.id))
                composer.onOutput?((error as? CommandFailure).map { .notDone($0.reason) } ?? .failed(ChatError(error)))
            }
        }
    }

    /// A picture that stands in the text parts it: what is before and behind it are messages of their own, in that order, as
    /// others' timelines can show them (MIB-20). All of them are stored, or none, so that none is sent twice.
    private func deliver(_ message: ComposedMessage, as command: MessageCommand?) async throws {
        let messages = WrittenMessage.messages(for: message, as: command)
        // With the message goes the draft in which it was stored, and all that this held beside it.
        let remainingDraft = try await DraftWriter.saved(engine.makeDraft(storing: message.id))
        try await service.send(messages.map { (makeTransactionID(), $0) }, to: roomID, leaving: remainingDraft)
    }

    private func commitEdit(_ id: MessageID, _ message: ComposedMessage) {
        enqueue { composer in
            do {
                try await composer.service.edit(id, in: composer.roomID, to: message.text)
            } catch {
                // What was written is not lost: it is being edited again.
                composer.handle(.editFailed(id: id.rawValue, message))
                composer.onOutput?(.failed(ChatError(error)))
            }
        }
    }
}

nonisolated extension MentionTarget {
    /// What a mention of a first draft means: those had the identifiers that the sources of completion gave.
    init(firstDraft entityID: String, _ text: String) {
        switch entityID {
        case Self.everyoneID: self = .everyone
        case let id where id.hasPrefix("!") || id.hasPrefix("#") || text.hasPrefix("#"): self = .room(id)
        default: self = .member(entityID)
        }
    }
}
