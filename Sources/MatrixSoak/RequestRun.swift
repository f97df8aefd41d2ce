import Foundation
import Glibc
import MatrixBackend
import SoakSupport

/// Sends requests by one transport to a server that answers at once, and looks what is left of them.
struct RequestRun {
    private static let answer = Array(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".utf8)

    let count: Int

    func run() async throws -> Bool {
        let port = try Loopback.listen { connection in
            var buffer = [UInt8](repeating: 0, count: 1 << 14)
            while recv(connection, &buffer, buffer.count, 0) > 0, Loopback.write(Self.answer, to: connection) {}
            close(connection)
        }
        guard let url = URL(string: "http://127.0.0.1:\(port)/") else { return false }
        let transport = CurlTransport()
        let part = max(count / 10, 1)
        // What a first tenth makes stays: caches, threads, the arenas of the allocator.
        try await send(part, url, transport)
        let before = try Self.usage()
        print("after \(part): \(before.kibibytes) KiB, \(before.files) open files")
        for place in 1...10 {
            try await send(part, url, transport)
            let now = try Self.usage()
            print("after \(part * (place + 1)): \(now.kibibytes) KiB, \(now.files) open files")
        }
        let after = try Self.usage()
        transport.close()
        let each = (after.kibibytes - before.kibibytes) * 1024 / (part * 10)
        print("\(part * 10) requests: \(each) bytes of memory each, \(after.files - before.files) open files more")
        SoakReport(name: "request-files", value: after.files - before.files, unit: "files", target: 0).print()
        return after.files <= before.files
    }

    private func send(_ count: Int, _ url: URL, _ transport: CurlTransport) async throws {
        for _ in 0..<count {
            guard try await transport.send(MatrixRequest(.get, url)).status == 200 else { throw SoakFailure("refused") }
        }
    }

    private static func usage() throws -> (kibibytes: Int, files: Int) {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        return ((Int(pages[1]) ?? 0) * 4, files)
    }
}
