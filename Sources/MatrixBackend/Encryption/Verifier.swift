import ChatCore
import Foundation
import JSONReading
import MatrixCrypto

/// Publishes verifications, and has their messages in rooms sent.
actor Verifier {
    private let keys: AccountEncryption
    private let directChats: DirectChats
    let sender: VerificationSender
    private let now: @Sendable () -> Date
    nonisolated let verifications = ValueFeed<[Verification]>([])
    /// Whose verifications ``known`` are.
    private weak var machine: CryptoMachine?
    private var known: [Verification] = []
    /// Those that have ended with the machine, which has them in memory only. They stay until the user has seen it.
    private var lost: [Verification] = []

    init(
        keys: AccountEncryption, directChats: DirectChats, sender: VerificationSender,
        now: @escaping @Sendable () -> Date
    ) {
        self.keys = keys
        self.directChats = directChats
        self.sender = sender
        self.now = now
    }

    func publish(_ machine: CryptoMachine) async throws {
        if machine !== self.machine { loseKnown() }
        self.machine = machine
        let unsent = await sender.unsent
        var all = try await machine.verifications()
        for index in all.indices where !all[index].hasEnded && unsent.contains(ExactText(all[index].id)) {
            all[index].isUnsent = true
        }
        // The keys may have been closed meanwhile.
        guard machine === self.machine else { return }
        known = all
        verifications.set(lost + all)
    }

    /// Ends what was running, as the keys were closed.
    func keysClosed() {
        loseKnown()
        machine = nil
        verifications.set(lost)
    }

    private func loseKnown() {
        for var verification in known where !verification.hasEnded {
            verification.phase = .canceled(.undeliverable)
            lost.append(verification)
        }
        known = []
    }

    /// - Returns: Whether this is a verification that has ended with its keys.
    private func performOnLost(_ action: Verification.Action, _ id: Verification.ID) -> Bool {
        guard lost.contains(where: { $0.id == id }) else { return false }
        if action == .dismiss {
            lost.removeAll { $0.id == id }
            verifications.set(lost + known)
        }
        return true
    }

    func close() async {
        await sender.close()
        verifications.finish()
    }

    /// Repeats at once what has failed, as the server can be reached again.
    func retryNow() async {
        await sender.retryNow()
        await keys.requests?.retryNow()
    }

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
        try await keys.makeRequests([.query], about: other)
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
            return try await sender.request(content, of: other, in: room)
        } catch {
            throw EncryptionError.translated(error)
        }
    }

    func perform(_ action: Verification.Action, in id: Verification.ID) async throws {
        guard !performOnLost(action, id) else { return }
        let time = now()
        let messages = try await keys.encrypting { try await $0.perform(action, in: ExactText(id), at: time) }
        await sender.add(messages)
    }

    /// Processes verification events of a room, from the sync, from history or decrypted late.
    func received(_ events: [MatrixEvent], in room: RoomID) async {
        let events = events.compactMap { VerificationEvent($0, in: room) }
        guard !events.isEmpty else { return }
        let time = now()
        // A verification that cannot be processed times out; the sync goes on.
        guard let messages = try? await keys.encrypting({ try await $0.received(events, at: time) }) else { return }
        await sender.add(messages)
    }

    func tick() async {
        let time = now()
        // On failure, the other side still cancels: its timeout is the same.
        guard let messages = try? await keys.encrypting({ try await $0.tickVerifications(at: time) }) else { return }
        await sender.add(messages)
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
