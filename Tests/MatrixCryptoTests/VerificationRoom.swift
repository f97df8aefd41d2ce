import ChatCore
import Foundation
import JSONReading
import MatrixCrypto

/// A room without encryption, whose events reach all of its devices.
final class VerificationRoom {
    typealias Client = TestServer.Client

    let id: ExactText = "!r:b"
    /// How often each event reaches each device.
    var repetitions = 1
    private let server: TestServer
    private let clients: [Client]
    private(set) var events: [VerificationEvent] = []
    private var waiting: [VerificationEvent] = []
    private var requests = 0

    init(_ server: TestServer, _ clients: [Client]) {
        self.server = server
        self.clients = clients
    }

    /// Sends an event.
    /// - Returns: Its ID.
    @discardableResult
    func post(
        _ type: String, _ content: JSONValue, from client: Client, transaction: ExactText? = nil
    ) -> ExactText {
        let event = VerificationEvent(
            room: id, event: ExactText("$\(events.count)"), sender: client.id.user, type: type, content: content,
            sentAt: server.now, transaction: transaction)
        events.append(event)
        waiting.append(event)
        return event.event
    }

    func post(_ messages: [VerificationRoomMessage], from client: Client) {
        for message in messages { post(message.type, .object(message.content), from: client) }
    }

    /// Delivers all events until there are no more.
    func deliver() async throws {
        while !waiting.isEmpty {
            let event = waiting.removeFirst()
            for client in clients { for _ in 0..<repetitions { try await deliver(event, to: client) } }
            try await server.exchangeAll()
        }
    }

    private func deliver(_ event: VerificationEvent, to client: Client) async throws {
        // The server names a transaction only to the device that has sent the event.
        let isSender = event.transaction.map { $0.text.hasPrefix("\(client.id.device) ") } ?? false
        let seen = VerificationEvent(
            room: event.room, event: event.event, sender: event.sender, type: event.type, content: event.content,
            sentAt: event.sentAt, transaction: isSender ? event.transaction : nil)
        post(try await client.machine.received([seen], at: server.now), from: client)
    }

    /// Makes a device ask a user. Its response does not arrive: the device learns the event's ID from its echo.
    /// - Returns: The verification on that device, and the request's event.
    func ask(_ other: ExactText, by client: Client) async throws -> (id: ExactText, event: ExactText) {
        try await client.machine.track([other])
        try await server.exchangeAll()
        requests += 1
        let transaction = ExactText("\(client.id.device) \(requests)")
        let content = try await client.machine.verificationRequest(to: other)
        try await client.machine.willRequestVerification(of: other, as: transaction, in: id, at: server.now)
        return (transaction, post("m.room.message", .object(content), from: client, transaction: transaction))
    }

    func perform(_ action: Verification.Action, in id: ExactText, by client: Client) async throws {
        post(try await client.machine.perform(action, in: id, at: server.now), from: client)
        try await deliver()
    }
}
