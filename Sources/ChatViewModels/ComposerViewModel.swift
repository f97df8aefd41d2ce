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
        /// Whether the stored draft was looked for; before that the composer takes no text.
        public var isReady = false
    }

    public nonisolated enum Action: Sendable {
        case composer(ComposerEvent)
        case beginEdit(MessageID, text: String)
        /// Who else types now; all others have stopped.
        case peersTyping([String])
        /// The message that is being edited was deleted.
        case messageDeleted(MessageID)
    }

    public nonisolated enum Output: Equatable, Sendable {
        /// The user wants to edit the newest own message.
        case editLast
        case editing(MessageID?)
        /// A message was stored by the backend.
        case sent
        case failed(ChatError)
        /// Nothing was changed, for this reason.
        case refused(ComposerRefusal)
    }

    public let roomID: RoomID
    public private(set) var state: State
    @ObservationIgnored public var onOutput: ((Output) -> Void)?
    /// Told at once, in order, of what a view of the text must mirror: edits, selection, clipboard and focus.
    @ObservationIgnored public var onTextEffect: ((ComposerEffect) -> Void)?

    @ObservationIgnored private var engine: ComposerEngine
    @ObservationIgnored private let service: any MessageService & DraftService
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private let makeTransactionID: () -> TransactionID
    @ObservationIgnored private var timer: (deadline: Duration, task: Task<Void, Never>)?
    @ObservationIgnored private var draftWriter: DraftWriter
    @ObservationIgnored private var editing: MessageID?
    @ObservationIgnored private lazy var completion = CompletionQueries { [weak self] in self?.handle($0) }

    public init(
        roomID: RoomID, service: any MessageService & DraftService,
        configuration: ComposerConfiguration = .preset(.parlance), time: Timekeeper = .continuous,
        makeTransactionID: @escaping () -> TransactionID = { TransactionID(UUID().uuidString) }
    ) {
        self.roomID = roomID
        self.service = service
        self.time = time
        self.makeTransactionID = makeTransactionID
        var configuration = configuration
        // With the time to write it the draft on disk is at most half a second behind the keyboard.
        configuration.draftDelay = .milliseconds(300)
        let engine = ComposerEngine(configuration: configuration)
        self.engine = engine
        draftWriter = DraftWriter(service: service, roomID: roomID)
        state = State(composer: engine.state)
    }

    isolated deinit { timer?.task.cancel() }

    /// The text and its spans, for a view that begins to mirror it.
    public var document: ComposerDocument { engine.document }

    /// Who answers completion queries; of several with one prefix the first. What nobody answers for is not offered.
    public var completionSources: [any CompletionSource] {
        get { completion.sources }
        set { completion.sources = newValue }
    }

    /// Which key sends, from now on.
    public var sendKey: SendKey {
        get { engine.configuration.sendKey }
        set {
            guard newValue != engine.configuration.sendKey else { return }
            var configuration = engine.configuration
            configuration.sendKey = newValue
            engine.keys = KeyTable.standard(for: configuration)
        }
    }

    /// Restores the stored draft, unless something was written meanwhile.
    public func start() async {
        let stored = await Result { [service, roomID] in try await service.draft(in: roomID) }
        switch stored {
        case .success(let saved?) where !saved.data.isEmpty: restore(saved)
        case .success: break
        case .failure(let error): onOutput?(.failed(ChatError(error)))
        }
        state.isReady = true
    }

    public func send(_ action: Action) {
        switch action {
        case .composer(let event): handle(event)
        case .beginEdit(let message, let text):
            handle(.beginEdit(id: message.rawValue, ComposerContent(text: text)))
            onTextEffect?(.focusRequested(true))
        case .peersTyping(let names):
            for name in state.composer.typingNames where !names.contains(name) {
                handle(.peerTyping(name: name, false))
            }
            for name in names { handle(.peerTyping(name: name, true)) }
        case .messageDeleted(let message):
            if state.composer.editing == message.rawValue { handle(.cancelEdit) }
        }
    }

    /// - Returns: whether the composer took a key press for itself.
    @discardableResult
    public func handle(_ event: ComposerEvent) -> Bool {
        carryOut(engine.handle(event, at: time.now()))
    }

    /// Writes what is unsent and returns when it is safe. For closing.
    public func flushDraft() async {
        draftWriter.write(engine.makeDraft())
        await draftWriter.finish()
    }

    // MARK: Effects

    @discardableResult
    private func carryOut(_ effects: [ComposerEffect]) -> Bool {
        var handledKey = false
        var requests: [CompletionRequest] = []
        for effect in effects {
            switch effect {
            case .edited, .selectionChanged, .copied, .focusRequested: onTextEffect?(effect)
            case .keyHandled: handledKey = true
            case .send(let message): deliver(message)
            case .commitEdit(let id, let message): commitEdit(MessageID(id), text: message.text)
            case .editLastRequested: onOutput?(.editLast)
            case .typing(let isTyping): tellTyping(isTyping)
            case .draftChanged: draftWriter.write(engine.makeDraft())
            case .refused(let reason): onOutput?(.refused(reason))
            case .completion(let request): requests.append(request)
            case .hostAction, .observed: break
            }
        }
        refreshState()
        scheduleTimer()
        requests.forEach { completion.take($0) }
        return handledKey
    }

    private func refreshState() {
        var next = state
        next.composer = engine.state
        let editing = next.composer.editing.map { MessageID($0) }
        if editing != self.editing {
            self.editing = editing
            next.editQuote = editing == nil ? nil : String(engine.document.text.prefix { !$0.isNewline }.prefix(200))
            onOutput?(.editing(editing))
        }
        if next != state { state = next }
    }

    private func scheduleTimer() {
        guard let deadline = engine.nextDeadline else {
            timer?.task.cancel()
            timer = nil
            return
        }
        if let timer, timer.deadline == deadline { return }
        timer?.task.cancel()
        let task = Task { [weak self, time] in
            guard (try? await time.sleep(deadline)) != nil, let self else { return }
            self.timer = nil
            self.carryOut(self.engine.advance(to: max(deadline, time.now())))
        }
        timer = (deadline, task)
    }

    private func restore(_ saved: SavedDraft) {
        // A damaged draft gives an empty composer and a report; the row stays until something new is written.
        carryOut(engine.restore(encoded: saved.data))
    }

    // MARK: Services

    private func deliver(_ message: ComposedMessage) {
        let outgoing = OutgoingMessage(
            transactionID: makeTransactionID(), text: message.text,
            replyTo: message.replyTo.map { MessageID($0) })
        Task { [self, service, roomID] in
            // A draft still on its way would come back to life behind the message.
            await draftWriter.finish()
            do {
                try await service.send(outgoing, to: roomID)
                handle(.sendAccepted(message.id))
                onOutput?(.sent)
            } catch {
                handle(.sendFailed(message.id))
                onOutput?(.failed(ChatError(error)))
            }
        }
    }

    private func commitEdit(_ message: MessageID, text: String) {
        Task { [self, service, roomID] in
            do {
                try await service.edit(message, in: roomID, text: text)
            } catch {
                // What was written is not lost: it is being edited again.
                send(.beginEdit(message, text: text))
                onOutput?(.failed(ChatError(error)))
            }
        }
    }

    private func tellTyping(_ isTyping: Bool) {
        Task { [service, roomID] in await service.setTyping(isTyping, in: roomID) }
    }
}
