public import ChatCore
public import Composer
public import Observation

/// A stand-alone composer for any host: the engine with a clock and completion sources, without a room.
@Observable
public final class ComposerSession: ComposerModel {
    public private(set) var composer: ComposerState
    public private(set) var editQuote: String?
    @ObservationIgnored public var onTextEffect: ((ComposerEffect) -> Void)?

    /// Sends a message. If it throws, the message returns to the composer.
    @ObservationIgnored public var onSend: ((ComposedMessage) async throws -> Void)?
    /// Saves an edit of the stored message with this identifier. If it throws, the edit is reopened with the new text.
    @ObservationIgnored public var onEdit: ((String, ComposedMessage) async throws -> Void)?
    /// Receives all other effects, such as drafts, typing, rejections and custom key actions.
    @ObservationIgnored public var onEffect: ((ComposerEffect) -> Void)?
    /// Receives errors from adding files.
    @ObservationIgnored public var onFailure: ((ChatError) -> Void)?

    @ObservationIgnored private let engine: HostedEngine
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private var sending: [String: Task<Void, Never>] = [:]
    @ObservationIgnored private let timer: DeadlineTimer
    @ObservationIgnored private lazy var completion = CompletionQueries { [weak self] in self?.handle($0) }
    @ObservationIgnored private lazy var attachmentQueue = AttachmentQueue(service: nil, composer: self)
    /// Failed edits that wait until the current edit ends.
    @ObservationIgnored private var failedEdits: [(id: String, message: ComposedMessage)] = []
    @ObservationIgnored private var hasBeenFocused = false

    public init(configuration: ComposerConfiguration = ComposerConfiguration(), time: Timekeeper = .continuous) {
        let engine = HostedEngine(configuration)
        self.engine = engine
        self.time = time
        timer = DeadlineTimer(time)
        composer = engine.state
    }

    public var document: ComposerDocument { engine.document }

    /// The configuration; changing it keeps the text, the modes and the undo history.
    public var configuration: ComposerConfiguration {
        get { engine.configuration }
        set { carryOut(engine.reconfigure(inTheUsersWords(newValue))) }
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

    /// The sources that answer completion queries; for a prefix that several share, the first one.
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

    /// Returns the draft, for the host to store.
    public func makeDraft() -> ComposerDraft { engine.makeDraft() }

    @discardableResult
    public func handle(_ event: ComposerEvent) -> Bool { carryOut(engine.handle(event, at: time.now())) }

    public func withEngine(_ body: @escaping (inout ComposerEngine, Duration) -> [ComposerEffect]) {
        let now = time.now()
        carryOut(engine.run { body(&$0, now) })
    }

    @discardableResult
    private func carryOut(_ effects: [ComposerEffect]) -> Bool {
        distribute(effects, completing: completion) { effect in
            switch effect {
            case .send(let message): deliver(message)
            case .commitEdit(let id, let message): commitEdit(id, message)
            default: onEffect?(effect)
            }
        } refresh: {
            refreshState()
            reopenFailedEdit()
        }
    }

    private func refreshState() {
        let next = engine.state
        if next.editing != composer.editing { editQuote = next.editing == nil ? nil : engine.document.firstLine }
        if next != composer { composer = next }
        if next.isFocused, !hasBeenFocused {
            hasBeenFocused = true
            if prefetchesCompletion { completion.prefetch() }
        }
        timer.schedule(engine.nextDeadline) { [weak self] now in
            guard let self else { return }
            self.carryOut(self.engine.advance(to: now))
        }
    }

    public func cancelSending() { sending.values.forEach { $0.cancel() } }

    private func deliver(_ message: ComposedMessage) {
        sending[message.id] = Task {
            defer { sending[message.id] = nil }
            do {
                try await onSend?(message)
                handle(.sendAccepted(message.id))
            } catch {
                handle(.sendFailed(message.id))
                handle(.restoreFailedMessage)
            }
        }
    }

    private func commitEdit(_ id: String, _ message: ComposedMessage) {
        guard let onEdit else { return }
        Task {
            do {
                try await onEdit(id, message)
            } catch {
                failedEdits.append((id, message))
                reopenFailedEdit()
            }
        }
    }

    /// Waits while another edit is in progress.
    private func reopenFailedEdit() {
        guard !failedEdits.isEmpty, composer.editing == nil else { return }
        let (id, message) = failedEdits.removeFirst()
        handle(.startEdit(id: id, message.text, mayBeEmpty: message.mayBeEmpty))
    }
}

extension ComposerSession: AttachmentHolder {
    var allAttachments: [Attachment] { engine.makeDraft().allAttachments }
    var acceptsAttachments: Bool { true }
    func report(_ error: ChatError) { onFailure?(error) }
}

extension ComposerDocument {
    /// The first line of the text, at most 200 characters, as shown in a quote.
    var firstLine: String { String(text.prefix { !$0.isNewline }.prefix(200)) }
}
