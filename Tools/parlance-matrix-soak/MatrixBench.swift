import ChatCore
import Foundation
import MatrixBackend
import ToolSupport

/// Measures starts against a real homeserver by the number of rooms, and opening rooms by the size of their history.
struct MatrixBench {
    private static let few = 40
    private static let many = 400
    private static let runs = 5
    private static let maxMessages = 10_000

    private struct Start {
        var milliseconds = 0.0
        var requests = 0.0
        var kilobytes = 0.0
    }

    private struct Account {
        let session: MatrixSession
        let rooms: Int
    }

    /// The folder of the homeserver, whose accounts and rooms are reused.
    let folder: String

    func run() async throws -> Bool {
        let server = try SoakHomeserver.start(in: folder, isNew: false)
        let stores = FileManager.default.temporaryDirectory.appending(path: "parlance-bench-\(UUID().uuidString)")
        let filler = BenchFiller(server: server)
        let few = Account(session: try await filler.account("few", rooms: Self.few), rooms: Self.few)
        let many = Account(session: try await filler.account("many", rooms: Self.many), rooms: Self.many)
        var table = BenchmarkTable(nameWidth: 44)
        try measureStarts(few, many, server, stores, &table)
        let small = try await filler.room("small", of: few.session, messages: 200)
        let large = try await filler.room("large", of: few.session, messages: Self.maxMessages)
        try measureRooms([small, large], of: few, server, stores, &table)
        try FileManager.default.removeItem(at: stores)
        try server.stop()
        return table.finish()
    }

    // MARK: Starts

    private func measureStarts(
        _ few: Account, _ many: Account, _ server: SoakHomeserver, _ stores: URL, _ table: inout BenchmarkTable
    ) throws {
        var measured: [String: [Start]] = [:]
        // Alternate the accounts, so other load on the machine affects both alike.
        for run in 0..<Self.runs {
            for account in [few, many] {
                let store = stores.appending(path: "\(account.rooms)-\(run)")
                for (name, isWhole) in [("cold", true), ("warm", false)] {
                    let results = try child(
                        "list", store, server, account.session, isWhole ? ["\(account.rooms)"] : [])
                    for (kind, start) in results where kind != "memory" {
                        measured["\(name) \(kind) \(account.rooms)", default: []].append(start)
                    }
                    if let memory = results["memory"] {
                        measured["\(name) memory \(account.rooms)", default: []].append(memory)
                    }
                }
            }
        }
        for (name, kind) in [("cold", "list"), ("cold", "all"), ("warm", "list"), ("warm", "online")] {
            let label = "\(name) start to \(kind == "list" ? "a usable list" : kind == "all" ? "all rooms" : "online")"
            table.add(
                try rows(label, measured["\(name) \(kind) \(few.rooms)"], measured["\(name) \(kind) \(many.rooms)"]))
        }
        for account in [few, many] {
            let memory = try Self.median(measured["warm memory \(account.rooms)"], \.kilobytes, of: "memory")
            table.add(BenchmarkRow(name: "memory, \(account.rooms) rooms", value: memory / 1024, unit: "MiB"))
        }
    }

    private func rows(_ label: String, _ few: [Start]?, _ many: [Start]?) throws -> [BenchmarkRow] {
        // No target for the complete list: its cost is proportional to the rooms, and Synapse lists all of them in each
        // response.
        let target = label.hasSuffix("usable list") ? 1.2 : nil
        return try [("time", "ms", \Start.milliseconds), ("requests", "", \.requests), ("answers", "KB", \.kilobytes)]
            .flatMap { what, unit, path in
                let less = try Self.median(few, path, of: label)
                let more = try Self.median(many, path, of: label)
                let ratio = less > 0 ? more / less : more > 0 ? .infinity : 1
                return [
                    BenchmarkRow(name: "\(label), \(what), \(Self.few) rooms", value: less, unit: unit),
                    BenchmarkRow(name: "\(label), \(what), \(Self.many) rooms", value: more, unit: unit),
                    BenchmarkRow(name: "\(label), \(what), ratio", value: ratio, unit: "x", target: target),
                ]
            }
    }

    // MARK: Rooms

    private func measureRooms(
        _ rooms: [String], of account: Account, _ server: SoakHomeserver, _ stores: URL, _ table: inout BenchmarkTable
    ) throws {
        let store = stores.appending(path: "rooms")
        let fetched = try lines("fetch", store, server, account.session, rooms)
        let counts = fetched.filter { $0.name == "fetched" }.map { $0.numbers[0] }
        guard counts.count == 2, counts[1] >= Double(Self.maxMessages) else {
            throw SoakFailure("not the whole history came: \(counts)")
        }
        let label = "fetching \(Int(counts[1])) messages of a room"
        guard let last = fetched.last(where: { $0.name == "history" })?.numbers, last.count == 3,
            let memory = fetched.last?.numbers.first
        else { throw SoakFailure("\(label): nothing was measured") }
        table.add([
            BenchmarkRow(name: "\(label), time", value: last[0] / 1000, unit: "ms"),
            BenchmarkRow(name: "\(label), requests", value: last[1], unit: ""),
            BenchmarkRow(name: "\(label), answers", value: last[2] / 1000, unit: "KB"),
            BenchmarkRow(name: "\(label), memory", value: memory / 1024, unit: "MiB", target: 150),
        ])
        let openTimes = try lines("open", store, server, account.session, rooms)
            .filter { $0.name == "open" }.map { $0.numbers[0] / 1000 }.suffix(2)
        guard openTimes.count == 2, let less = openTimes.first, let more = openTimes.last else {
            throw SoakFailure("opening a room: not both were opened")
        }
        table.add([
            BenchmarkRow(name: "opening a room, \(Int(counts[0])) messages", value: less, unit: "ms"),
            BenchmarkRow(name: "opening a room, \(Int(counts[1])) messages", value: more, unit: "ms"),
            BenchmarkRow(name: "opening a room, ratio", value: more / less, unit: "x", target: 1.2),
        ])
    }

    // MARK: Processes

    private func child(
        _ what: String, _ store: URL, _ server: SoakHomeserver, _ session: MatrixSession, _ rest: [String]
    ) throws -> [String: Start] {
        var results: [String: Start] = [:]
        for (name, numbers) in try lines(what, store, server, session, rest) {
            guard numbers.count == 3 else {
                results[name] = Start(kilobytes: numbers.first ?? 0)
                continue
            }
            results[name] = Start(milliseconds: numbers[0] / 1000, requests: numbers[1], kilobytes: numbers[2] / 1000)
        }
        return results
    }

    private func lines(
        _ what: String, _ store: URL, _ server: SoakHomeserver, _ session: MatrixSession, _ rest: [String]
    ) throws -> [(name: String, numbers: [Double])] {
        let start = MonotonicTime.microseconds
        var child = try ChildProcess(
            arguments: [
                "bench-child", what, store.path, server.url.absoluteString, session.user.rawValue, session.device,
                session.token.value,
            ] + rest)
        var lines: [(name: String, numbers: [Double])] = []
        while let line = child.nextLine() {
            let words = line.split(separator: " ")
            var numbers = words.dropFirst().compactMap { Double($0) }
            // A time with the requests and bytes up to it.
            if numbers.count == 3 { numbers[0] -= Double(start) }
            lines.append((String(words.first ?? ""), numbers))
        }
        _ = child.killAndDrain()
        guard lines.last?.name == "memory" else { throw SoakFailure("a measurement ended early: \(what)") }
        return lines
    }

    private static func median(_ starts: [Start]?, _ path: KeyPath<Start, Double>, of label: String) throws -> Double {
        guard let starts, !starts.isEmpty else { throw SoakFailure("\(label): nothing was measured") }
        return starts.map { $0[keyPath: path] }.sorted()[starts.count / 2]
    }
}
