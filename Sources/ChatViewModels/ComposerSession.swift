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
    /// Takes what the user made of the stored message with this identifier.
    @ObservationIgnored public var onEdit: ((String, ComposedMessage) -> Void)?
    /// Told of everything else that the composer wants done: drafts, typing, refusals, keys of the host's own.
    @ObservationIgnored public var onEffect: ((ComposerEffect) -> Void)?

    @ObservationIgnored private var engine: ComposerEngine
    @ObservationIgnored private let time: Timekeeper
    @ObservationIgnored private var sending: [String: Task<Void, Never>] = [:]
    @ObservationIgnored private let timer: DeadlineTimer
    @ObservationIgnored private lazy var completion = CompletionQueries { [weak self] in self?.handle($0) }

    public init(configuration: ComposerConfiguration = ComposerConfiguration(), time: Timekeeper = .continuous) {
        let engine = ComposerEngine(configuration: configuration)
        self.engine = engine
        self.time = time
        timer = DeadlineTimer(time)
        composer = engine.state
    }

    public var document: ComposerDocument { engine.document }

    /// May be changed at any time; the text, the modes and what undo holds stay.
    public var configuration: ComposerConfiguration {
        get { engine.configuration }
        set { carryOut(engine.reconfigure(newValue)) }
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

    /// The draft, for a host that stores it.
    public func makeDraft() -> ComposerDraft { engine.makeDraft() }

    @discardableResult
    public func handle(_ event: ComposerEvent) -> Bool { carryOut(engine.handle(event, at: time.now())) }

    @discardableResult
    private func carryOut(_ effects: [ComposerEffect]) -> Bool {
        distribute(effects, completing: completion) { effect in
            switch effect {
            case .send(let message): deliver(message)
            case .commitEdit(let id, let message): onEdit?(id, message)
            default: onEffect?(effect)
            }
        } refresh: {
            refreshState()
        }
    }

    private func refreshState() {
        let next = engine.state
        if next.editing != composer.editing { editQuote = next.editing == nil ? nil : engine.document.firstLine }
        if next != composer { composer = next }
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
                handle(.restoreUnsent)
            }
        }
    }
}

extension ComposerDocument {
    /// The first line of the text, shortened: what a quote shows.
    var firstLine: String { String(text.prefix { !$0.isNewline }.prefix(200)) }
}
