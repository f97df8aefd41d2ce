public import ChatCore
public import Composer
public import Observation

/// A composer for any host: the engine with a clock and completion sources, and no room behind it.
@Observable
public final class ComposerSession: ComposerModel {
    public private(set) var composer: ComposerState
    public private(set) var editQuote: String?
    @ObservationIgnored public var onTextEffect: ((ComposerEffect) -> Void)?

    /// Takes a message that the user sends. If it throws, the message comes back into the composer.
    @ObservationIgnored public var onSend: ((ComposedMessage) async throws -> Void)?
    /// Takes what the user made of the stored message with this identifier. If it throws, that message is edited again, with
    /// what was made of it.
    @ObservationIgnored public var onEdit: ((String, ComposedMessage) async throws -> Void)?
    /// Told of everything else that the composer wants done: drafts, typing, refusals, keys of the host's own.
    @ObservationIgnored public var onEffect: ((ComposerEffect) -> Void)?
    /// Told why a file could not be taken in.
    @ObservationIgnored public var onFailure: ((ChatError) -> Void)?

    @ObservationIgnored private let engine: HostedEngine
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private var sending: [String: Task<Void, Never>] = [:]
    @ObservationIgnored private let timer: DeadlineTimer
    @ObservationIgnored private lazy var completion = CompletionQueries { [weak self] in self?.handle($0) }
    @ObservationIgnored private lazy var attachmentQueue = AttachmentQueue(service: nil, composer: self)
    /// Edits that failed while another message was being edited.
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

    /// May be changed at any time; the text, the modes and what undo holds stay.
    public var configuration: ComposerConfiguration {
        get { engine.configuration }
        set { carryOut(engine.reconfigure(inTheUsersWords(newValue))) }
    }

    /// What the typing indicator says in the user's language where the configuration has no words of its own (SLK-64).
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

    /// Which key does what; may be changed at any time (SLK-47).
    public var keys: KeyTable {
        get { engine.keys }
        set { engine.keys = newValue }
    }

    /// Who answers completion queries; of several with one prefix the first.
    public var completionSources: [any CompletionSource] {
        get { completion.sources }
        set { completion.sources = newValue }
    }

    /// What was accepted for a mention, with its metadata, as the source told it (HKW-36, MIB-29); nil for a mention that came
    /// otherwise, as with a draft: the host knows it by its identifier.
    public func entity(of mention: MentionTarget) -> CompletionEntity? { completion.accepted[mention.id] }

    /// Whether sources get ready when the text has the focus for the first time, before anybody asks them (HKW-50).
    @ObservationIgnored public var prefetchesCompletion = false

    /// Where copies of files are kept that the user adds; nil takes none, unless an input plug-in does.
    public var media: (any MediaService)? {
        get { attachmentQueue.service }
        set { attachmentQueue.service = newValue }
    }

    /// What is added, pasted and dropped goes this way: input plug-ins first, then the tray (MIB-19, MIB-22).
    public var attachments: AttachmentQueue? { attachmentQueue }

    /// The draft, for a host that stores it.
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

    /// Never over another edit: it waits until that has ended.
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
    /// The first line of the text, shortened: what a quote shows.
    var firstLine: String { String(text.prefix { !$0.isNewline }.prefix(200)) }
}
