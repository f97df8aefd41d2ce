import ChatOutbox
import Foundation
import JSONReading
import MatrixCrypto

/// Makes the requests of a ``CryptoMachine`` in turn, beside the sync.
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
    /// The wait before a retry. Calls of ``makeAllRequests()`` and ``retryNow()`` skip it.
    private var pause: Task<Void, Never>?
    /// Callers of ``makeAllRequests()``.
    private var waiters: [CheckedContinuation<Bool, Never>] = []
    /// How many answers in succession were unusable.
    private var unusableAnswers = 0
    /// After this many, the server itself counts as the source: the request must not hold up the others for ever.
    private static let maxUnusableAnswers = 10
    /// Whether the machine may have new requests.
    private var hasNews = false
    private var isStopped = false

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
        pause?.cancel()
        wake()
    }

    /// Makes all current requests.
    /// - Returns: Whether all succeeded. A failed one is retried later.
    func makeAllRequests() async -> Bool {
        guard !isStopped, client.token != nil else { return false }
        pause?.cancel()
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
        answerWaiters(false)
    }

    private enum Outcome {
        /// There are no more requests.
        case done
        /// There is no token; a new one wakes it.
        case ended
        case failed(wait: Duration)
    }

    private func run() async {
        var failures = 0
        // Without a token, the server would refuse each request.
        while hasNews, client.token != nil, !Task.isCancelled {
            hasNews = false
            switch await ask() {
            case .done:
                failures = 0
                if !hasNews { answerWaiters(true) }
            case .ended: break
            case .failed(let wait):
                failures += 1
                hasNews = true
                answerWaiters(false)
                let delay = max(wait, backOff.delay(after: failures, draw: .random(in: 0...1)))
                await sleep(for: delay, isDemanded: wait > .zero)
            }
        }
        task = nil
        answerWaiters(false)
    }

    private func sleep(for delay: Duration, isDemanded: Bool) async {
        let pause = Task<Void, Never> { [clock] in
            // Throws only if canceled, and then the loop checks again.
            try? await clock.sleep(for: delay, tolerance: nil)
        }
        if !isDemanded { self.pause = pause }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        self.pause = nil
    }

    /// Makes requests in turn until there are none.
    private func ask() async -> Outcome {
        do {
            while let request = try await machine.nextRequest(at: now()) {
                guard try await perform(request) else { return .failed(wait: .zero) }
                await didAnswer()
            }
            try await setAlarm()
            return .done
        } catch let error as MatrixError {
            switch error {
            case .signedOut: return .ended
            case .busy(let wait): return .failed(wait: wait)
            default: return .failed(wait: .zero)
            }
        } catch is CancellationError where Task.isCancelled {
            return .ended
        } catch {
            // A failure of the storage, or a cancellation elsewhere.
            return .failed(wait: .zero)
        }
    }

    /// - Returns: `false` if the server rejected the request, so that the next one has to wait.
    private func perform(_ request: CryptoRequest) async throws -> Bool {
        let answer: JSONValue
        do {
            answer = try await client.perform(request.action)
        } catch MatrixError.malformed where request.action.uploadsSignatures {
            // An answer by something before the server, as a proxy: they are uploaded again later.
            answer = .null
        } catch MatrixError.malformed where unusableAnswers < Self.maxUnusableAnswers {
            // The server may not have seen the request.
            unusableAnswers += 1
            try await machine.failed(request)
            await didAnswer()
            return false
        } catch let error as MatrixError where error.isRejection {
            unusableAnswers = 0
            try await machine.refused(request, at: now())
            // What was confirmed may not be any more.
            await didAnswer()
            return false
        } catch {
            try await machine.failed(request)
            switch error {
            // Observers wake this again, and nothing succeeds before the next sign-in.
            case MatrixError.signedOut, is CancellationError: break
            default: await didAnswer()
            }
            throw error
        }
        unusableAnswers = 0
        try await machine.answered(request, with: answer, at: now())
        return true
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

extension CryptoRequest.Action {
    fileprivate var uploadsSignatures: Bool {
        if case .uploadSignatures = self { true } else { false }
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
