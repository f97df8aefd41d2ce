import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// Publishes verifications, and sends their in-room messages.
actor Verifier {
    private let keys: AccountEncryption
    private let client: MatrixClient
    private let encryption: RoomEncryption
    private let sealer: RoomSealer
    private let directChats: DirectChats
    private let now: @Sendable () -> Date
    nonisolated let verifications = ValueFeed<[Verification]>([])
    /// Keeps in-room messages in order.
    private let gate = SerialGate()

    init(
        keys: AccountEncryption, client: MatrixClient, encryption: RoomEncryption, sealer: RoomSealer,
        directChats: DirectChats, now: @escaping @Sendable () -> Date
    ) {
        self.keys = keys
        self.client = client
        self.encryption = encryption
        self.sealer = sealer
        self.directChats = directChats
        self.now = now
    }

    func publish(_ machine: CryptoMachine) async throws { verifications.set(try await machine.verifications()) }

    nonisolated func finish() { verifications.finish() }

    func verifyDevice(_ device: String?) async throws -> Verification.ID {
        let time = now()
        return try await keys.encrypting { machine in
            try await machine.verifyDevice(device.map { ExactText($0) }, at: time).text
        }
    }

    /// Starts a verification in the direct chat with a user.
    func verify(_ user: MemberID) async throws -> Verification.ID {
        let other = ExactText(user.rawValue)
        try await keys.encrypting { try await $0.track([other]) }
        // Their identity may not have been downloaded yet.
        guard await keys.makeAllRequests() else { throw EncryptionError.unreachable }
        let content = try await keys.encrypting { try await $0.verificationRequest(to: other) }
        let room: RoomID
        do {
            room = try await directChats.open(with: user.rawValue)
        } catch ChatError.notFound {
            throw EncryptionError.noRoom
        } catch {
            throw EncryptionError.translated(error)
        }
        do {
            return try await request(content, of: other, in: room)
        } catch {
            throw EncryptionError.translated(error)
        }
    }

    /// Sends a request. It is registered before, as the answer may be here before the response, and stays if the
    /// response is lost: the sync then tells its event's ID.
    private func request(
        _ content: [String: JSONValue], of other: ExactText, in room: RoomID
    ) async throws -> Verification.ID {
        let transaction = try Self.transaction()
        let (id, place, time) = (ExactText(transaction), ExactText(room.rawValue), now())
        let (type, body) = try await written("m.room.message", content, for: room)
        try await keys.encrypting { try await $0.willRequestVerification(of: other, as: id, in: place, at: time) }
        let event: MessageID
        do {
            event = try await client.send(type, body, to: room, transaction: transaction)
        } catch let error as MatrixError where error.excludesDelivery {
            try? await keys.encrypting { try await $0.withdrawVerificationRequest(id) }
            throw error
        } catch is MatrixError {
            return transaction
        }
        let sent = now()
        // If this fails, the sync tells the ID.
        let answers = try? await keys.encrypting {
            try await $0.didRequestVerification(id, as: ExactText(event.rawValue), at: sent)
        }
        await deliver(answers ?? [])
        return transaction
    }

    func perform(_ action: Verification.Action, in id: Verification.ID) async throws {
        let time = now()
        let messages = try await keys.encrypting { try await $0.perform(action, in: ExactText(id), at: time) }
        await deliver(messages)
    }

    /// Processes verification events of a room, from the sync, from history or decrypted late.
    func received(_ events: [MatrixEvent], in room: RoomID) async {
        let events = events.compactMap { VerificationEvent($0, in: room) }
        guard !events.isEmpty else { return }
        let time = now()
        // A verification that cannot be processed times out; the sync goes on.
        guard let messages = try? await keys.encrypting({ try await $0.received(events, at: time) }) else { return }
        // Do not delay the sync until the answers are sent.
        if !messages.isEmpty { Task { await deliver(messages) } }
    }

    func tick() async {
        let time = now()
        // On failure, the other side still cancels: its timeout is the same.
        guard let messages = try? await keys.encrypting({ try await $0.tickVerifications(at: time) }) else { return }
        await deliver(messages)
    }

    private func deliver(_ messages: [VerificationRoomMessage]) async {
        guard !messages.isEmpty else { return }
        await gate.runEvenIfCanceled {
            for message in messages {
                // If a message is not delivered, the other side times out.
                _ = try? await self.send(message.type, message.content, to: RoomID(message.room.text))
            }
        }
    }

    private func send(_ type: String, _ content: [String: JSONValue], to room: RoomID) async throws -> MessageID {
        let (type, body) = try await written(type, content, for: room)
        return try await client.send(type, body, to: room, transaction: try Self.transaction())
    }

    /// The event as it is sent into a room: encrypted if the room is.
    private func written(
        _ type: String, _ content: [String: JSONValue], for room: RoomID
    ) async throws -> (type: String, content: JSONValue) {
        switch try await encryption.way(into: room) {
        case .clear: return (type, .object(content))
        case .sealed:
            let sealed = try await sealer.sealed(type, .object(content), in: room)
            return ("m.room.encrypted", sealed)
        }
    }
}

extension Verifier {
    private static func transaction() throws -> String {
        try Randomness.bytes(16).map { String($0, radix: 16) }.joined()
    }
}

extension VerificationEvent {
    /// `nil` unless the event is a readable part of a verification.
    fileprivate init?(_ event: MatrixEvent, in room: RoomID) {
        let isRequest =
            event.type == "m.room.message" && event.content["msgtype"]?.string == Self.requestKind
        guard event.stateKey == nil, isRequest || event.type.hasPrefix("m.key.verification.") else { return nil }
        self.init(
            room: ExactText(room.rawValue), event: ExactText(event.id.rawValue),
            sender: ExactText(event.sender.rawValue), type: event.type, content: event.content, sentAt: event.sentAt,
            transaction: event.unsigned["transaction_id"]?.string.map { ExactText($0) })
    }
}

extension MatrixError {
    /// Whether the server certainly did not process the request.
    fileprivate var excludesDelivery: Bool {
        switch self {
        case .rejected, .signedOut, .busy, .untrusted: true
        case .unreachable, .malformed, .tooLarge: false
        }
    }
}
