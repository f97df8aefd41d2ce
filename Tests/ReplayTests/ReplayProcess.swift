import Foundation

/// A running `parlance-replay` with pipes to its standard streams.
final class ReplayProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    /// Build products are beside the test bundle.
    static var program: URL {
        Bundle.module.bundleURL.deletingLastPathComponent().appendingPathComponent("parlance-replay")
    }

    init() throws {
        process.executableURL = Self.program
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Writes bytes unchanged.
    func write(_ data: Data) throws {
        try input.fileHandleForWriting.write(contentsOf: data)
    }

    /// Writes a line and waits for its response.
    func response(to line: String) throws -> String? {
        try write(Data((line + "\n").utf8))
        return try readLine()
    }

    /// Returns the next line, or `nil` at the end of the output.
    func readLine() throws -> String? {
        var searched = 0
        while true {
            if let end = unread[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread = Data(unread[(end + 1)...]) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            searched = unread.count
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            unread.append(data)
        }
    }

    /// Closes the input.
    ///
    /// - Returns: the remaining lines and the exit status.
    func finish() throws -> (lines: [String], status: Int32) {
        try input.fileHandleForWriting.close()
        var lines: [String] = []
        while let line = try readLine() { lines.append(line) }
        process.waitUntilExit()
        return (lines, process.terminationStatus)
    }
}
