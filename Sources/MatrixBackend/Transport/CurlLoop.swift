import CCurl
import Foundation
import Glibc
import Synchronization

/// The thread that runs all transfers and connections of a transport.
final class CurlLoop: Sendable {
    private enum Command {
        case start(CurlExchange)
        case cancel(CurlExchange)
    }

    private struct Queue {
        var commands: [Command] = []
        var isStarted = false
        var isStopped = false
        /// Whether the thread no longer uses the handle.
        var isOver = false
    }

    /// The maximum number of parallel connections to a server; HTTP/2 multiplexes requests over one.
    private static let maxConnections = 8
    private static let isReady = parlance_curl_start() != 0

    private static let closed = TransportError.unreachable(reason: "closed")

    private let queue = Mutex(Queue())
    /// How often the thread has waited, for tests.
    let waitCount = Atomic(0)
    /// Set once, by the thread. Others read it while holding the lock.
    private nonisolated(unsafe) var multi: UnsafeMutableRawPointer?

    /// Starts the thread, which loads libcurl: that takes too long for the startup or the main thread.
    private func launch() {
        let thread = Thread { [self] in run() }
        thread.name = "parlance-http"
        thread.start()
    }

    /// Ends all transfers and the thread.
    func stop() {
        queue.withLock { queue in
            queue.isStopped = true
            wake(queue)
        }
    }

    /// Starts a transfer. Its continuation is always resumed, on the thread.
    func start(_ exchange: CurlExchange) {
        if !send(.start(exchange)) { exchange.finish(throwing: Self.closed) }
    }

    /// Cancels a transfer, even before it has started.
    func cancel(_ exchange: CurlExchange) { _ = send(.cancel(exchange)) }

    private func send(_ command: Command) -> Bool {
        queue.withLock { queue in
            guard !queue.isStopped else { return false }
            queue.commands.append(command)
            if queue.isStarted { wake(queue) } else { launch() }
            queue.isStarted = true
            return true
        }
    }

    /// Called with the lock held, so the handle is not freed meanwhile.
    private func wake(_ queue: borrowing Queue) {
        if !queue.isOver, multi != nil { parlance_curl_multi_wakeup(multi) }
    }

    // MARK: Thread

    private func run() {
        // Writing to a closed connection must fail with an error instead of `SIGPIPE`.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        open()
        var exchanges: [UnsafeMutableRawPointer: CurlExchange] = [:]
        while let commands = next() {
            for command in commands { perform(command, &exchanges) }
            var count: Int32 = 0
            parlance_curl_multi_perform(multi, &count)
            finish(&exchanges)
            endIdle(&exchanges)
            // Blocks until a connection, a timeout or a command wakes it.
            waitCount.add(1, ordering: .relaxed)
            parlance_curl_multi_poll(multi, nil, 0, Self.waitTime(exchanges), nil)
        }
        end(exchanges)
    }

    private func open() {
        guard Self.isReady, let made = parlance_curl_multi_init() else { return }
        _ = parlance_curl_multi_set_number(made, CURLMOPT_MAX_HOST_CONNECTIONS, Self.maxConnections)
        _ = parlance_curl_multi_set_number(made, CURLMOPT_MAXCONNECTS, Self.maxConnections)
        queue.withLock { _ in multi = made }
    }

    /// - Returns: `nil` after ``stop()``, or if libcurl cannot be used.
    private func next() -> [Command]? {
        queue.withLock { queue in
            guard !queue.isStopped, multi != nil else { return nil }
            defer { queue.commands = [] }
            return queue.commands
        }
    }

    private func perform(_ command: Command, _ exchanges: inout [UnsafeMutableRawPointer: CurlExchange]) {
        switch command {
        case .start(let exchange):
            guard !exchange.isCancelled else { return exchange.finish(throwing: CancellationError()) }
            guard let handle = exchange.prepare(), parlance_curl_multi_add_handle(multi, handle) == CURLM_OK else {
                return exchange.finish(throwing: TransportError.unreachable(reason: "the request cannot be made"))
            }
            exchanges[handle] = exchange
        case .cancel(let exchange):
            exchange.isCancelled = true
            guard let handle = exchange.handle, exchanges.removeValue(forKey: handle) != nil else { return }
            parlance_curl_multi_remove_handle(multi, handle)
            exchange.finish(throwing: CancellationError())
        }
    }

    private func finish(_ exchanges: inout [UnsafeMutableRawPointer: CurlExchange]) {
        var remaining: Int32 = 0
        while let message = parlance_curl_multi_info_read(multi, &remaining) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            // The message becomes invalid when the handle is removed.
            let result = message.pointee.data.result
            parlance_curl_multi_remove_handle(multi, handle)
            exchanges.removeValue(forKey: handle)?.finish(result)
        }
    }

    /// Ends the transfers whose idle timeout is over.
    private func endIdle(_ exchanges: inout [UnsafeMutableRawPointer: CurlExchange]) {
        let now = SuspendingClock.now
        for (handle, exchange) in exchanges where exchange.isIdle(at: now) {
            parlance_curl_multi_remove_handle(multi, handle)
            exchanges.removeValue(forKey: handle)
            exchange.finish(throwing: TransportError.timedOut)
        }
    }

    /// The time in milliseconds until a transfer may be idle.
    private static func waitTime(_ exchanges: [UnsafeMutableRawPointer: CurlExchange]) -> Int32 {
        let longest = Duration.seconds(600)
        guard let next = exchanges.values.lazy.compactMap(\.nextCheck).min() else {
            return Int32(longest / .milliseconds(1))
        }
        // Rounded up, so that it is time then.
        return Int32((min(max(next - .now, .zero), longest) / .milliseconds(1)).rounded(.up))
    }

    private func end(_ exchanges: [UnsafeMutableRawPointer: CurlExchange]) {
        let commands = queue.withLock { queue in
            queue.isStopped = true
            queue.isOver = true
            return queue.commands
        }
        let closed = multi == nil ? TransportError.unreachable(reason: "libcurl cannot be loaded") : Self.closed
        for (handle, exchange) in exchanges {
            parlance_curl_multi_remove_handle(multi, handle)
            exchange.finish(throwing: closed)
        }
        for case .start(let exchange) in commands { exchange.finish(throwing: closed) }
        if multi != nil { parlance_curl_multi_cleanup(multi) }
    }
}
