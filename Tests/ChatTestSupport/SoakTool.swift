import Foundation

/// A built soak test, such as `parlance-store-soak`, in the test bundle's folder.
public struct SoakTool: Sendable {
    public struct Outcome: Sendable {
        /// The exit status, or the negated signal number if a signal ended the process.
        public var status: Int32
        public var output: String
    }

    private let executable: URL

    public init(_ name: String) throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        executable = URL(fileURLWithPath: tests).deletingLastPathComponent()
            .appendingPathComponent(name)
    }

    /// Runs the tool until it exits; its output must fit into a pipe (64 KiB).
    /// - Parameter environment: variables added to the environment.
    public func run(_ arguments: [String], with environment: [String: String] = [:]) async throws -> Outcome {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let pipe = Pipe()
        process.standardOutput = pipe
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        let output = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let sign: Int32 = process.terminationReason == .uncaughtSignal ? -1 : 1
        return Outcome(status: sign * process.terminationStatus, output: output)
    }
}
