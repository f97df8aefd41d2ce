import ChatCore
import ChatOutbox
import ChatStore
import Composer
import Foundation
import Synchronization
import ToolSupport

/// Queues messages and sends them through an outbox to a server at the other end of its standard streams.
///
/// On `begin LAST NEXT…`, with the number of the last message and the next number of each room, it prints `queued ROOM
/// NUMBER` when a message is durably queued, `deliver CALL ROOM TRANSACTION` for each attempt, and finally `done`.
struct OutboxSender {
    /// The factor by which the outbox's delays are shortened.
    static let haste = 200

    let folder: URL

    func run() async throws {
        guard let words = readLine()?.split(separator: " "), words.count > 2, let last = Int(words[1]) else {
            throw SoakFailure("the sender was not told to begin")
        }
        let next = words.dropFirst(2).compactMap { Int($0) }
        let store = try await ChatStore.open(in: folder)
        // Nothing is queued for a room that does not exist.
        for room in next.indices where try await !store.hasRoom(RoomID("\(room)")) {
            try await store.createRoom(
                NewRoom(room: Room(id: RoomID("\(room)"), name: "Room", kind: .group), members: [], createdAt: Date()))
        }
        let server = PipeServer()
        server.listen()
        let outbox = Outbox(storage: store, backend: server, clock: FastClock(factor: Self.haste))
        try await outbox.start()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (room, first) in next.enumerated() where first <= last {
                group.addTask {
                    for number in first...last {
                        try await outbox.send(
                            WrittenMessage(WrittenText("message \(number)")), transaction: TransactionID("\(number)"),
                            to: RoomID("\(room)"))
                        ParentPipe.send("queued \(room) \(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        for room in next.indices {
            for await items in outbox.items(in: RoomID("\(room)")) where items.isEmpty { break }
        }
        await outbox.close()
        await store.close()
        ParentPipe.send("done 0 0")
    }
}

/// A backend that delegates to the parent process.
private final class PipeServer: OutboxBackend {
    private struct State {
        var next = 0
        var waiting: [Int: CheckedContinuation<Result<MessageID?, DeliveryError>, Never>] = [:]
    }

    private let state = Mutex(State())

    func upload(
        _ file: MediaReference, of request: OutboxRequest, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> String {
        throw DeliveryError.rejected(reason: "no files here")
    }

    func deliver(_ request: OutboxRequest) async throws -> MessageID? {
        let result = await withCheckedContinuation { continuation in
            let call = state.withLock { state in
                state.next += 1
                state.waiting[state.next] = continuation
                return state.next
            }
            ParentPipe.send("deliver \(call) \(request.room) \(request.id)")
        }
        return try result.get()
    }

    /// Reads responses on a thread, because reading blocks. A response to an already answered call is ignored.
    func listen() {
        Thread.detachNewThread { [self] in
            while let line = readLine() {
                let words = line.split(separator: " ")
                guard words.count == 3, let call = Int(words[1]), let number = Int(words[2]) else { continue }
                let continuation = state.withLock { $0.waiting.removeValue(forKey: call) }
                switch words[0] {
                case "ok": continuation?.resume(returning: .success(MessageID("\(number)")))
                case "busy":
                    continuation?.resume(returning: .failure(.busy(retryAfter: .milliseconds(number))))
                default: continuation?.resume(returning: .failure(.unreachable))
                }
            }
            exit(0)
        }
    }
}
