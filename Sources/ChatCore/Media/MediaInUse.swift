import Synchronization

/// The local media that the running program can bring back although nothing stored refers to them, such as the files of
/// a message that was sent, deleted, and can be undone. Their URIs name their content, so accounts need not be told
/// apart.
public final class MediaInUse: Sendable {
    /// Returns URIs of media.
    public typealias Source = @Sendable () async -> Set<String>

    /// Keeps a source registered for as long as it exists.
    public final class Registration: Sendable {
        private let number: Int
        private let owner: MediaInUse

        fileprivate init(_ number: Int, of owner: MediaInUse) {
            self.number = number
            self.owner = owner
        }

        deinit { owner.remove(number) }
    }

    private struct State {
        var sources: [Int: Source] = [:]
        var next = 0
    }

    /// What the whole program uses.
    public static let shared = MediaInUse()

    private let state = Mutex(State())

    public init() {}

    /// Registers a source, which is asked whenever unused files are about to be deleted.
    public func register(_ source: @escaping Source) -> Registration {
        let number = state.withLock { state in
            state.next += 1
            state.sources[state.next] = source
            return state.next
        }
        return Registration(number, of: self)
    }

    /// Returns the URIs of all sources.
    public func uris() async -> Set<String> {
        let sources = state.withLock { Array($0.sources.values) }
        var uris: Set<String> = []
        for source in sources { uris.formUnion(await source()) }
        return uris
    }

    private func remove(_ number: Int) { state.withLock { $0.sources[number] = nil } }
}
