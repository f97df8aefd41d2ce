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
        /// Whether the stored draft was looked for; what is written before that is added to it then.
        public var isReady = false
    }

    public nonisolated enum Action: Sendable {
        case composer(ComposerEvent)
        case beginEdit(MessageID, text: String)
        /// Answers a message with what is written next; ends an edit.
        case beginReply(ReplyTarget)
        /// Answers a message with what is written next; the text gets the focus.
        case reply(ReplyTarget)
        /// Who else types now; all others have stopped.
        case peersTyping([String])
        /// The message that is being edited was deleted.
        case messageDeleted(MessageID)
    }

    public nonisolated enum Output: Equatable, Sendable {
        /// The user wants to edit the newest own message.
        case editLast
        case editing(MessageID?)
        /// The message that is being answered.
        case answering(MessageID?)
        /// A message was stored by the backend.
        case sent
        /// The user emptied the text, which ``ComposerEvent/undo`` brings back.
        case cleared
        case failed(ChatError)
        /// Nothing was changed, for this reason.
        case refused(ComposerRefusal)
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

    @ObservationIgnored private var engine: ComposerEngine
    @ObservationIgnored private let service: any MessageService & DraftService
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private let makeTransactionID: () -> TransactionID
    @ObservationIgnored private let timer: DeadlineTimer
    @ObservationIgnored private let drafts: DraftWriter
    @ObservationIgnored private let deliveries = DeliveryQueue()
    @ObservationIgnored private let typing: LatestValueSink<Bool>
    @ObservationIgnored private var editing: MessageID?
    @ObservationIgnored private var early = EarlyEvents()
    /// Edits that could not be stored, while another message was being edited.
    @ObservationIgnored private var failedEdits: [(message: MessageID, text: String)] = []
    /// Takes files in; nil where the service has no place for them.
    @ObservationIgnored public private(set) var attachments: AttachmentIntake?
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
        sendKey = configuration.sendKey
        let engine = ComposerEngine(configuration: configuration)
        self.engine = engine
        drafts = DraftWriter(service: service, roomID: roomID, stored: engine.makeDraft())
        typing = LatestValueSink { await service.setTyping($0, in: roomID) }
        state = State(composer: engine.state)
        drafts.onFailure = { [weak self] in self?.onOutput?(.failed($0)) }
        attachments = media.map { AttachmentIntake(service: $0, composer: self) }
    }

    /// The text and its spans, for a view that begins to mirror it.
    public var document: ComposerDocument { engine.document }
    public var configuration: ComposerConfiguration { engine.configuration }
    public var keys: KeyTable { engine.keys }

    /// What is in the tray, and what waits behind an edit.
    var allAttachments: [Attachment] {
        let draft = engine.makeDraft()
        return draft.content.attachments + (draft.stash?.attachments ?? [])
    }

    /// Told of the emoji that are chosen, so that completion offers them first.
    @ObservationIgnored public var emoji: EmojiLibrary?

    /// Writes an emoji that the user chose in a list, at the caret.
    public func insertEmoji(_ text: String) {
        handle(.insert(text, origin: .typed))
        emoji?.noteUse(of: text)
    }

    /// What paste and drop take as attachments, and how many.
    public var attachmentLimits: AttachmentLimits { engine.configuration.attachments }

    /// Tells the user why something could not be done.
    public func report(_ error: ChatError) { onOutput?(.failed(error)) }

    /// Who answers completion queries; of several with one prefix the first. What nobody answers for is not offered.
    public var completionSources: [any CompletionSource] {
        get { completion.sources }
        set { completion.sources = newValue }
    }

    /// What a text that begins with a slash means; nil where it is text like any other.
    public var commands: CommandRegistry? {
        didSet { engine.setSendGate(commands) }
    }

    /// Takes events before the composer does, such as a short code that becomes an emoji.
    public func setInputController(_ controller: (any ComposerInputController)?) {
        engine.setInputController(controller)
    }

    /// Which key sends, from now on.
    public var sendKey: SendKey {
        didSet {
            guard sendKey != oldValue else { return }
            var configuration = engine.configuration
            configuration.sendKey = sendKey
            engine.keys = KeyTable.standard(for: configuration)
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
        attachments?.settleRestored()
        early.replay(into: engine, restored: !engine.makeDraft().isEmpty).forEach { handle($0) }
        early = EarlyEvents()
    }

    public func send(_ action: Action) {
        switch action {
        case .composer(let event): handle(event)
        case .beginEdit(let message, let text):
            handle(.beginEdit(id: message.rawValue, ComposerContent(text: text)))
            onTextEffect?(.focusRequested(true))
        case .beginReply(let target):
            if state.composer.editing != nil { handle(.cancelEdit) }
            handle(.reply(target))
            onTextEffect?(.focusRequested(true))
        case .reply(let target):
            handle(.reply(target))
            onTextEffect?(.focusRequested(true))
        case .peersTyping(let names):
            for name in state.composer.typingNames where !names.contains(name) {
                handle(.peerTyping(name: name, false))
            }
            for name in names { handle(.peerTyping(name: name, true)) }
        case .messageDeleted(let message):
            failedEdits.removeAll { $0.message == message }
            if state.composer.editing == message.rawValue { handle(.cancelEdit) }
        }
    }

    /// - Returns: whether the composer took a key press for itself.
    @discardableResult
    public func handle(_ event: ComposerEvent) -> Bool {
        if !state.isReady, let isTaken = early.take(event, in: engine) { return isTaken }
        let isClearing = clears(event)
        let isTaken = carryOut(engine.handle(event, at: time.now()))
        if isClearing, engine.document.isEmpty { onOutput?(.cleared) }
        return isTaken
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
        if state.composer.unsentCount > 0 { handle(.restoreUnsent) }
        if state.isReady { drafts.writeIfNeeded(engine.makeDraft()) }
        await drafts.settle()
    }

    // MARK: Effects

    @discardableResult
    private func carryOut(_ effects: [ComposerEffect]) -> Bool {
        distribute(effects, completing: completion) { effect in
            switch effect {
            case .send(let message): deliver(message)
            case .commitEdit(let id, let message): commitEdit(MessageID(id), message)
            case .editLastRequested: onOutput?(.editLast)
            case .typing(let isTyping): typing.put(isTyping)
            case .draftChanged: drafts.write(engine.makeDraft())
            case .refused(let reason): onOutput?(.refused(reason))
            default: break
            }
        } refresh: {
            refreshState()
            scheduleTimer()
            reopenFailedEdit()
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
        }
        let isAnsweringOther = next.composer.reply?.messageID != state.composer.reply?.messageID
        if next != state { state = next }
        if isAnsweringOther { onOutput?(.answering(state.composer.reply.map { MessageID($0.messageID) })) }
        // Last: whoever is told may send the next event at once.
        if isOther { onOutput?(.editing(editing)) }
    }

    private func scheduleTimer() {
        timer.schedule(engine.nextDeadline) { [weak self] now in
            guard let self else { return }
            self.carryOut(self.engine.advance(to: now))
        }
    }

    private func restore(_ saved: SavedDraft) {
        // A damaged draft gives an empty composer and a report; the row stays until something new is written.
        carryOut(engine.restore(encoded: saved.data))
    }

    // MARK: Services

    /// Carries out what the user handed over, in order. Meanwhile no draft is written: the stored one goes when the
    /// message is stored and not before, so that a crash between the two loses nothing; and none that is older than
    /// the message comes back behind it.
    private func enqueue(_ work: @escaping @MainActor (ComposerViewModel) async -> Void) {
        drafts.hold()
        deliveries.add { [self] in
            await drafts.settle()
            await work(self)
            drafts.write(engine.makeDraft())
            drafts.release()
        }
    }

    private func deliver(_ message: ComposedMessage) {
        let command = try? commands?.command(in: message.text)
        enqueue { composer in
            do {
                // With files it is what they are called, not a command: they would be lost.
                if let command, command.spoken == nil, message.attachments.isEmpty {
                    try await composer.onCommand?(command)
                } else {
                    try await composer.deliver(message, as: command?.spoken)
                }
                composer.handle(.sendAccepted(message.id))
                // A message that failed before may have its place again.
                if composer.state.composer.unsentCount > 0 { composer.handle(.restoreUnsent) }
                if command == nil || command?.spoken != nil { composer.onOutput?(.sent) }
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
    private func deliver(_ message: ComposedMessage, as spoken: SpokenCommand?) async throws {
        try await service.send(OutgoingMessage.messages(for: message, as: spoken, makeTransactionID), to: roomID)
    }

    private func commitEdit(_ id: MessageID, _ message: ComposedMessage) {
        enqueue { composer in
            do {
                try await composer.service.edit(id, in: composer.roomID, text: message.text)
            } catch {
                // What was written is not lost: it is being edited again.
                composer.failedEdits.append((id, message.rawText))
                composer.reopenFailedEdit()
                composer.onOutput?(.failed(ChatError(error)))
            }
        }
    }

    private func reopenFailedEdit() {
        guard state.composer.editing == nil, !failedEdits.isEmpty else { return }
        let (message, text) = failedEdits.removeFirst()
        send(.beginEdit(message, text: text))
    }
}
