import ChatCore
import ChatOutbox
import Composer
import Synchronization

/// A scripted server: executes each transaction once and fails as the test requires.
final class FakeServer: OutboxBackend {
    private struct State {
        var calls: [String] = []
        var wasAttempted: [Bool] = []
        var errors: [any Error] = []
        var isSuspended = false
        var parts: [Double] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// The calls received, in order.
    var calls: [String] { state.withLock { $0.calls } }

    /// For each request received, whether an earlier run may have attempted it.
    var wasAttempted: [Bool] { state.withLock { $0.wasAttempted } }

    /// Makes the next attempts fail with these errors, in order.
    func fail(with errors: DeliveryError...) { state.withLock { $0.errors += errors as [any Error] } }

    /// Makes attempts end as canceled, as many as `count`, although the outbox did not cancel them.
    func cancel(_ count: Int) {
        state.withLock { $0.errors += Array(repeating: CancellationError() as any Error, count: count) }
    }

    /// The progress reported for each upload before it completes.
    var parts: [Double] {
        get { state.withLock { $0.parts } }
        set { state.withLock { $0.parts = newValue } }
    }

    /// Suspends attempts from here on.
    func suspend() { state.withLock { $0.isSuspended = true } }

    func release() {
        let waiting = state.withLock { state in
            state.isSuspended = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func upload(
        _ file: MediaReference, of request: OutboxRequest, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> String {
        for part in parts { progress(part) }
        try await respond(to: "upload \(file.digest ?? file.uri)")
        return "server:\(file.digest ?? file.uri)"
    }

    func deliver(_ request: OutboxRequest) async throws -> MessageID? {
        state.withLock { $0.wasAttempted.append(request.wasAttempted) }
        switch request.action {
        case .send(let message):
            let files = message.files.map { " " + $0.uri }.joined()
            try await respond(to: "\(request.id) send \(message.text.source)\(files)")
            return MessageID("$\(request.id)")
        case .edit(let target, let text):
            try await respond(to: "\(request.id) edit \(Self.name(target)) \(text.source)")
        case .unreadable: try await respond(to: "\(request.id) unreadable")
        case .delete(let target): try await respond(to: "\(request.id) delete \(Self.name(target))")
        case .react(let target, let text, let isGiven):
            try await respond(to: "\(request.id) \(isGiven ? "react" : "unreact") \(Self.name(target)) \(text)")
        }
        return nil
    }

    private static func name(_ target: OutboxTarget) -> String {
        switch target {
        case .message(let id): "\(id)"
        case .queued(let id): "queued \(id)"
        }
    }

    private func respond(to call: String) async throws {
        let (isSuspended, error) = state.withLock { state in
            state.calls.append(call)
            return (state.isSuspended, state.errors.isEmpty ? nil : state.errors.removeFirst())
        }
        if isSuspended {
            await withCheckedContinuation { continuation in
                let isReleased = state.withLock { state in
                    if state.isSuspended { state.waiting.append(continuation) }
                    return !state.isSuspended
                }
                if isReleased { continuation.resume() }
            }
        }
        if let error { throw error }
    }
}
