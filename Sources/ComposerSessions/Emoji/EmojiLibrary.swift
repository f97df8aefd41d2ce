import Composer
import Synchronization

/// The emoji catalog with the user's recent emoji and skin tone. Loaded once, off the main thread, on first use.
public nonisolated final class EmojiLibrary: Sendable {
    /// Loads the catalog, once it is needed.
    public typealias Load = @Sendable () async throws -> EmojiCatalog

    /// The maximum number of recent emoji stored.
    public static let recentLimit = 32

    struct Contents: Sendable {
        let catalog: EmojiCatalog
        /// Indexes of short codes, and of names and keywords.
        let codes: CompletionIndex
        let names: CompletionIndex

        init(_ catalog: EmojiCatalog) {
            self.catalog = catalog
            codes = CompletionIndex(
                catalog.emoji.flatMap { emoji in
                    emoji.codes.map { CompletionEntity(id: emoji.text, name: $0, detail: emoji.name) }
                })
            let keywords = Dictionary(
                catalog.emoji.map { ($0.text, $0.keywords) }, uniquingKeysWith: { first, _ in first })
            names = CompletionIndex(
                catalog.emoji.map { CompletionEntity(id: $0.text, name: $0.name, detail: ":\($0.codes[0]):") }
            ) { keywords[$0.id] ?? [] }
        }
    }

    private struct State {
        var contents: Contents?
        var loading: Task<Contents, any Error>?
        var recent: [String]
        var tone: SkinTone
    }

    private let load: Load
    private let onUse: @MainActor @Sendable ([String]) -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - recent: recent emoji as stored, newest first.
    ///   - load: loads the catalog; called off the main thread, and again after an error.
    ///   - onUse: receives the updated recent emoji, to store them.
    public init(
        recent: [String] = [], tone: SkinTone = .none, load: @escaping Load,
        onUse: @escaping @MainActor @Sendable ([String]) -> Void = { _ in }
    ) {
        self.load = load
        self.onUse = onUse
        state = Mutex(State(recent: Array(recent.prefix(Self.recentLimit)), tone: tone))
    }

    /// Recently used emoji without skin tones, newest first.
    public var recent: [String] { state.withLock { $0.recent } }

    /// The preferred skin tone.
    public var tone: SkinTone {
        get { state.withLock { $0.tone } }
        set { state.withLock { $0.tone = newValue } }
    }

    /// The catalog, or `nil` before it is loaded.
    var contents: Contents? { state.withLock { $0.contents } }

    /// Loads the catalog once, joining a load in progress.
    func loaded() async throws -> Contents {
        let task = state.withLock { state -> Task<Contents, any Error> in
            if let contents = state.contents { return Task { contents } }
            if let loading = state.loading { return loading }
            let task = Task.detached { [load] in Contents(try await load()) }
            state.loading = task
            return task
        }
        let result = await task.result
        state.withLock { state in
            state.loading = nil
            if case .success(let contents) = result { state.contents = contents }
        }
        return try result.get()
    }

    /// Records the use of an emoji.
    @MainActor public func noteUse(of emoji: String) {
        let recent = state.withLock { state in
            let plain = state.contents?.catalog.emoji(text: emoji)?.text ?? emoji
            state.recent.removeAll { $0 == plain }
            state.recent.insert(plain, at: 0)
            state.recent = Array(state.recent.prefix(Self.recentLimit))
            return state.recent
        }
        onUse(recent)
    }
}
