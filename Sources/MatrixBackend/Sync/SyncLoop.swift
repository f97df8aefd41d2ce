import ChatCore
import ChatOutbox
import ChatStore
import Foundation

/// One request of the sync.
struct SyncStep: Sendable {
    enum Outcome: Sendable {
        /// The server has further changes, which the next step returns at once.
        case hasMore
        case caughtUp
    }

    let source: any SyncSource
    /// The token that the previous step stored; `nil` to start over.
    let token: String?
    /// The setting that stores the token.
    let setting: String
    /// How long the server may wait for changes.
    let wait: Duration
}

/// Requests changes from the server, one request after another, until it is stopped or the session ends.
actor SyncLoop {
    /// What the loop delegates to its owner.
    struct Handlers: Sendable {
        /// Requests the changes after a token, and stores them together with the next token.
        var advance: @Sendable (SyncStep) async throws -> SyncStep.Outcome
        /// Returns the position of to-device messages, right before each request.
        var cryptoPosition: @Sendable () async throws -> AccountEncryption.Position? = { nil }
        /// Called before a sync that starts over, which does not mention the rooms that were left meanwhile.
        var willStartOver: @Sendable () async throws -> Void
        /// Called when the store becomes current, also after a failure.
        var didCatchUp: @Sendable () async -> Void = {}
        /// Called when an update is stored, with the number of syncs that had begun.
        var didApply: @Sendable (_ isCaughtUp: Bool, _ number: Int) async -> Void
        /// Called with the state of the connection after each success and each failure that concerns it.
        var report: @Sendable (MatrixBackend.Connection) async -> Void
    }

    /// How long the server may wait for changes.
    private static let wait = Duration.seconds(30)
    /// After so many requests of an account that has caught up, another rejection of its token counts as the first.
    private static let lastingSuccess = 5

    private let client: MatrixClient
    private let store: ChatStore
    private let clock: any Clock<Duration>
    private let status: SyncStatus
    private let hasSlidingSync: Bool
    private let handlers: Handlers
    private let backOff = BackOff()
    private var task: Task<Void, Never>?
    private var isStopped = false
    /// The token that the loop was started with.
    private var token: AccessToken?

    private var isSliding = true
    private var isOnline = false
    private var failures = 0
    /// How often the server has rejected the token since ``lastingSuccess``. One that rejects each token that it has
    /// just returned must not be asked for everything again and again.
    private var expirations = 0
    /// How many requests have succeeded since the last rejection of the token, while the account had caught up.
    private var successes = 0
    private var window = SyncWindow()

    init(
        client: MatrixClient, store: ChatStore, clock: any Clock<Duration>, status: SyncStatus, hasSlidingSync: Bool,
        handlers: Handlers
    ) {
        self.client = client
        self.store = store
        self.clock = clock
        self.status = status
        self.hasSlidingSync = hasSlidingSync
        self.handlers = handlers
    }

    /// Starts the loop, or restarts it without waiting for a response or a delay. It does not start again after
    /// ``stop()``.
    func restart() {
        guard !isStopped else { return }
        status.hasCaughtUp = false
        let before = task
        before?.cancel()
        token = client.token
        task = Task { [weak self] in
            await before?.value
            await self?.run()
        }
    }

    /// Ends the loop, if it was started with this token, without waiting for it, as from one of its handlers.
    func cancel(of token: AccessToken) {
        if token == self.token { task?.cancel() }
    }

    /// Ends the loop for good and waits until it has ended.
    func stop() async {
        isStopped = true
        task?.cancel()
        await task?.value
    }

    private func run() async {
        (isSliding, isOnline, failures, window) = (hasSlidingSync, false, 0, SyncWindow())
        (expirations, successes) = (0, 0)
        while !Task.isCancelled {
            // Also for a failure, after which only its window counts.
            var source: any SyncSource =
                isSliding ? SlidingSync(client: client, window: window) : PlainSync(client: client, window: window)
            do {
                if isSliding {
                    source = SlidingSync(
                        client: client, window: window, crypto: try await handlers.cryptoPosition())
                }
                try await sync(from: source)
                failures = 0
                if status.hasCaughtUp { successes += 1 }
                if successes >= Self.lastingSuccess { expirations = 0 }
                if window.grow() { await narrow(source) }
                isOnline = true
                await handlers.report(.online)
            } catch is CancellationError where Task.isCancelled {
                // If it was canceled elsewhere, the loop goes on.
                return
            } catch MatrixError.signedOut(let isSoft) {
                return await handlers.report(.signedOut(isSoft: isSoft))
            } catch {
                status.hasCaughtUp = false
                await recover(from: error, source)
            }
        }
    }

    static let settings = (sliding: "matrix.sync.sliding", plain: "matrix.sync.plain")
    /// The setting that stores the token of the sync.
    private var setting: String { isSliding ? Self.settings.sliding : Self.settings.plain }

    private func sync(from source: any SyncSource) async throws {
        let token = try await store.setting(setting).flatMap { $0.isEmpty ? nil : $0 }
        if token == nil { try await handlers.willStartOver() }
        let number = status.begin()
        // After a failed request the store may lack changes: catch up before waiting for others.
        let canWait = isOnline && failures == 0
        let step = SyncStep(source: source, token: token, setting: setting, wait: canWait ? Self.wait : .zero)
        let isCaughtUp = try await handlers.advance(step) == .caughtUp
        // A sync that a restart has canceled must not report that it has caught up.
        try Task.checkCancellation()
        if isCaughtUp, !status.hasCaughtUp {
            status.hasCaughtUp = true
            await handlers.didCatchUp()
        }
        await handlers.didApply(isCaughtUp, number)
        try Task.checkCancellation()
    }

    private func recover(from error: any Error, _ source: any SyncSource) async {
        switch error {
        case MatrixError.rejected(404, _, _) where isSliding,
            MatrixError.rejected(400, "M_UNRECOGNIZED", _) where isSliding,
            MatrixError.rejected(405, "M_UNRECOGNIZED", _) where isSliding:
            isSliding = false
        case MatrixError.rejected(400, _, _):
            // The server does not know the sync token any more: start an initial sync over the stored data.
            failures += 1
            expirations += 1
            successes = 0
            // If that fails, the server rejects the token once more.
            try? await store.setSetting("", for: setting)
            await reportFailure(error)
            guard expirations > 1 else { return }
            await pause(backOff.delay(after: expirations, draw: .random(in: 0...1)))
        default:
            failures += 1
            var attempts = failures
            if Self.isTooMuch(error) {
                let isLess = window.shrink()
                let isNarrower = await narrow(source)
                if isLess || isNarrower { failures = 1 }
                attempts = max(failures, window.falls)
            }
            await reportFailure(error)
            var delay = backOff.delay(after: attempts, draw: .random(in: 0...1))
            if case MatrixError.busy(let retryAfter) = error { delay = max(delay, retryAfter) }
            await pause(delay)
        }
    }

    private func reportFailure(_ error: any Error) async {
        if case MatrixError.untrusted(let problem) = error {
            isOnline = false
            await handlers.report(.untrusted(problem))
        } else if failures > 1 {
            // A single failed request does not mean being offline.
            isOnline = false
            await handlers.report(.offline)
        }
    }

    /// Whether a smaller request may succeed: the response was too large, did not come in time, or contained something
    /// that cannot be parsed.
    private static func isTooMuch(_ error: any Error) -> Bool {
        switch error {
        case MatrixError.tooLarge, MatrixError.malformed, MatrixError.unreachable(_, isTimeout: true): true
        default: false
        }
    }

    /// Resets the token's room range to the window's first rooms.
    /// - Returns: Whether the range was larger before.
    @discardableResult
    private func narrow(_ source: any SyncSource) async -> Bool {
        do {
            guard let token = try await store.setting(setting), !token.isEmpty else { return false }
            let narrowed = source.narrowed(token, to: window)
            guard narrowed != token else { return false }
            status.hasCaughtUp = false
            // The server does not report rooms that are left while outside the range. They would stay in the list
            // without this record, so keep the range if it cannot be made.
            try await handlers.willStartOver()
            try await store.setSetting(narrowed, for: setting)
            return true
        } catch {
            return false
        }
    }

    /// Waits, or returns at once if the task is canceled; the loop checks that.
    private func pause(_ duration: Duration) async { try? await clock.sleep(for: duration, tolerance: nil) }
}
