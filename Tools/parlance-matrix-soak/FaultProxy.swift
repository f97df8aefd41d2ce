import Foundation
import Glibc
import Synchronization
import ToolSupport

/// A proxy in front of a server that injects network faults.
final class FaultProxy: Sendable {
    enum Fault: CaseIterable {
        /// The connection is closed before a chunk, or within it, anywhere in a header or body.
        case cut, half
        case delay
        /// A gateway's error page, or a rate-limit error, instead of the server's response.
        case page, busy
        /// The chunk is dropped and the connection stays open until the other side times out.
        case silence
    }

    private struct State {
        var random: SeededGenerator
        var faults: [Fault: Int] = [:]
    }

    private let state: Mutex<State>

    var faults: [Fault: Int] { state.withLock { $0.faults } }

    init(seed: UInt64) {
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    /// - Returns: The proxy's port.
    func start(to server: UInt16) throws -> UInt16 {
        try Loopback.listen { [self] client in
            guard let upstream = Loopback.connect(to: server) else {
                close(client)
                return
            }
            let responsesDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread { [self] in
                pump(from: upstream, to: client, isRequest: false)
                responsesDone.signal()
            }
            pump(from: client, to: upstream, isRequest: true)
            responsesDone.wait()
            close(client)
            close(upstream)
        }
    }

    /// Forwards data until either side, or a fault, closes the connection.
    private func pump(from source: Int32, to target: Int32, isRequest: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0, pass(buffer[..<count], from: source, to: target, isRequest: isRequest) else { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }

    /// - Returns: Whether the connection continues.
    private func pass(_ bytes: ArraySlice<UInt8>, from source: Int32, to target: Int32, isRequest: Bool) -> Bool {
        let (fault, pause, passingCount) = draw(isRequest: isRequest, bytes.count)
        switch fault {
        case nil: return Loopback.write(bytes, to: target)
        case .cut: return false
        case .half:
            Loopback.write(bytes.prefix(passingCount), to: target)
            return false
        case .delay:
            usleep(pause)
            return Loopback.write(bytes, to: target)
        case .page:
            Loopback.write(Self.response("502 Bad Gateway", "text/html", "<html><p>Later.</html>"), to: source)
            return false
        case .busy:
            let body = #"{"errcode":"M_LIMIT_EXCEEDED","error":"Later","retry_after_ms":700}"#
            Loopback.write(Self.response("429 Too Many Requests", "application/json", body), to: source)
            return false
        case .silence:
            var buffer = [UInt8](repeating: 0, count: 1 << 12)
            while recv(source, &buffer, buffer.count, 0) > 0 {}
            return false
        }
    }

    /// Draws a fault for about one in eight chunks. Silence is rare, because each costs up to the request's timeout.
    /// - Returns: The fault, a pause in microseconds, and the number of bytes forwarded of a partial chunk.
    private func draw(isRequest: Bool, _ count: Int) -> (Fault?, pause: UInt32, kept: Int) {
        state.withLock { state in
            var fault: Fault?
            if Int.random(in: 0..<1000, using: &state.random) == 0 {
                fault = .silence
            } else if Int.random(in: 0..<8, using: &state.random) == 0 {
                let possible: [Fault] = isRequest ? [.cut, .half, .delay, .page, .busy] : [.cut, .half, .delay]
                fault = possible.randomElement(using: &state.random)
            }
            if let fault { state.faults[fault, default: 0] += 1 }
            // Often within the header.
            let limit = Bool.random(using: &state.random) ? min(count, 200) : count
            return (
                fault, UInt32.random(in: 1000...300_000, using: &state.random),
                Int.random(in: 0..<limit, using: &state.random)
            )
        }
    }

    private static func response(_ status: String, _ type: String, _ body: String) -> [UInt8] {
        let head = "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)"
        return Array("\(head)\r\nConnection: close\r\n\r\n\(body)".utf8)
    }
}
