import ChatCore
import ChatStore
import Composer
import Foundation
import MatrixBackend
import ToolSupport

/// A user's application without its window.
///
/// On `begin URL SLIDING USER DEVICE TOKEN LAST ROOM=NEXT…` it sends the messages NEXT to LAST to each room, a few at a
/// time, prints `queued ROOM NUMBER` when a message is durably queued, and `done` when the sync has returned all of
/// them. On `end ROOM=MESSAGE…`, with the last message of each room, it prints `kept ROOM MESSAGE` for all stored
/// messages, newest first, and `done`.
struct TalkChild {
    /// The factor by which the delays of outbox and sync are shortened.
    private static let haste = 20
    /// The maximum number of pending messages per room.
    private static let window = 10

    let folder: String

    func run() async throws {
        guard let words = readLine()?.split(separator: " ").map(String.init), words.count > 6, words[0] == "begin",
            let url = URL(string: words[1]), let last = Int(words[6])
        else { throw SoakFailure("not told to begin") }
        let session = MatrixSession(user: MemberID(words[3]), device: words[4], token: AccessToken(words[5]))
        let features: Set<String> = words[2] == "1" ? ["org.matrix.simplified_msc3575"] : []
        let store = try await ChatStore.open(in: URL(fileURLWithPath: folder, isDirectory: true))
        let backend = try await MatrixBackend.start(
            over: store, server: Homeserver(url: url, versions: ["v1.11"], features: features), session: session,
            transport: HastyTransport(transport: CurlTransport()), clock: FastClock(factor: Self.haste))
        let rooms = words.dropFirst(7).map { pair in
            let components = pair.split(separator: "=").map(String.init)
            return (id: RoomID(components[0]), next: Int(components[1]) ?? 1)
        }
        for await summaries in backend.roomSummaries()
        where Set(summaries.map(\.id)).isSuperset(of: rooms.map(\.id)) { break }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (roomIndex, room) in rooms.enumerated() {
                group.addTask { try await send(room.next, last, to: room.id, roomIndex, by: backend, store) }
            }
            try await group.waitForAll()
        }
        ParentPipe.send("done")
        guard let end = readLine()?.split(separator: " ").map(String.init), end.first == "end" else { return }
        for (roomIndex, pair) in end.dropFirst().enumerated() {
            let components = pair.split(separator: "=").map(String.init)
            try await reportAll(of: RoomID(components[0]), roomIndex, upTo: MessageID(components[1]), from: backend)
        }
        ParentPipe.send("done")
        await backend.close()
        await store.close()
    }

    private func send(
        _ first: Int, _ last: Int, to room: RoomID, _ roomIndex: Int, by backend: MatrixBackend, _ store: ChatStore
    ) async throws {
        var next = first
        var onTheirWay: Set<TransactionID> = []
        for await update in backend.timeline(of: room, limit: 100) {
            var messages: [Message] = []
            switch update {
            case .opened(let page, _, _): messages = page.messages
            case .changed(let changed): messages = changed
            case .removed, .members, .membersChanged, .encrypted, .typing: break
            case .closed: throw SoakFailure("room \(roomIndex) is gone")
            }
            for message in messages where message.sender == backend.ownUserID {
                guard let transaction = message.transactionID else { continue }
                switch message.delivery {
                case .sending: onTheirWay.insert(transaction)
                case .sent: onTheirWay.remove(transaction)
                default: throw SoakFailure("a message was refused")
                }
            }
            while next <= last, onTheirWay.count < Self.window {
                let transaction = TransactionID("\(roomIndex)-\(next)")
                let localEcho = try await backend.send(
                    WrittenMessage(WrittenText("\(next)")), as: transaction, to: room)
                ParentPipe.send("queued \(roomIndex) \(next)")
                if localEcho.delivery == .sending { onTheirWay.insert(transaction) }
                next += 1
            }
            // Messages are sent in order, so the last one implies all others.
            let end = TransactionID("\(roomIndex)-\(last)")
            if next > last, try await store.message(of: end, in: room) != nil { return }
        }
    }

    private func reportAll(of room: RoomID, _ roomIndex: Int, upTo last: MessageID, from backend: MatrixBackend)
        async throws
    {
        for await update in backend.timeline(of: room, limit: 100) {
            var messages: [Message] = []
            if case .opened(let page, _, _) = update { messages = page.messages }
            if case .changed(let changed) = update { messages = changed }
            if messages.contains(where: { $0.id == last }) { break }
        }
        var position = Int64.max
        var failures = 0
        while true {
            // The proxy makes requests fail at random: repeat them.
            guard let page = try? await backend.messages(in: room, before: position, limit: 200) else {
                failures += 1
                guard failures < 1000 else { throw SoakFailure("the history cannot be fetched") }
                continue
            }
            // Ignore room events, which the server's list of messages does not include.
            for message in page.messages.reversed() where message.kind != .event {
                ParentPipe.send("kept \(roomIndex) \(message.id)")
            }
            guard page.hasOlder else { return }
            position = page.messages.first?.position ?? position
        }
    }
}
