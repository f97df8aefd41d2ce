import ChatArchive
import ChatCore
import ChatStore
import Foundation
import LocalBackend
import Synchronization
import ToolSupport

/// The speed of importing another application's export. Memory use must not grow with the export's size.
struct ImportBenchmark {
    let folder: URL
    let messages: Int

    func rows() async throws -> [BenchmarkRow] {
        // Fails without an earlier run. If it fails otherwise, creating the store does too.
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The next run removes what is left.
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await ChatStore.open(in: folder.appending(path: "store"))
        let backend = try await LocalBackend.start(over: store, ownDisplayName: "Robin")
        let archive = RoomArchive(source: backend, destination: backend)
        let rows = try await whole(archive) + broken(archive, store)
        await backend.close()
        await store.close()
        return rows
    }

    private func whole(_ archive: RoomArchive) async throws -> [BenchmarkRow] {
        let file = folder.appending(path: "result.json")
        try write(messages, to: file, isComplete: true)
        let resident = Mutex<(early: Int, peak: Int)>((0, 0))
        let start = ContinuousClock.now
        let report = try await archive.importConversations(from: file, resolveRepeats: { _ in .newRooms }) {
            [messages] progress in
            let now = Self.residentMegabytes
            resident.withLock { resident in
                if progress.messages <= messages / 10 { resident.early = max(resident.early, now) }
                resident.peak = max(resident.peak, now)
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard report.messages == messages else { throw StoreFailure(description: "not all was imported") }
        let memory = resident.withLock { $0 }
        return [
            BenchmarkRow(
                name: "import: \(messages) messages of Telegram's", value: (Double(messages) / seconds).rounded(),
                unit: "messages/s"),
            BenchmarkRow(name: "import: memory in use", value: Double(memory.peak), unit: "MB"),
            BenchmarkRow(
                name: "import: memory of the last nine tenths above the first",
                value: Double(memory.peak - memory.early),
                unit: "MB", target: 32),
        ]
    }

    /// Imports 500 MB that end prematurely, mostly events that are not stored.
    private func broken(_ archive: RoomArchive, _ store: ChatStore) async throws -> [BenchmarkRow] {
        let file = folder.appending(path: "broken.json")
        let size = messages * 500
        try write(
            size / 640, to: file, isComplete: false, filler: String(repeating: "x", count: 480), messageInterval: 50)
        let rooms = try await store.roomSummaries().count
        let before = Self.residentMegabytes
        let peak = Mutex(0)
        let start = ContinuousClock.now
        do {
            _ = try await archive.importConversations(from: file, resolveRepeats: { _ in .newRooms }) { _ in
                peak.withLock { $0 = max($0, Self.residentMegabytes) }
            }
            throw StoreFailure(description: "a broken file was taken")
        } catch ArchiveError.truncated {}
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard try await store.roomSummaries().count == rooms, try await store.stagedRooms().isEmpty else {
            throw StoreFailure(description: "a broken file left a room")
        }
        return [
            BenchmarkRow(
                name: "import: \(size / 1_000_000) MB that end in the middle, until nothing is left",
                value: (seconds * 10).rounded() / 10, unit: "s"),
            BenchmarkRow(
                name: "import: memory for those", value: Double(max(0, peak.withLock { $0 } - before)), unit: "MB",
                target: 64),
        ]
    }

    /// - Parameter messageInterval: writes one message per this many events.
    private func write(_ count: Int, to file: URL, isComplete: Bool, filler: String = "", messageInterval: Int = 1)
        throws
    {
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw StoreFailure(description: "no room for the sample")
        }
        let handle = try FileHandle(forWritingTo: file)
        var random = SeededGenerator(seed: 7)
        var text = #"{"name":"Long","type":"private_group","id":1,"messages":["#
        for number in 0..<count {
            let body = StoreDataset.text(using: &random)
            text += number == 0 ? "\n" : ",\n"
            text += """
                {"id":\(number),"type":"\(number % messageInterval == 0 ? "message" : "service")","date_unixtime":"\(1_500_000_000 + number * 30)","from":"Person \(number % 40)",\
                "from_id":"user\(number % 40)","text":"\(body) \(filler)","text_entities":[]}
                """
            if text.utf8.count > 1 << 20 {
                try handle.write(contentsOf: Data(text.utf8))
                text = ""
            }
        }
        if isComplete { text += "]}" }
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    private static var residentMegabytes: Int {
        // procfs reports a size of 0, so read until the end of the file.
        let status = (try? FileHandle(forReadingAtPath: "/proc/self/statm")?.readToEnd()) ?? Data()
        let pages =
            String(decoding: status, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return (pages * Int(getpagesize())) >> 20
    }
}
