import Foundation
import Glibc
import SeededRandom
import SoakSupport
import Synchronization

/// A proxy in front of a server that does everything to what passes.
final class FaultProxy: Sendable {
    enum Fault: CaseIterable {
        /// The connection ends before the piece, or within it: in a head, in a body, anywhere.
        case cut, half
        case delay
        /// The answer of a gateway, or of a server that is asked for too much, in place of the server's.
        case page, busy
        /// The piece is swallowed and the connection stays open: the other side waits until it gives up.
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

    /// - Returns: its own port.
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

    /// Until either side hangs up, or a fault does it for them.
    private func pump(from source: Int32, to target: Int32, isRequest: Bool) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            guard count > 0, pass(buffer[..<count], from: source, to: target, isRequest: isRequest) else { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }

    /// - Returns: whether the connection goes on.
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

    /// About every eighth piece has a fault; few of them are silent, for half a minute is lost by each.
    /// - Returns: the fault, its pause in microseconds, and the bytes that pass of a piece that does not pass whole.
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
            // Often within a head.
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
