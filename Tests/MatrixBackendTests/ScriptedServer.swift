import Foundation
import Glibc
import Synchronization

/// A TCP server that runs a script for each connection, for responses that no real server gives.
final class ScriptedServer: Sendable {
    enum Step: Sendable {
        case write(String)
        case bytes([UInt8])
        /// Writes byte by byte, with this delay in milliseconds.
        case drip(String, UInt32)
        /// Reads until this many bytes have arrived in total.
        case read(Int)
        /// Resets the connection (RST) without a FIN.
        case reset
        /// Writes this many times, or until the client disconnects.
        case `repeat`(String, Int)
        /// Waits until the client disconnects.
        case hang
    }

    let url: URL
    private let listener: Int32
    private let served = Mutex(0)
    private let asked = Mutex("")

    /// The number of bytes written, at the end of each connection.
    let ends: AsyncStream<Int>
    private let endsContinuation: AsyncStream<Int>.Continuation

    /// The number of bytes written so far.
    var count: Int { served.withLock { $0 } }

    /// The bytes received so far, as text.
    var received: String { asked.withLock { $0 } }

    init(_ steps: [Step]) throws {
        (ends, endsContinuation) = AsyncStream.makeStream(of: Int.self)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))") else {
            throw POSIXError(.EADDRNOTAVAIL)
        }
        self.url = url
        self.listener = listener
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else {
                    // Close the listener only here: its descriptor may be reused at once by another server.
                    close(listener)
                    return
                }
                Thread.detachNewThread {
                    self.serve(connection, steps)
                    close(connection)
                    self.endsContinuation.yield(self.count)
                }
            }
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private func serve(_ connection: Int32, _ steps: [Step]) {
        guard receive(from: connection) > 0 else { return }
        for step in steps {
            switch step {
            case .write(let text): if !write(text.utf8, to: connection) { return }
            case .bytes(let bytes): if !write(bytes, to: connection) { return }
            case .drip(let text, let pause):
                for byte in text.utf8 {
                    guard write([byte], to: connection) else { return }
                    usleep(pause * 1000)
                }
            case .read(let count): while received.utf8.count < count, receive(from: connection) > 0 {}
            case .reset:
                var now = linger(l_onoff: 1, l_linger: 0)
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
                return
            case .repeat(let text, let times):
                for _ in 0..<times where !write(text.utf8, to: connection) { return }
            case .hang: while receive(from: connection) > 0 {}
            }
        }
    }

    private func receive(from connection: Int32) -> Int {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(connection, &bytes, bytes.count, 0)
        if count > 0 { asked.withLock { $0 += String(decoding: bytes.prefix(count), as: UTF8.self) } }
        return count
    }

    private func write(_ bytes: some Collection<UInt8>, to connection: Int32) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, 0) }
            guard written > 0 else { return false }
            served.withLock { $0 += written }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
