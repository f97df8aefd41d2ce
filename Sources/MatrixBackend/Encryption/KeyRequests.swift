import ChatOutbox
import Foundation
import JSONReading
import MatrixCrypto

/// Makes the requests of a ``CryptoMachine`` in turn, beside the sync.
///
/// After an error response, only requests of the same kind wait before the next attempt; without a response, all do.
actor KeyRequests {
    private let machine: CryptoMachine
    private let client: MatrixClient
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let backOff = BackOff()
    /// Called after each request, with a response or without.
    private let didAnswer: @Sendable () async -> Void
    private var task: Task<Void, Never>?
    private var alarm: Task<Void, Never>?
    /// The wait of all requests before a retry. Calls of ``makeAllRequests()`` and ``retryNow()`` skip it.
    private var pause: Task<Void, Never>?
    /// The kinds of requests that wait before a retry.
    private var pauses: [CryptoRequest.Kind: KindPause] = [:]
    /// The kinds of requests whose last one failed.
    private var failures: [CryptoRequest.Kind: Failures] = [:]
    /// Callers of ``makeAllRequests()``.
    private var waiters: [CheckedContinuation<Bool, Never>] = []
    /// After this many unusable answers, the server itself counts as the source: the request must not hold up others for
    /// ever.
    private static let maxUnusableAnswers = 10
    /// How many queries in succession may be rejected before the next one has to wait. Finding the user who causes it
    /// takes fewer.
    private static let maxRejectedQueries = 10
    /// Whether the machine may have new requests.
    private var hasNews = false
    private var isStopped = false

    private struct KindPause {
        let task: Task<Void, Never>
        /// Whether the server demands it, so that nothing skips it.
        let isDemanded: Bool
    }

    /// What has failed in succession.
    private struct Failures {
        var attempts = 0
        var unusableAnswers = 0
        var rejectedQueries = 0
    }

    init(
        machine: CryptoMachine, client: MatrixClient, clock: any Clock<Duration>, now: @escaping @Sendable () -> Date,
        didAnswer: @escaping @Sendable () async -> Void
    ) {
        self.machine = machine
        self.client = client
        self.clock = clock
        self.now = now
        self.didAnswer = didAnswer
    }

    /// Checks for requests. Cheap enough for every sync.
    func wake() {
        hasNews = true
        guard task == nil, !isStopped else { return }
        task = Task { await run() }
    }

    /// Repeats at once what has failed, as the server can be reached again.
    func retryNow() {
        skipPauses()
        wake()
    }

    /// Makes all current requests.
    /// - Returns: Whether all succeeded. A failed one is retried later.
    func makeAllRequests() async -> Bool {
        guard !isStopped, client.token != nil else { return false }
        skipPauses()
        return await withCheckedContinuation { continuation in
            waiters.append(continuation)
            wake()
        }
    }

    private func answerWaiters(_ isDone: Bool) {
        let all = waiters
        waiters = []
        for waiter in all { waiter.resume(returning: isDone) }
    }

    /// Stops after the current request.
    func stop() async {
        isStopped = true
        alarm?.cancel()
        pause?.cancel()
        task?.cancel()
        await task?.value
        for pause in pauses.values { pause.task.cancel() }
        answerWaiters(false)
    }

    private enum Outcome {
        /// There are no more requests, except for those of kinds that wait.
        case done(isComplete: Bool)
        /// There is no token; a new one wakes it.
        case ended
        case failed
    }

    private func run() async {
        var attempts = 0
        // Without a token, the server would refuse each request.
        while hasNews, client.token != nil, !Task.isCancelled {
            hasNews = false
            switch await ask() {
            case .done(let isComplete):
                attempts = 0
                if !isComplete { answerWaiters(false) } else if !hasNews { answerWaiters(true) }
            case .ended: break
            case .failed:
                attempts += 1
                hasNews = true
                answerWaiters(false)
                await sleep(for: backOff.delay(after: attempts, draw: .random(in: 0...1)))
            }
        }
        task = nil
        answerWaiters(false)
    }

    private func sleep(for delay: Duration) async {
        let pause = Task<Void, Never> { [clock] in
            // Throws only if canceled, and then the loop checks again.
            try? await clock.sleep(for: delay, tolerance: nil)
        }
        self.pause = pause
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        self.pause = nil
    }

    // MARK: Kinds of requests

    /// Delays the next request of a kind.
    /// - Parameter demanded: The wait that the server demands.
    private func delay(_ kind: CryptoRequest.Kind, demanded: Duration = .zero) {
        failures[kind, default: Failures()].attempts += 1
        let attempts = failures[kind]?.attempts ?? 1
        let wait = max(demanded, backOff.delay(after: attempts, draw: .random(in: 0...1)))
        pauses[kind]?.task.cancel()
        pauses[kind] = KindPause(
            task: Task { await endPause(of: kind, after: wait) }, isDemanded: demanded > .zero)
    }

    private func endPause(of kind: CryptoRequest.Kind, after wait: Duration) async {
        do { try await clock.sleep(for: wait, tolerance: nil) } catch { return }
        // It may have been skipped, and another one begun, since the clock woke it.
        guard !Task.isCancelled else { return }
        pauses[kind] = nil
        wake()
    }

    private func skipPauses() {
        pause?.cancel()
        for (kind, pause) in pauses where !pause.isDemanded {
            pause.task.cancel()
            pauses[kind] = nil
        }
    }

    // MARK: Requests

    /// Makes requests in turn until there are none.
    private func ask() async -> Outcome {
        var isComplete = true
        do {
            while let request = try await machine.nextRequest(at: now(), skipping: Set(pauses.keys)) {
                if try await !perform(request) { isComplete = false }
            }
            try await setAlarm()
            return .done(isComplete: isComplete && pauses.isEmpty)
        } catch MatrixError.signedOut {
            return .ended
        } catch is CancellationError where Task.isCancelled {
            return .ended
        } catch {
            // No response, a failure of the storage, or a cancellation elsewhere.
            return .failed
        }
    }

    /// - Returns: Whether the request succeeded, or smaller ones take its place.
    /// - Throws: If there is no response, or if the token is invalid.
    private func perform(_ request: CryptoRequest) async throws -> Bool {
        let response: Result<JSONValue, MatrixError>
        do {
            response = try await client.perform(request.action)
        } catch {
            try await machine.failed(request)
            if !(error is CancellationError) { await didAnswer() }
            throw error
        }
        switch response {
        case .success(let answer):
            try await answered(request, with: answer)
            return true
        case .failure(.malformed) where request.action.kind == .uploadSignatures:
            // An answer by something before the server, as a proxy: they are uploaded again later.
            try await answered(request, with: .null)
            return true
        case .failure(let error):
            return try await failed(request, with: error)
        }
    }

    private func answered(_ request: CryptoRequest, with answer: JSONValue) async throws {
        failures[request.action.kind] = nil
        try await machine.answered(request, with: answer, at: now())
        await didAnswer()
    }

    /// Handles an error response.
    /// - Returns: Whether smaller requests take the place of this one. Otherwise, its kind waits.
    private func failed(_ request: CryptoRequest, with error: MatrixError) async throws -> Bool {
        let kind = request.action.kind
        if case .signedOut = error {
            // Observers wake this again, and nothing succeeds before the next sign-in.
            try await machine.failed(request)
            throw error
        }
        let isRejected = noteRejection(by: error, of: kind)
        if isRejected {
            try await machine.refused(request, at: now())
        } else {
            try await machine.failed(request)
        }
        // What was confirmed may not be any more.
        await didAnswer()
        if isRejected, case .query(let query) = request.action {
            failures[kind, default: Failures()].rejectedQueries += 1
            // The machine halves it, and delays a user who is alone.
            if failures[kind]?.rejectedQueries ?? 0 <= Self.maxRejectedQueries { return query.users.count > 1 }
        }
        var demanded = Duration.zero
        if case .busy(let wait) = error { demanded = wait }
        delay(kind, demanded: demanded)
        return false
    }

    /// - Returns: Whether repeating the request is pointless.
    private func noteRejection(by error: MatrixError, of kind: CryptoRequest.Kind) -> Bool {
        if case .malformed = error, failures[kind]?.unusableAnswers ?? 0 < Self.maxUnusableAnswers {
            // The server may not have seen the request.
            failures[kind, default: Failures()].unusableAnswers += 1
            return false
        }
        if error.isRejection { failures[kind]?.unusableAnswers = 0 }
        return error.isRejection
    }

    private func setAlarm() async throws {
        alarm?.cancel()
        let time = now()
        guard let next = try await machine.nextAttempt(after: time) else { return }
        let wait = Duration.milliseconds(Int(next.timeIntervalSince(time) * 1000) + 1)
        alarm = Task { await ring(after: wait) }
    }

    private func ring(after wait: Duration) async {
        do { try await clock.sleep(for: wait, tolerance: nil) } catch { return }
        wake()
    }
}

extension MatrixError {
    /// Whether repeating the request is pointless, since the server rejects its content.
    fileprivate var isRejection: Bool {
        switch self {
        case .rejected(let status, _, _): status == 400 || status == 413
        case .malformed, .tooLarge: true
        case .unreachable, .untrusted, .busy, .signedOut: false
        }
    }
}
