import ChatCore
import ChatStore
import Foundation
import MatrixBackend
import ToolSupport

/// A start of the application without its window: `bench-child list|fetch|open FOLDER URL USER DEVICE TOKEN [ROOM…]`.
/// Prints measurements with a label before each; times are those of ``MonotonicTime``, so that the parent can subtract
/// the moment before it started this process. Counted from here, a library loaded by the dynamic linker would cost
/// nothing, and one loaded when first needed would.
struct BenchChild {
    let words: [String]

    func run() async throws {
        guard words.count >= 6, let url = URL(string: words[2]) else { throw SoakFailure("not told what to measure") }
        let session = MatrixSession(user: MemberID(words[3]), device: words[4], token: AccessToken(words[5]))
        let transport = CountingTransport()
        let store = try await ChatStore.open(in: URL(fileURLWithPath: words[1], isDirectory: true))
        let backend = try await MatrixBackend.start(
            over: store,
            server: Homeserver(
                url: url, versions: ["v1.11"], features: ["org.matrix.simplified_msc3575"]), session: session,
            transport: transport)
        func report(_ name: String) {
            print(name, MonotonicTime.microseconds, transport.count.requests, transport.count.bytes)
        }
        switch words[0] {
        case "list":
            for await rooms in backend.roomSummaries() where !rooms.isEmpty { break }
            report("list")
            for await state in backend.connectionStates() where state == .online { break }
            report("online")
            // The complete room list; the online state is reached before the whole list is loaded.
            if let all = words.dropFirst(6).first.flatMap({ Int($0) }) {
                for await rooms in backend.roomSummaries() where rooms.count >= all { break }
                report("all")
            }
        case "fetch":
            for room in words.dropFirst(6) {
                print("fetched", try await fetch(RoomID(room), by: backend))
                report("history")
            }
        case "open":
            // Measure twice: the first measurement includes one-time initialization.
            for room in words.dropFirst(6) + words.dropFirst(6) {
                print("open", try await open(RoomID(room), by: backend))
            }
        default: throw SoakFailure("not told what to measure")
        }
        print("memory", try ProcessMemory.kibibytes())
        await backend.close()
        await store.close()
    }

    /// Fetches the whole history of a room page by page, like scrolling to its start.
    /// - Returns: The number of messages.
    private func fetch(_ room: RoomID, by backend: MatrixBackend) async throws -> Int {
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        var position = Int64.max
        var count = 0
        while true {
            let page = try await backend.messages(in: room, before: position, limit: 100)
            count += page.messages.count
            guard page.hasOlder, let first = page.messages.first else { return count }
            position = first.position
        }
    }

    /// - Returns: The median time in microseconds until a room's newest page is published.
    private func open(_ room: RoomID, by backend: MatrixBackend) async throws -> Int {
        let clock = ContinuousClock()
        var times: [Int] = []
        for _ in 0..<51 {
            let start = clock.now
            for await update in backend.timeline(of: room, limit: 100) {
                guard case .opened(let page, _, _) = update, !page.messages.isEmpty else { continue }
                break
            }
            times.append(Int((clock.now - start) / .microseconds(1)))
        }
        return times.sorted()[times.count / 2]
    }
}

/// A clock that all processes share.
enum MonotonicTime {
    static var microseconds: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
    }
}
