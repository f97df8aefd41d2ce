import Foundation
import Glibc
import MatrixBackend
import Synchronization
import ToolSupport

/// Checks a transport for leaks: first with many requests that are answered at once, then with long polls, as in a
/// sync.
struct RequestRun {
    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    /// The number of parallel long polls.
    private static let waiters = 8

    let count: Int
    /// The duration of long polling.
    let minutes: Int
    private let transport = CurlTransport()

    init(count: Int, minutes: Int) {
        self.count = count
        self.minutes = minutes
    }

    func run() async throws -> Bool {
        let port = try Loopback.listen(Self.serve)
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else { return false }
        let batch = max(count / 10, 1)
        // Exclude one-time costs: caches, threads and the allocator's arenas.
        try await send(batch, url)
        let before = try Self.usage()
        Self.report("after \(batch)", before)
        for batchNumber in 1...10 {
            try await send(batch, url)
            Self.report("after \(batch * (batchNumber + 1))", try Self.usage())
        }
        var after = try Self.usage()
        let each = (after.kibibytes - before.kibibytes) * 1024 / (batch * 10)
        print("\(batch * 10) requests: \(each) bytes of memory each, \(after.files - before.files) open files more")
        if minutes > 0 {
            try await poll(url.appending(path: "wait"))
            after = try Self.usage()
        }
        transport.close()
        // Each parallel long poll leaves a reusable connection, both of whose ends are in this process.
        let more = max(0, after.files - before.files - (minutes > 0 ? 2 * Self.waiters : 0))
        SoakReport(name: "request-files", value: more, unit: "files", target: 0).print()
        return more == 0
    }

    private func send(_ count: Int, _ url: URL) async throws {
        for _ in 0..<count {
            guard try await transport.send(MatrixRequest(.get, url)).status == 200 else { throw SoakFailure("refused") }
        }
    }

    /// Some responses are complete, some are truncated, and some requests time out.
    private func poll(_ url: URL) async throws {
        let polls = Polls()
        let before = try Self.usage()
        let clock = ContinuousClock()
        let end = clock.now.advanced(by: .seconds(minutes * 60))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.waiters {
                group.addTask {
                    var request = MatrixRequest(.get, url)
                    request.timeout = .seconds(8)
                    while clock.now < end {
                        // Failures are expected here, and counted.
                        let hasResponse = (try? await transport.send(request)) != nil
                        polls.ended.withLock { if hasResponse { $0.answered += 1 } else { $0.failed += 1 } }
                    }
                }
            }
            group.addTask {
                // Reports on progress only: without the sleep or the usage it ends, and the run continues.
                while clock.now < end, (try? await clock.sleep(for: .seconds(60))) != nil {
                    guard let now = try? Self.usage() else { return }
                    let (succeeded, failed) = polls.ended.withLock { $0 }
                    Self.report("\(succeeded) long polls answered, \(failed) not", now)
                }
            }
        }
        let (succeeded, failed) = polls.ended.withLock { $0 }
        let retainedBytes = (try Self.usage().kibibytes - before.kibibytes) * 1024 / max(succeeded + failed, 1)
        print("\(minutes) minutes, \(succeeded + failed) long polls: \(retainedBytes) bytes of memory each")
    }

    private final class Polls: Sendable {
        let ended = Mutex((answered: 0, failed: 0))
    }

    /// Answers `/wait` after up to ten seconds with up to 200 KB, sometimes truncated.
    private static func serve(_ connection: Int32) {
        defer { close(connection) }
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        var random = SystemRandomNumberGenerator()
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            var body = "{}"
            var length = 2
            if String(decoding: buffer.prefix(count), as: UTF8.self).hasPrefix("GET /wait ") {
                usleep(UInt32.random(in: 0...10_000_000, using: &random))
                body = String(repeating: " ", count: Int.random(in: 0...200_000, using: &random))
                length = body.utf8.count + (Int.random(in: 0..<20, using: &random) == 0 ? 10 : 0)
            }
            let response = Self.head + "Content-Length: \(length)\r\n\r\n" + body
            guard Loopback.write(response.utf8, to: connection), length == body.utf8.count else { return }
        }
    }

    private static func report(_ when: String, _ usage: (kibibytes: Int, files: Int)) {
        print("\(when): \(usage.kibibytes) KiB, \(usage.files) open files")
        fflush(nil)
    }

    private static func usage() throws -> (kibibytes: Int, files: Int) {
        (try ProcessMemory.kibibytes(), try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count)
    }
}

/// The resident memory of this process.
enum ProcessMemory {
    static func kibibytes() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(pages[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) / 1024
    }
}
