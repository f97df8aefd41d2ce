import ChatCore
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
    /// The users about whom the last query was rejected.
    private var rejectedUsers: [ExactText: MatrixError] = [:]
    /// Who waits for all current requests to be made.
    private var waiters: [CheckedContinuation<Attempt, Never>] = []
    /// After this many unusable answers, the server itself counts as the source: the request must not hold up others for
    /// ever.
    private static let maxUnusableAnswers = 10
    /// How many divisible requests in succession may be rejected before the next one has to wait. Finding the user or
    /// device that causes it takes fewer.
    private static let maxRejections = 10
    /// Whether the machine may have new requests.
    private var hasNews = false
    private var isStopped = false

    private struct KindPause {
        let task: Task<Void, Never>
        /// Whether the server demands it, so that nothing skips it.
        let isDemanded: Bool
        let error: MatrixError
    }

    /// What became of all requests that there were.
    private enum Attempt {
        /// - Parameter errors: Why the kinds failed that wait before the next attempt.
        case made(isComplete: Bool, errors: [CryptoRequest.Kind: MatrixError])
        /// Some were not made.
        case ended(any Error)
    }

    /// What has failed in succession.
    private struct Failures {
        var attempts = 0
        var unusableAnswers = 0
        var rejections = 0
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
        guard case .made(let isComplete, _) = await attempt() else { return false }
        return isComplete
    }

    /// Makes all current requests. Other kinds than these may fail.
    /// - Parameter user: Whose devices have to be known by a query.
    /// - Throws: Why one of these kinds has failed. It is retried later.
    func makeRequests(_ kinds: Set<CryptoRequest.Kind>, about user: ExactText) async throws {
        if kinds.contains(.query), rejectedUsers[user] != nil {
            // The user tries again: the last answer may be outdated.
            rejectedUsers[user] = nil
            try await machine.retryQuery(of: user)
        }
        switch await attempt() {
        case .ended(let error): throw error
        case .made(_, let errors):
            if let error = errors.first(where: { kinds.contains($0.key) })?.value { throw error }
            if kinds.contains(.query), let error = rejectedUsers[user] { throw error }
        }
    }

    private func attempt() async -> Attempt {
        guard !isStopped, client.token != nil else { return .ended(Self.noToken) }
        skipPauses()
        return await withCheckedContinuation { continuation in
            waiters.append(continuation)
            wake()
        }
    }

    private static let noToken = MatrixError.unreachable(reason: "no access token")

    private func answerWaiters(_ attempt: Attempt) {
        let all = waiters
        waiters = []
        for waiter in all { waiter.resume(returning: attempt) }
    }

    /// Stops after the current request.
    func stop() async {
        isStopped = true
        alarm?.cancel()
        pause?.cancel()
        task?.cancel()
        await task?.value
        for pause in pauses.values { pause.task.cancel() }
        answerWaiters(.ended(Self.noToken))
    }

    private enum Outcome {
        /// There are no more requests, except for those of kinds that wait.
        case done(isComplete: Bool)
        /// There is no token; a new one wakes it.
        case ended(any Error)
        case failed(any Error)
    }

    private func run() async {
        var attempts = 0
        var isComplete = true
        var ending: any Error = Self.noToken
        // Without a token, the server would refuse each request.
        while hasNews, client.token != nil, !Task.isCancelled {
            hasNews = false
            switch await ask() {
            case .done(let isDone):
                attempts = 0
                isComplete = isComplete && isDone
                // The requests of callers that began to wait meanwhile have not been made yet.
                guard !hasNews else { continue }
                answerWaiters(.made(isComplete: isComplete, errors: pauses.mapValues(\.error)))
                isComplete = true
            case .ended(let error): ending = error
            case .failed(let error):
                attempts += 1
                hasNews = true
                answerWaiters(.ended(error))
                await sleep(for: backOff.delay(after: attempts, draw: .random(in: 0...1)))
            }
        }
        task = nil
        answerWaiters(.ended(ending))
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
    private func delay(_ kind: CryptoRequest.Kind, after error: MatrixError) {
        var demanded = Duration.zero
        if case .busy(let wait) = error { demanded = wait }
        failures[kind, default: Failures()].attempts += 1
        let attempts = failures[kind]?.attempts ?? 1
        let wait = max(demanded, backOff.delay(after: attempts, draw: .random(in: 0...1)))
        pauses[kind]?.task.cancel()
        pauses[kind] = KindPause(
            task: Task { await endPause(of: kind, after: wait) }, isDemanded: demanded > .zero, error: error)
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
        } catch MatrixError.signedOut(let isSoft) {
            return .ended(MatrixError.signedOut(isSoft: isSoft))
        } catch is CancellationError where Task.isCancelled {
            return .ended(Self.noToken)
        } catch {
            // No response, a failure of the storage, or a cancellation elsewhere.
            return .failed(error)
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
        if case .query(let query) = request.action { for user in query.users { rejectedUsers[user] = nil } }
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
        if isRejected, let size = request.divisibleSize {
            failures[kind, default: Failures()].rejections += 1
            if size == 1 {
                if case .query(let query) = request.action {
                    for user in query.users { rejectedUsers[user] = error }
                } else {
                    // Finding a device is progress: a message must not wait longer for each further one.
                    failures[kind]?.rejections = 1
                }
            }
            // The machine halves it, and delays a user or device that is alone.
            if failures[kind]?.rejections ?? 0 <= Self.maxRejections { return size > 1 }
        }
        delay(kind, after: error)
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
        case .rejected(let status, _, _): (status == 400 || status == 413) && !isAboutAccount
        case .malformed, .tooLarge: true
        case .unreachable, .untrusted, .busy, .signedOut: false
        }
    }
}
