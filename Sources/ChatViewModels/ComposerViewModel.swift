public import ChatCore
public import Composer
public import Foundation
public import Observation

/// A room's composer: runs the engine and connects it to the backend.
@Observable
public final class ComposerViewModel: ViewModel {
    public nonisolated struct State: Equatable, Sendable {
        /// The engine's state except the text, which views mirror through ``ComposerViewModel/onTextEffect``.
        public var composer: ComposerState
        /// The first line of the message being edited.
        public var editQuote: String?
        /// A localized description of what saving the edit will lose.
        public var editWarning: String?
        /// Whether the stored draft has been loaded. Input before that is queued and added to it.
        public var isReady = false
    }

    public nonisolated enum Action: Sendable {
        case composer(ComposerEvent)
        /// Edits a stored message. The text of a message with files may be emptied; `warning` is shown while editing.
        case startEdit(MessageID, WrittenText, mayBeEmpty: Bool = false, warning: String? = nil)
        /// Starts a reply to a message, ending any edit.
        case startReply(ReplyTarget)
        /// The complete list of other users who are typing.
        case typingUsers([String])
        /// The message being edited was deleted.
        case messageDeleted(MessageID)
    }

    public nonisolated enum Output: Equatable, Sendable {
        /// Asks to edit the user's newest message.
        case editLast
        case editing(MessageID?)
        /// The message being replied to.
        case replyingTo(MessageID?)
        /// The backend has accepted a message.
        case sent
        /// The user cleared the text; ``ComposerEvent/undo`` restores it.
        case cleared
        case failed(ChatError)
        /// Editing another message interrupted an unfinished edit; ``ComposerEvent/undo`` returns to it.
        case editSuspended
        /// The input was rejected and nothing changed.
        case rejected(ComposerRejection)
        /// A command failed, for this localized reason. Its text is back in the composer.
        case notDone(String)
    }

    public let roomID: RoomID
    public private(set) var state: State
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    /// Receives synchronously and in order what a view of the text must mirror: edits, selection, clipboard and focus.
    @ObservationIgnored public var onTextEffect: ((ComposerEffect) -> Void)?
    /// Executes commands that are not messages. Errors are reported, and the command's text is restored.
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
    /// Measures long texts off the main actor; only the newest of those waiting.
    @ObservationIgnored private lazy var sizes = LatestValueSink<(ComposerDocument, Int)> { [weak self] in
        await self?.measure($0.0, revision: $0.1)
    }
    /// The revision last measured, or known to need no measuring.
    @ObservationIgnored private var measuredRevision = 0
    /// Warnings for all messages edited since the start, since undo may return to an earlier edit.
    @ObservationIgnored private var editWarnings: [MessageID: String] = [:]
    @ObservationIgnored private var pendingEvents = EventQueue()
    /// Adds files to the composer; `nil` if the backend does not support them.
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
        // Together with the time to write it, this keeps the stored draft at most half a second behind the keyboard.
        configuration.draftDelay = .milliseconds(300)
        // The service reports when others stop typing; the timeout covers a lost report.
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
    /// False until the draft is loaded: attachments added before that appear later, and rejected ones are swept.
    var acceptsAttachments: Bool { state.isReady }

    /// Receives the emoji the user picks, so that completion can rank them first.
    @ObservationIgnored public var emoji: EmojiLibrary?

    /// Inserts an emoji picked by the user at the caret.
    public func insertEmoji(_ text: String) {
        handle(.insert(text, origin: .typed))
        emoji?.noteUse(of: text)
    }

    /// Shows an error to the user.
    public func report(_ error: ChatError) { onOutput?(.failed(error)) }

    /// The sources that answer completion queries; for a prefix that several share, the first one.
    public var completionSources: [any CompletionSource] {
        get { completion.sources }
        set { completion.sources = newValue }
    }

    /// The slash commands; `nil` if a leading slash has no meaning.
    public var commands: CommandRegistry? {
        didSet { engine.change { [commands] in $0.setSendGate(commands) } }
    }

    public func withEngine(_ body: @escaping (inout ComposerEngine, Duration) -> [ComposerEffect]) {
        let now = time.now()
        carryOut(engine.run { body(&$0, now) })
    }

    /// The user's writing preferences. Changes apply at once.
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

    /// Restores the stored draft, then replays the input received meanwhile.
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

    /// - Returns: whether the composer consumed a key press.
    @discardableResult
    public func handle(_ event: ComposerEvent) -> Bool {
        if !state.isReady, let isHandled = pendingEvents.enqueue(event, in: engine.value) { return isHandled }
        let isClearing = clears(event)
        let isHandled = carryOut(engine.handle(event, at: time.now()))
        if isClearing, engine.document.isEmpty { onOutput?(.cleared) }
        return isHandled
    }

    /// Whether the event clears a non-empty text (SLK-43).
    private func clears(_ event: ComposerEvent) -> Bool {
        guard !engine.document.isEmpty else { return false }
        switch event {
        case .clear: return true
        case .key(let chord): return engine.keys.action(for: chord, in: engine.keyContext) == .clear
        default: return false
        }
    }

    /// Restores the text reported by ``Output/cleared``, unless something was written since.
    public func undoClearing() {
        if engine.document.isEmpty { handle(.undo) }
    }

    /// Asks the service to cancel the message being sent (MIB-10); its text returns to the composer.
    public func cancelSending() { deliveries.cancelCurrent() }

    /// Returns when queued messages are delivered and the draft is stored. Call it before closing.
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
        // Notify last: the handler may send the next event synchronously.
        if isOther { onOutput?(.editing(editing)) }
    }

    /// Texts up to this many bytes fit every service's limit and are not measured.
    private static let measuredBytes = 1_000

    /// Only the service knows how large an event a message becomes (SLK-14), so long texts are measured by it.
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
        // The text has changed; the newer revision is measured separately.
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
        // A damaged draft restores an empty composer and a report. The stored row stays until a new draft is written.
        carryOut(engine.restore(encoded: saved.data) { MentionTarget(firstDraft: $0, $1) })
    }

    // MARK: Services

    /// Runs deliveries in order. Drafts are held back meanwhile: the backend removes the stored draft together with
    /// storing the message, so a crash in between loses nothing, and no draft older than the message is written
    /// after it.
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
                // A message with files is never a command: the text is their caption, and a command would drop the
                // files.
                if let command, command.messageCommand == nil, message.attachments.isEmpty {
                    try await composer.onCommand?(command)
                } else {
                    try await composer.deliver(message, as: command?.messageCommand)
                }
                composer.handle(.sendAccepted(message.id))
                // The composer may be empty now: restore a message that failed earlier.
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

    /// An image in the text splits it: the parts before and after become separate messages, in that order, as other
    /// clients can display them (MIB-20). They are stored all or none, so a retry sends no part twice.
    private func deliver(_ message: ComposedMessage, as command: MessageCommand?) async throws {
        let messages = WrittenMessage.messages(for: message, as: command)
        // The draft stored along with the message, in the same transaction: everything except this message.
        let remainingDraft = try await DraftWriter.saved(engine.makeDraft(storing: message.id))
        try await service.send(messages.map { (makeTransactionID(), $0) }, to: roomID, leaving: remainingDraft)
    }

    private func commitEdit(_ id: MessageID, _ message: ComposedMessage) {
        enqueue { composer in
            do {
                try await composer.service.edit(id, in: composer.roomID, to: message.text)
            } catch {
                // Return the text to the composer for further editing.
                composer.handle(.editFailed(id: id.rawValue, message))
                composer.onOutput?(.failed(ChatError(error)))
            }
        }
    }
}

nonisolated extension MentionTarget {
    /// Converts a mention in the first draft format, which stored the completion source's identifier.
    init(firstDraft entityID: String, _ text: String) {
        switch entityID {
        case Self.everyoneID: self = .everyone
        case let id where id.hasPrefix("!") || id.hasPrefix("#") || text.hasPrefix("#"): self = .room(id)
        default: self = .member(entityID)
        }
    }
}
