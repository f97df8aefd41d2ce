import CGtk
import Foundation
import GtkKit
import Synchronization

/// A single `xdotool` process for many commands: starting one per command takes longer than most commands.
@MainActor
public final class XdotoolSession {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let replies = ReplyCounter()

    public init() throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdotool", "-"]
        process.standardInput = input
        process.standardOutput = output
        let replies = replies
        output.fileHandleForReading.readabilityHandler = { file in
            replies.add(file.availableData.count { $0 == UInt8(ascii: "\n") })
            g_main_context_wakeup(nil)
        }
        try process.run()
    }

    /// Runs one `xdotool` command, iterating the main loop until it has completed.
    public func run(_ arguments: [String]) throws {
        let expected = replies.count + 1
        // Quote `#`: `xdotool` treats it as the beginning of a comment.
        let line = arguments.map { $0 == "#" ? "\"#\"" : $0 }.joined(separator: " ")
        // It prints its reply once the preceding command has completed. Unlike `getmouselocation`, it asks about no
        // window: a menu that closes between two of its questions would end `xdotool` with a `BadWindow` error.
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\ngetdisplaygeometry\n".utf8))
        guard MainLoop.pump(until: { replies.count >= expected }) else { throw TimedOut() }
    }

    /// Ends the process.
    public func close() throws {
        output.fileHandleForReading.readabilityHandler = nil
        try input.fileHandleForWriting.close()
        guard MainLoop.pump(until: { !process.isRunning }) else { throw TimedOut() }
    }
}

private final class ReplyCounter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func add(_ number: Int) { value.withLock { $0 += number } }
}
