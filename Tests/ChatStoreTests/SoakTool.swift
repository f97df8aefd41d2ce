import Foundation

/// The built `parlance-store-soak`, which lies beside the test bundle.
struct SoakTool {
    struct Outcome {
        /// Minus the signal, if one ended it.
        var status: Int32
        var output: String
    }

    private let executable: URL

    init() throws {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        executable = URL(fileURLWithPath: tests).deletingLastPathComponent()
            .appendingPathComponent("parlance-store-soak")
    }

    /// Runs it to its end; its output has to fit into a pipe (64 KiB).
    func run(_ arguments: [String]) async throws -> Outcome {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
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
