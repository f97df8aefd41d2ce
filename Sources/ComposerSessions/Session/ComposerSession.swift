public import ChatCore
public import Composer
package import Foundation
import MessageMarkup
public import Observation

/// A composer for any host: the engine with a clock, completion sources, files and deliveries, without a room.
@Observable
public final class ComposerSession: ComposerModel {
    /// The state to display; a new value after each event that changes it.
    public private(set) var composer: ComposerState
    public private(set) var editQuote: String?
    public private(set) var spelling: ComposerSpelling?
    /// Whether input is handled at once. False while a stored draft is being loaded, to which it is added afterwards.
    package private(set) var isReady = true

    /// Sends a message. If it throws, the message returns to the composer.
    @ObservationIgnored public var onSend: ((ComposedMessage) async throws -> Void)?
    /// Saves an edit of the stored message with this identifier. If it throws, the edit is reopened with the new text.
    @ObservationIgnored public var onEdit: ((String, ComposedMessage) async throws -> Void)?
    /// Receives all other effects, such as drafts, typing, rejections and custom key actions.
    @ObservationIgnored public var onEffect: ((ComposerEffect) -> Void)?
    /// Receives errors from adding files.
    @ObservationIgnored public var onFailure: ((ChatError) -> Void)?

    /// Receives the states before and after each event.
    @ObservationIgnored package var onUpdate: ((_ before: ComposerState, _ after: ComposerState) -> Void)?
    /// Runs deliveries; `nil` starts each at once, whether or not another is under way.
    @ObservationIgnored package var runDelivery:
        ((_ message: String?, _ delivery: @escaping @MainActor () async -> Void) -> Void)?
    /// Receives what was delivered, with the error if it failed, once the composer knows.
    @ObservationIgnored package var onDelivered: ((Delivery, (any Error)?) -> Void)?

    /// What a session delivers.
    package enum Delivery {
        case message(ComposedMessage)
        case edit
    }

    @ObservationIgnored private var onTextEffect: ((ComposerEffect) -> Void)?
    @ObservationIgnored private let engine: HostedEngine
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private let timer: DeadlineTimer
    @ObservationIgnored private var sending: [String: Task<Void, Never>] = [:]
    @ObservationIgnored private lazy var completion = CompletionQueries { [weak self] in self?.handle($0) }
    @ObservationIgnored private lazy var attachmentQueue = AttachmentQueue(engine: engine) { [weak self] in
        self?.receive($0)
    }
    @ObservationIgnored private var hasBeenFocused = false

    /// Creates a session with an empty text.
    ///
    /// - Parameters:
    ///   - completionSources: see ``completionSources``.
    ///   - inputController: decides what is typed (HKW-6), as ``ComposerModel/setInputController(_:)``.
    ///   - media: see ``media``.
    ///   - time: the clock of timers and undo steps.
    public init(
        configuration: ComposerConfiguration = ComposerConfiguration(),
        completionSources: [any CompletionSource] = [], inputController: (any ComposerInputController)? = nil,
        media: (any MediaService)? = nil, time: Timekeeper = .continuous
    ) {
        let engine = HostedEngine(configuration)
        self.engine = engine
        self.time = time
        timer = DeadlineTimer(time)
        composer = engine.state
        completion.sources = completionSources
        attachmentQueue.service = media
        if let inputController { setInputController(inputController) }
    }

    /// The text with its marks.
    public var document: ComposerDocument { engine.document }

    /// The configuration; changing it keeps the text, the modes and the undo history.
    public var configuration: ComposerConfiguration {
        get { engine.configuration }
        set { perform(engine.reconfigure(inTheUsersWords(newValue))) }
    }

    /// Localized typing phrases, used unless the configuration has its own (SLK-64).
    public var phrases = TypingPhrases() {
        didSet {
            guard phrases != oldValue else { return }
            var next = engine.configuration
            if next.typingPhrases == oldValue { next.typingPhrases = TypingPhrases() }
            configuration = next
        }
    }

    private func inTheUsersWords(_ configuration: ComposerConfiguration) -> ComposerConfiguration {
        guard configuration.typingPhrases == TypingPhrases() else { return configuration }
        var translated = configuration
        translated.typingPhrases = phrases
        return translated
    }

    /// The key bindings (SLK-47).
    public var keys: KeyTable {
        get { engine.keys }
        set { engine.keys = newValue }
    }

    /// The sources that answer completion queries; for a prefix that several share, the first one. Settable, because a
    /// bar in a `.ui` file creates its own session.
    public var completionSources: [any CompletionSource] {
        get { completion.sources }
        set { completion.sources = newValue }
    }

    /// Returns the entity accepted for a mention, including the source's metadata (HKW-36, MIB-29), or `nil` for a
    /// mention that was not completed here, such as one from a draft.
    public func entity(of mention: MentionTarget) -> CompletionEntity? { completion.accepted[mention.id] }

    /// Whether sources prefetch when the text is first focused (HKW-50).
    @ObservationIgnored public var prefetchesCompletion = false

    /// Stores copies of added files; `nil` if files are only accepted by input plug-ins.
    public var media: (any MediaService)? {
        get { attachmentQueue.service }
        set { attachmentQueue.service = newValue }
    }

    /// Handles added, pasted and dropped content: offers it to input plug-ins, then to the tray (MIB-19, MIB-22).
    public var attachments: AttachmentQueue? { attachmentQueue }

    private func receive(_ output: AttachmentQueue.Output) {
        switch output {
        case .event(let event): handle(event)
        case .work(let work): withEngine(work)
        case .failed(let error): report(error)
        }
    }

    /// Reports an error as ``onFailure`` does.
    package func report(_ error: ChatError) { onFailure?(error) }

    // MARK: Spelling

    /// Checks the spelling with a checker's dictionaries; `nil` stops checking. Calling it again starts over, as the
    /// words in dictionaries may have changed.
    public func checkSpelling(by checker: (any SpellChecker)?, in choice: SpellingChoice) {
        guard let checker else {
            spelling?.stop()
            spelling = nil
            return
        }
        let spelling = spelling ?? ComposerSpelling(checker, in: choice) { [weak self] in self?.handle($0) }
        self.spelling = spelling
        spelling.start(in: choice)
    }

    public var misspelled: [TextRange] { engine.misspelled }
    public func misspelling(at offset: Int) -> TextRange? { engine.value.misspelling(at: offset) }

    // MARK: Events

    public func subscribe(_ onTextEffect: @escaping (ComposerEffect) -> Void) { self.onTextEffect = onTextEffect }

    /// Asks the view of the text to take the focus.
    package func requestFocus() { onTextEffect?(.focusRequested(true)) }

    @discardableResult
    public func handle(_ event: ComposerEvent) -> Bool {
        if let isHandled = engine.enqueue(event) { return isHandled }
        return perform(engine.handle(event, at: time.now()))
    }

    public func withEngine(_ body: @escaping (inout ComposerEngine, Duration) -> [ComposerEffect]) {
        let now = time.now()
        perform(engine.run { body(&$0, now) })
    }

    /// The action of a key in the present state.
    package func action(for chord: KeyChord) -> KeyAction? { engine.keys.action(for: chord, in: engine.keyContext) }

    /// Dispatches the effects of an event: to the text view at once, to completion after the state is updated.
    ///
    /// - Returns: whether the composer consumed a key press.
    @discardableResult
    private func perform(_ effects: [ComposerEffect]) -> Bool {
        var handledKey = false
        var requests: [CompletionRequest] = []
        for effect in effects {
            switch effect {
            case .edited, .selectionChanged, .copied, .focusRequested, .misspelled: onTextEffect?(effect)
            case .checkSpelling(let request): spelling?.answer(request)
            case .keyHandled: handledKey = true
            case .completion(let request): requests.append(request)
            case .send(let message): deliver(message.id)
            case .commitEdit(let id, let message): commitEdit(id, message)
            default: onEffect?(effect)
            }
        }
        refreshState()
        requests.forEach { completion.handle($0) }
        return handledKey
    }

    /// The first line of the message being edited without its markup, as it was before the edit.
    private var originalQuote: String? {
        guard let line = engine.originalLine else { return nil }
        let words = MessageMarkup.body(of: line).plainText(.covered)
        // A code block's fence is not text.
        return words.isEmpty ? line.source : words
    }

    private func refreshState() {
        let before = composer
        let next = engine.state
        if next.editing != before.editing { editQuote = originalQuote }
        if next != before { composer = next }
        if next.isFocused, !hasBeenFocused {
            hasBeenFocused = true
            if prefetchesCompletion { completion.prefetch() }
        }
        onUpdate?(before, next)
        timer.schedule(engine.nextDeadline) { [weak self] now in
            guard let self else { return }
            self.perform(self.engine.advance(to: now))
        }
    }

    // MARK: Drafts

    /// Returns the draft, for the host to store.
    public func makeDraft() -> ComposerDraft { engine.makeDraft() }

    /// Returns the draft to store together with the message that has this identifier.
    package func makeDraft(storing id: String) -> ComposerDraft { engine.makeDraft(storing: id) }

    /// Queues input until ``becomeReady()``.
    package func waitForDraft() {
        isReady = false
        engine.waitForDraft()
    }

    /// Restores a stored draft. A damaged one restores an empty composer and a report.
    package func restore(
        encoded data: Data, target: @escaping (_ entityID: String, _ text: String) -> MentionTarget?
    ) {
        perform(engine.restore(encoded: data, target: target))
    }

    /// Handles the input that was queued meanwhile.
    package func becomeReady() {
        isReady = true
        let events = engine.stopWaiting()
        if media != nil { attachmentQueue.failRestoredUploads() }
        events.forEach { handle($0) }
        attachmentQueue.applyEarlyResults()
    }

    /// Puts a stored draft that could not be read before ``becomeReady()`` before what was written since. A damaged one
    /// is reported and changes nothing.
    package func putBefore(
        encoded data: Data, target: @escaping (_ entityID: String, _ text: String) -> MentionTarget?
    ) {
        let now = time.now()
        perform(engine.run { $0.putBefore(encoded: data, at: now, target: target) })
        if media != nil { attachmentQueue.failRestoredUploads() }
    }

    /// Whether text or files wait for ``becomeReady()``.
    package var hasWaitingContent: Bool { engine.hasWaitingContent }

    /// The sources and thumbnails of all files that the composer holds, also for undo and redo.
    public var fileSources: Set<String> { engine.value.fileSources }

    // MARK: Deliveries

    public func cancelSending() { sending.values.forEach { $0.cancel() } }

    /// The message with this identifier that awaits the host's response.
    package func pendingMessage(_ id: String) -> ComposedMessage? { engine.value.pendingMessage(id) }

    /// The engine holds the message until the host has responded, so the delivery that waits for its turn does not.
    private func deliver(_ id: String) {
        run(id) { [self] in
            guard let message = pendingMessage(id) else { return }
            let error = await failure(of: { try await self.onSend?(message) })
            handle(error == nil ? .sendAccepted(id) : .sendFailed(id))
            restoreFailed()
            onDelivered?(.message(message), error)
        }
    }

    private func commitEdit(_ id: String, _ message: ComposedMessage) {
        run { [self] in
            let error = await failure(of: { try await self.onEdit?(id, message) })
            if error != nil { handle(.editFailed(id: id, message)) }
            restoreFailed()
            onDelivered?(.edit, error)
        }
    }

    /// The composer may be empty now: restores an edit or a message that failed while something was being written.
    private func restoreFailed() { handle(.restoreFailedMessage) }

    /// - Parameter id: the message that ``cancelSending()`` cancels; `nil` for an edit.
    private func run(_ id: String? = nil, _ delivery: @escaping @MainActor () async -> Void) {
        if let runDelivery { return runDelivery(id, delivery) }
        let task = Task {
            await delivery()
            if let id { sending[id] = nil }
        }
        if let id { sending[id] = task }
    }

    private func failure(of work: () async throws -> Void) async -> (any Error)? {
        do {
            try await work()
            return nil
        } catch {
            return error
        }
    }
}
