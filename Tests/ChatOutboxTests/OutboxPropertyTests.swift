import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Testing
import ToolSupport

@testable import ChatOutbox

/// Whatever the order of requests and the failures of network and process, the server ends up with exactly what was
/// requested.
@Suite(.timeLimit(.minutes(10))) struct OutboxPropertyTests {
    /// A message as the user expects it to be.
    private struct RequestedMessage {
        let transaction: TransactionID
        var stored: ReplicaServer.Stored
    }

    private let room = RoomID("room")

    @Test(arguments: 1...40) func serverStateMatchesTheRequests(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let server = ReplicaServer(random: SeededGenerator(seed: UInt64(seed) + 1000))
        let folder = TemporaryFolder()
        var requests: [RequestedMessage] = []
        var number = 0
        for round in 0..<4 {
            let store = try await ChatStore.open(in: folder.path("store"))
            if round == 0 {
                try await store.createRoom(
                    NewRoom(room: Fixtures.room(room.rawValue), members: [Fixtures.own], createdAt: Fixtures.date))
            }
            let outbox = Outbox(
                storage: store, backend: server, isOnline: Bool.random(using: &random), clock: InstantClock())
            try await outbox.start()
            for _ in 0..<25 {
                number += 1
                try await act(TransactionID("t\(number)"), on: outbox, &requests, &random)
                if Int.random(in: 0..<4, using: &random) == 0 {
                    await outbox.setOnline(Bool.random(using: &random))
                }
            }
            if round == 3 {
                await outbox.setOnline(true)
                for await items in outbox.items(in: room) where items.isEmpty { break }
            }
            await outbox.close()
            await store.close()
        }
        #expect(server.messages == requests.map(\.stored))
        #expect(server.faults > 0 && server.unknownTargets == 0)
    }

    private func act(
        _ transaction: TransactionID, on outbox: Outbox, _ requests: inout [RequestedMessage],
        _ random: inout SeededGenerator
    ) async throws {
        let choice = Int.random(in: 0..<10, using: &random)
        guard choice >= 4, let place = requests.indices.randomElement(using: &random) else {
            let text = "text \(transaction)"
            try await outbox.send(WrittenMessage(text), transaction: transaction, to: room)
            requests.append(RequestedMessage(transaction: transaction, stored: .init(text: text)))
            return
        }
        // Try both targets: the caller does not know whether the message is still queued.
        let original = requests[place].transaction
        for target in [OutboxTarget.queued(original), .message(MessageID("$\(original)"))] {
            do {
                switch choice {
                case 4...6:
                    let text = "edited \(transaction)"
                    try await outbox.edit(target, in: room, to: WrittenText(text), transaction: transaction)
                    requests[place].stored.text = text
                case 7:
                    try await outbox.delete(target, in: room, transaction: transaction)
                    requests.remove(at: place)
                default:
                    let text = ["👍", "🎉"][choice - 8]
                    let isGiven = !requests[place].stored.reactions.contains(text)
                    try await outbox.react(text, isAdded: isGiven, to: target, in: room, transaction: transaction)
                    if isGiven {
                        requests[place].stored.reactions.insert(text)
                    } else {
                        requests[place].stored.reactions.remove(text)
                    }
                }
                return
            } catch ChatError.notFound {
                continue
            }
        }
        Issue.record("neither queued nor sent")
    }
}
