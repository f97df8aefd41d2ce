import Foundation

/// Counts the instructions of a workload, which do not depend on the machine's load.
public enum Callgrind {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Returns the number of instructions that this program executes for a workload.
    public static func instructions(of workload: [String]) throws -> Int {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", CommandLine.arguments[0], "workload"]
            + workload
        // Seeds that differ between processes change the collisions in dictionaries, and so the count by several percent.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_DETERMINISTIC_HASHING": "1"]) { $1 }
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        let report = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0,
            let line = report.split(separator: "\n").last(where: { $0.contains("Collected :") }),
            let count = line.split(separator: " ").last.flatMap({ Int($0) })
        else { throw Failure(description: "callgrind failed on \(workload): \(report.suffix(400))") }
        return count
    }

    /// Returns the instructions per repetition: the difference between two runs, which cancels their common overhead.
    public static func instructions(per name: String, _ arguments: [String] = [], few: Int, many: Int) throws -> Double
    {
        let less = try instructions(of: [name] + arguments + [String(few)])
        let more = try instructions(of: [name] + arguments + [String(many)])
        return Double(more - less) / Double(many - few)
    }
}
