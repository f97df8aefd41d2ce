import Foundation
import ToolSupport

/// Sends messages through an unreliable server from a process that is repeatedly killed.
struct OutboxRun {
    private static let rooms = 10

    let count: Int
    let kills: Int
    let seed: UInt64

    func run() throws -> Bool {
        let each = max(count / Self.rooms, 1)
        print("\(each * Self.rooms) messages, \(kills) kills, seed \(seed)")
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("parlance-outbox-\(UUID().uuidString)", isDirectory: true)
        // A leftover temporary file does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        var random = SeededGenerator(seed: seed)
        var server = UnreliableServer(rooms: Self.rooms, seed: random.next())
        var next = Array(repeating: 1, count: Self.rooms)
        // A message makes about two and a half lines; the rest is left for the last process, which is not killed.
        let killInterval = max(each * Self.rooms * 2 / max(kills, 1), 2)
        var killed = 0
        while true {
            var child = try ChildProcess(arguments: ["sender", folder.path])
            child.send("begin \(each) " + next.map(String.init).joined(separator: " "))
            var remainingLines = killed < kills ? Int.random(in: 1..<killInterval, using: &random) : Int.max
            var isDone = false
            while remainingLines > 0, let line = child.nextLine() {
                remainingLines -= 1
                isDone = try hear(line, &server, &next) { child.send($0) }
                if isDone { break }
            }
            let (rest, wasKilled) = child.killAndDrain()
            // Handle what was sent before the kill: the requests have reached the server, but responses are lost.
            for line in rest { _ = try hear(line, &server, &next) { _ in } }
            if isDone { break }
            guard wasKilled else { throw SoakFailure("the sender ended by itself") }
            killed += 1
        }
        return report(server, each: each, killed: killed)
    }

    /// - Returns: Whether everything is sent.
    private func hear(
        _ line: String, _ server: inout UnreliableServer, _ next: inout [Int], respond: (String) -> Void
    ) throws -> Bool {
        let words = line.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, numbers.count) {
        case ("queued", 2): next[numbers[0]] = numbers[1] + 1
        case ("deliver", 3):
            for response in server.hear(call: numbers[0], room: numbers[1], transaction: numbers[2]) {
                respond(response)
            }
        case ("done", 2): return true
        default: throw SoakFailure("the sender said “\(line)”")
        }
        return false
    }

    private func report(_ server: UnreliableServer, each: Int, killed: Int) -> Bool {
        let expected = Array(1...each)
        var lost = 0
        var doubled = 0
        var disordered = 0
        for room in server.rooms {
            lost += Set(expected).subtracting(room).count
            doubled += room.count - Set(room).count
            if room != room.sorted() { disordered += 1 }
        }
        print(
            "\(each * Self.rooms) messages: \(lost) lost, \(doubled) doubled, \(disordered) rooms out of order;",
            "\(server.faultCount) faults, \(killed) kills")
        print(server.faults.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", "))
        SoakReport(name: "outbox-lost", value: lost, unit: "messages", target: 0).print()
        SoakReport(name: "outbox-doubled", value: doubled, unit: "messages", target: 0).print()
        SoakReport(name: "outbox-out-of-order", value: disordered, unit: "rooms", target: 0).print()
        SoakReport(name: "outbox-kills", value: killed, unit: "kills", target: kills).print()
        let minFaults = each * Self.rooms / 5
        SoakReport(name: "outbox-faults", value: min(server.faultCount, minFaults), unit: "faults", target: minFaults)
            .print()
        return lost + doubled + disordered == 0 && killed == kills && server.faultCount >= minFaults
    }
}
