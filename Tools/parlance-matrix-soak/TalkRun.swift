import ChatCore
import Foundation
import MatrixBackend
import ToolSupport

/// Two users exchange messages through a faulty proxy while their processes and the server are repeatedly killed.
struct TalkRun {
    private static let rooms = 5

    let count: Int
    let kills: Int
    let serverKills: Int
    /// The minimum number of injected faults.
    let faults: Int
    /// The folder of the homeserver.
    let folder: String
    let seed: UInt64

    private var each: Int { max(count / Self.rooms / 2, 1) }
    private var all: Int { each * Self.rooms * 2 }

    func run() async throws -> Bool {
        print("\(all) messages, \(kills) kills, \(serverKills) kills of the server, seed \(seed)")
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("parlance-talk-\(UUID().uuidString)", isDirectory: true)
        let server = try SoakHomeserver.start(in: self.folder, isNew: true)
        var random = SeededGenerator(seed: seed)
        let proxy = FaultProxy(seed: random.next())
        let url = "http://127.0.0.1:\(try proxy.start(to: server.port))"
        let users = [try await server.register("ann"), try await server.register("bob")]
        var rooms: [String] = []
        for _ in 0..<Self.rooms { rooms.append(try await server.makeRoom(of: users[0], with: users[1])) }
        let progress = Progress()
        let clock = ContinuousClock()
        let start = clock.now
        // One user with sliding sync, the other with plain sync.
        let talkers = users.enumerated().map { index, user in
            Talker(
                session: user, isSliding: index == 0, folder: folder.appendingPathComponent("\(index)/store"), url: url,
                rooms: rooms, each: each, progress: progress, seed: random.next())
        }
        let ends = await talk(talkers, server, progress)
        print("sent after \((clock.now - start).components.seconds) s")
        let isFine = try await compare(talkers, rooms, server, ends, proxy.faults)
        try server.stop(removing: folder, if: isFine)
        return isFine
    }

    /// - Returns: How often the users' processes were killed, and how often they crashed.
    private func talk(
        _ talkers: [Talker], _ server: SoakHomeserver, _ progress: Progress
    ) async -> (killed: Int, crashed: Int) {
        await withTaskGroup(of: (killed: Int, crashed: Int).self) { group in
            for (index, talker) in talkers.enumerated() {
                let share = (kills + index) / talkers.count
                group.addTask {
                    await onThread {
                        var talker = talker
                        try talker.talk(kills: share)
                        return (talker.killed, talker.crashed)
                    }
                }
            }
            group.addTask {
                await onThread {
                    for kill in 0..<serverKills {
                        progress.wait(for: all * (kill + 1) / (serverKills + 1))
                        try server.killAndStart()
                    }
                    return (0, 0)
                }
            }
            return await group.reduce((0, 0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        }
    }

    private func compare(
        _ talkers: [Talker], _ rooms: [String], _ server: SoakHomeserver, _ ends: (killed: Int, crashed: Int),
        _ done: [FaultProxy.Fault: Int]
    ) async throws -> Bool {
        var lost = 0
        var doubled = 0
        var disordered = 0
        var others = 0
        var truth: [[String]] = []
        for room in rooms {
            let events = try await server.messages(in: room, as: talkers[0].session)
            truth.append(events.map(\.id))
            for talker in talkers {
                let numbers = events.filter { $0.sender == talker.session.user.rawValue }.map { Int($0.text) ?? 0 }
                lost += Set(1...each).subtracting(numbers).count
                doubled += numbers.count - Set(numbers).count
                if numbers != numbers.sorted() { disordered += 1 }
            }
        }
        for talker in talkers {
            let last = truth.map { $0.last ?? "" }
            let stored = await onThread { try talker.storedMessages(upTo: last) }
            for (stored, truth) in zip(stored, truth) where stored != truth {
                others += 1
                print(
                    "kept of \(truth.count) are \(stored.count): missing", Set(truth).subtracting(stored).sorted(),
                    "more",
                    Set(stored).subtracting(truth).sorted())
            }
        }
        let total = done.values.reduce(0, +)
        print(
            "\(all) messages: \(lost) lost, \(doubled) doubled, \(disordered) timelines out of order,",
            "\(others) kept otherwise than the server has them; \(total) faults, \(ends.killed) kills,",
            "\(serverKills) kills of the server, \(ends.crashed) crashes")
        print(done.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", "))
        SoakReport(name: "talk-lost", value: lost, unit: "messages", target: 0).print()
        SoakReport(name: "talk-doubled", value: doubled, unit: "messages", target: 0).print()
        SoakReport(name: "talk-out-of-order", value: disordered, unit: "timelines", target: 0).print()
        SoakReport(name: "talk-kept-otherwise", value: others, unit: "timelines", target: 0).print()
        SoakReport(name: "talk-kills", value: ends.killed, unit: "kills", target: kills).print()
        SoakReport(name: "talk-crashes", value: ends.crashed, unit: "crashes", target: 0).print()
        SoakReport(name: "talk-server-kills", value: serverKills, unit: "kills", target: serverKills).print()
        SoakReport(name: "talk-faults", value: min(total, faults), unit: "faults", target: faults).print()
        return lost + doubled + disordered + others + ends.crashed == 0 && ends.killed == kills && total >= faults
    }

    /// Runs blocking work on a thread.
    private func onThread<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async -> T {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                do {
                    continuation.resume(returning: try work())
                } catch {
                    // Otherwise the other tasks would run forever.
                    FileHandle.standardError.write(Data("parlance-matrix-soak: \(error), seed \(seed)\n".utf8))
                    exit(1)
                }
            }
        }
    }
}
