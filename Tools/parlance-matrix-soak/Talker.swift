import Foundation
import Glibc
import MatrixBackend
import ToolSupport

/// One of the users: a process that is repeatedly killed, and the messages it has queued.
struct Talker {
    let session: MatrixSession
    let isSliding: Bool
    let folder: URL
    let url: String
    let rooms: [String]
    let each: Int
    let progress: Progress
    var random: SeededGenerator
    private(set) var killed = 0
    private(set) var crashed = 0

    init(
        session: MatrixSession, isSliding: Bool, folder: URL, url: String, rooms: [String], each: Int,
        progress: Progress, seed: UInt64
    ) {
        self.session = session
        self.isSliding = isSliding
        self.folder = folder
        self.url = url
        self.rooms = rooms
        self.each = each
        self.progress = progress
        random = SeededGenerator(seed: seed)
    }

    /// Sends all messages while the process is killed `kills` times. Blocks.
    mutating func talk(kills: Int) throws {
        var next = Array(repeating: 1, count: rooms.count)
        // Spread the kills over about two thirds of the messages.
        let killInterval = max(each * rooms.count * 4 / 3 / max(kills, 1), 2)
        while true {
            var child = try startChild(next)
            // Kill before the last message is queued.
            let maxLines = min(killInterval, (each * rooms.count - next.reduce(0, +) + rooms.count) * 2 / 3)
            var remainingLines = killed < kills ? Int.random(in: 1..<max(2, maxLines), using: &random) : Int.max
            var isDone = false
            while remainingLines > 0, let line = child.nextLine() {
                remainingLines -= 1
                isDone = try hear(line, &next)
                if isDone { break }
            }
            // Not always directly after a line of output.
            if !isDone { usleep(UInt32.random(in: 0...200_000, using: &random)) }
            let (rest, wasKilled) = child.killAndDrain()
            for line in rest { isDone = try hear(line, &next) || isDone }
            if isDone { return }
            if wasKilled {
                killed += 1
            } else {
                // A crash counts separately from kills.
                guard child.lastSignal != 0 else { throw SoakFailure("\(session.user) gave up") }
                crashed += 1
            }
        }
    }

    /// Returns the stored messages of each room, oldest first, once the last one of each has arrived.
    func storedMessages(upTo last: [String]) throws -> [[String]] {
        var child = try startChild(Array(repeating: each + 1, count: rooms.count))
        var stored: [[String]] = Array(repeating: [], count: rooms.count)
        guard child.nextLine() == "done" else { throw SoakFailure("\(session.user) does not start") }
        child.send("end " + zip(rooms, last).map { "\($0)=\($1)" }.joined(separator: " "))
        while let line = child.nextLine(), line != "done" {
            let words = line.split(separator: " ").map(String.init)
            guard words.count == 3, let room = Int(words[1]) else { throw SoakFailure("it said “\(line)”") }
            stored[room].append(words[2])
        }
        _ = child.killAndDrain()
        return stored.map { $0.reversed() }
    }

    private func startChild(_ next: [Int]) throws -> ChildProcess {
        let child = try ChildProcess(arguments: ["child", folder.path])
        let pairs = zip(rooms, next).map { "\($0)=\($1)" }.joined(separator: " ")
        child.send(
            "begin \(url) \(isSliding ? 1 : 0) \(session.user) \(session.device) \(session.token.value) \(each) \(pairs)"
        )
        return child
    }

    /// - Returns: Whether everything is sent.
    private func hear(_ line: String, _ next: inout [Int]) throws -> Bool {
        if line == "done" { return true }
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "queued", let room = Int(words[1]), let number = Int(words[2]) else {
            throw SoakFailure("\(session.user) said “\(line)”")
        }
        progress.add(max(0, number + 1 - next[room]))
        next[room] = number + 1
        return false
    }
}

/// The number of queued messages, with a way to wait for it.
final class Progress: @unchecked Sendable {
    // Guarded by the condition.
    private var count = 0
    private let condition = NSCondition()

    func add(_ more: Int) {
        condition.lock()
        count += more
        condition.broadcast()
        condition.unlock()
    }

    func wait(for minCount: Int) {
        condition.lock()
        while count < minCount { condition.wait() }
        condition.unlock()
    }
}
