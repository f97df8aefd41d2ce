import ChatCore
import ChatOutbox
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// Sends the messages of verifications into rooms: those of a verification in their order, and each again after a
/// failure until the verification times out. All attempts have the same transaction, so that the other side gets the
/// message once.
actor VerificationSender {
    private struct Item {
        let room: RoomID
        let user: ExactText
        let type: String
        let content: [String: JSONValue]
        /// When the message is useless; `nil` for a request, which waits for as long as it is due.
        let end: Date?
        /// Chosen at the first attempt.
        var transaction: String?
        /// The type of the event as it may have reached the server: by another one, it is another event.
        var sentType: String?

        /// A request, whose transaction identifies its verification.
        init(_ content: [String: JSONValue], to user: ExactText, in room: RoomID, transaction: String) {
            self.room = room
            self.user = user
            type = "m.room.message"
            self.content = content
            end = nil
            self.transaction = transaction
        }

        init(_ message: VerificationRoomMessage) {
            room = RoomID(message.room.text)
            user = message.user
            type = message.type
            content = message.content
            end = message.end
        }
    }

    private struct Written {
        let type: String
        let content: JSONValue
        let way: RoomEncryption.Way
    }

    /// The event has certainly not left, as the room's encryption was being turned on.
    private struct NotSent: Error {}

    private let keys: AccountEncryption
    private let client: MatrixClient
    private let encryption: RoomEncryption
    private let sealer: RoomSealer
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    /// A verification takes ten minutes at most.
    private let backOff = BackOff(minDelay: .milliseconds(500), maxDelay: .seconds(15))
    /// By verification, as are the others.
    private var waiting: [ExactText: [Item]] = [:]
    private var running: [ExactText: Task<Void, Never>] = [:]
    /// The waits before retries that ``retryNow()`` skips.
    private var pauses: [ExactText: Task<Void, Never>] = [:]
    /// The verifications whose next message could not be sent so far.
    private(set) var unsent: Set<ExactText> = []
    private var isClosed = false

    init(
        keys: AccountEncryption, client: MatrixClient, encryption: RoomEncryption, sealer: RoomSealer,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Date
    ) {
        self.keys = keys
        self.client = client
        self.encryption = encryption
        self.sealer = sealer
        self.clock = clock
        self.now = now
    }

    /// Sends a request. It is registered before, as the answer may be here before the response. Without a response it
    /// is sent again, unless the sync has returned it.
    /// - Throws: If it has certainly not reached the server. Then there is no verification.
    func request(
        _ content: [String: JSONValue], of other: ExactText, in room: RoomID
    ) async throws -> Verification.ID {
        let transaction = try Self.transaction()
        let (id, place, time) = (ExactText(transaction), ExactText(room.rawValue), now())
        var item = Item(content, to: other, in: room, transaction: transaction)
        let written = try await written(item)
        item.sentType = written.type
        try await keys.encrypting { try await $0.willRequestVerification(of: other, as: id, in: place, at: time) }
        do {
            let event = try await send(written, to: room, as: transaction)
            await noteSent(id, as: event)
        } catch let error as MatrixError where error.excludesDelivery {
            try? await keys.encrypting { try await $0.withdrawVerificationRequest(id) }
            throw error
        } catch is NotSent {
            try? await keys.encrypting { try await $0.withdrawVerificationRequest(id) }
            throw DeliveryError.unreachable
        } catch {
            await note(id, isUnsent: true)
            append([item], to: id)
        }
        return transaction
    }

    /// Sends messages without waiting for that.
    func add(_ messages: [VerificationRoomMessage]) {
        for message in messages { append([Item(message)], to: message.verification) }
    }

    /// Repeats at once what has failed, as the server can be reached again.
    func retryNow() {
        for pause in pauses.values { pause.cancel() }
    }

    /// Ends all attempts.
    func close() async {
        isClosed = true
        let tasks = running.values
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func append(_ items: [Item], to id: ExactText) {
        guard !isClosed else { return }
        // Messages behind a request mean that the sync has returned it: it does not have to be sent again.
        if let first = waiting[id]?.first, first.end == nil { pauses[id]?.cancel() }
        waiting[id, default: []] += items
        if running[id] == nil { running[id] = Task { await run(id) } }
    }

    // MARK: Sending

    private func run(_ id: ExactText) async {
        // A request was tried before.
        var failures = unsent.contains(id) ? 1 : 0
        if failures > 0 { await pause(id, for: backOff.delay(after: failures, draw: .random(in: 0...1))) }
        while !Task.isCancelled, waiting[id]?.isEmpty == false {
            do {
                try await sendFirst(of: id)
                waiting[id]?.removeFirst()
                failures = 0
                await note(id, isUnsent: false)
            } catch {
                guard let wait = Self.wait(after: error) else {
                    await reject(id)
                    continue
                }
                failures += 1
                await note(id, isUnsent: true)
                let delay = backOff.delay(after: failures, draw: .random(in: 0...1))
                await pause(id, for: max(wait, delay), isDemanded: wait > .zero)
            }
        }
        waiting[id] = nil
        running[id] = nil
    }

    /// Makes one attempt, unless the message is useless by now.
    private func sendFirst(of id: ExactText) async throws {
        guard let item = waiting[id]?.first, try await isDue(item, of: id) else { return }
        let transaction = try item.transaction ?? Self.transaction()
        waiting[id]?[0].transaction = transaction
        let written = try await written(item)
        // Encryption was turned on meanwhile. It is not known whether the other side has the message already.
        if let type = item.sentType, type != written.type {
            throw DeliveryError.rejected(reason: "the room was encrypted in the meantime")
        }
        waiting[id]?[0].sentType = written.type
        do {
            let event = try await send(written, to: item.room, as: transaction)
            if item.end == nil { await noteSent(id, as: event) }
        } catch let error as NotSent {
            waiting[id]?[0].sentType = item.sentType
            throw error
        }
    }

    /// - Throws: ``NotSent``, or an error after which the event may have reached the server.
    private func send(_ event: Written, to room: RoomID, as transaction: String) async throws -> MessageID {
        guard event.way == .clear else {
            return try await client.send(event.type, event.content, to: room, transaction: transaction)
        }
        return try await keys.clearAttempts.run(.event, in: room) { [client, encryption] in
            // Encryption may have been turned on since. What prevents this check prevents the next attempt as well.
            guard let way = try? await encryption.way(into: room), way == .clear else { throw NotSent() }
            return try await client.send(event.type, event.content, to: room, transaction: transaction)
        }
    }

    private func isDue(_ item: Item, of id: ExactText) async throws -> Bool {
        if let end = item.end { return now() < end }
        guard let machine = await keys.machine else { throw DeliveryError.unreachable }
        return try await machine.isVerificationRequestDue(id)
    }

    private func noteSent(_ id: ExactText, as event: MessageID) async {
        let time = now()
        // If this fails, the sync tells the ID.
        let answers = try? await keys.encrypting {
            try await $0.didRequestVerification(id, as: ExactText(event.rawValue), at: time)
        }
        add(answers ?? [])
    }

    private func reject(_ id: ExactText) async {
        waiting[id] = nil
        await note(id, isUnsent: false)
        // If this fails, the verification times out.
        try? await keys.encrypting { try await $0.endUndeliverableVerification(id) }
        // What was added meanwhile has lost its predecessor.
        waiting[id] = nil
    }

    private func note(_ id: ExactText, isUnsent: Bool) async {
        let hasChanged = isUnsent ? unsent.insert(id).inserted : unsent.remove(id) != nil
        if hasChanged { await keys.noteChange() }
    }

    private func pause(_ id: ExactText, for delay: Duration, isDemanded: Bool = false) async {
        let pause = Task<Void, Never> { [clock] in
            // Throws only if canceled, and then the next attempt follows at once.
            try? await clock.sleep(for: delay, tolerance: nil)
        }
        if !isDemanded { pauses[id] = pause }
        await withTaskCancellationHandler {
            await pause.value
        } onCancel: {
            pause.cancel()
        }
        pauses[id] = nil
    }

    /// How long the server wants no other attempt; `nil` if none can succeed.
    private static func wait(after error: any Error) -> Duration? {
        switch error {
        case let error as MatrixError where error.isAboutAccount: .zero
        case MatrixError.rejected, MatrixError.tooLarge, MatrixError.signedOut, DeliveryError.rejected: nil
        case MatrixError.busy(let wait), DeliveryError.busy(let wait): wait
        default: .zero
        }
    }

    /// The event as it is sent into a room: encrypted if the room is.
    private func written(_ item: Item) async throws -> Written {
        let way = try await encryption.way(into: item.room)
        switch way {
        case .clear: return Written(type: item.type, content: .object(item.content), way: way)
        case .sealed:
            let sealed = try await sealer.sealed(
                item.type, .object(item.content), in: item.room, verifying: item.user)
            return Written(type: "m.room.encrypted", content: sealed, way: way)
        }
    }

    private static func transaction() throws -> String {
        try Randomness.bytes(16).map { String($0, radix: 16) }.joined()
    }
}

extension MatrixError {
    /// Whether the server certainly did not process the request.
    var excludesDelivery: Bool {
        switch self {
        case .rejected, .signedOut, .busy, .untrusted: true
        case .unreachable, .malformed, .tooLarge: false
        }
    }
}
