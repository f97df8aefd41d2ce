import ChatCore
import ChatOutbox
import Composer
import Synchronization

/// An in-memory server behind a network that loses requests and responses.
final class ReplicaServer: OutboxBackend {
    struct Stored: Equatable {
        var text: String
        var reactions: Set<String> = []
    }

    private struct State {
        var order: [MessageID] = []
        var messages: [MessageID: Stored] = [:]
        var known: Set<TransactionID> = []
        var random: any RandomNumberGenerator
        var faults = 0
        var unknownTargets = 0
    }

    private let state: Mutex<State>

    init(random: sending any RandomNumberGenerator) { state = Mutex(State(random: random)) }

    /// Messages that were not deleted, in order of arrival.
    var messages: [Stored] { state.withLock { state in state.order.compactMap { state.messages[$0] } } }
    /// The number of requests whose target the server cannot know.
    var unknownTargets: Int { state.withLock { $0.unknownTargets } }
    var faults: Int { state.withLock { $0.faults } }

    func upload(
        _ file: MediaReference, of request: OutboxRequest, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> String { "server:file" }

    func deliver(_ request: OutboxRequest) async throws -> MessageID? {
        await Task.yield()
        return try state.withLock { state in
            let chance = Int.random(in: 0..<10, using: &state.random)
            if chance < 4 { state.faults += 1 }
            if chance == 0 { throw DeliveryError.unreachable }
            if chance == 1 { throw DeliveryError.busy(retryAfter: .seconds(5)) }
            if state.known.insert(request.id).inserted { Self.apply(request, to: &state) }
            if chance == 2 || chance == 3 { throw DeliveryError.unreachable }
            return MessageID("$\(request.id)")
        }
    }

    private static func apply(_ request: OutboxRequest, to state: inout State) {
        switch request.action {
        case .send(let message):
            let id = MessageID("$\(request.id)")
            state.order.append(id)
            state.messages[id] = Stored(text: message.text.source)
        case .edit(.message(let id), let text): state.messages[id]?.text = text.source
        case .delete(.message(let id)): state.messages[id] = nil
        case .react(.message(let id), let text, true): state.messages[id]?.reactions.insert(text)
        case .react(.message(let id), let text, false): state.messages[id]?.reactions.remove(text)
        default: state.unknownTargets += 1
        }
    }
}
