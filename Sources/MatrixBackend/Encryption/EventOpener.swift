import ChatCore
import ChatStore
import Foundation
import JSONReading
import MatrixCrypto

/// Decrypts room events before they are parsed, so that the parser sees them as events sent in the clear.
///
/// Call it within the ``RoomWriter/serialized(_:)`` operation that stores the result, so that no key arrives in
/// between.
struct EventOpener: Sendable {
    let keys: AccountEncryption
    /// Called with the decrypted events of a room, oldest first.
    var didOpen: @Sendable (RoomID, [MatrixEvent]) async -> Void = { _, _ in }

    /// - Throws: If replay indices cannot be stored. None of the events may then be used.
    func opened(_ update: SyncUpdate) async throws -> SyncUpdate {
        var update = update
        let timelines = try await opened(update.rooms.map { ($0.id, $0.timeline) })
        for (index, timeline) in timelines.enumerated() {
            update.rooms[index].timeline = timeline
            await didOpen(update.rooms[index].id, timeline)
        }
        return update
    }

    func opened(_ events: [MatrixEvent], in room: RoomID) async throws -> [MatrixEvent] {
        let opened = try await opened([(room, events)])[0]
        await didOpen(room, opened)
        return opened
    }

    private func opened(_ rooms: [(id: RoomID, events: [MatrixEvent])]) async throws -> [[MatrixEvent]] {
        var rooms = rooms
        for index in rooms.indices { rooms[index].events = await marked(rooms[index].events, in: rooms[index].id) }
        let sealed = rooms.flatMap { room in
            room.events.flatMap(\.sealedParts).map { SealedEvent($0, in: room.id) }
        }
        guard !sealed.isEmpty else { return rooms.map(\.events) }
        var readings = try await keys.read(sealed)[...]
        let begun = await keys.beginning()
        return rooms.map { room in
            room.events.map { event in
                let parts = event.sealedParts.map { $0.opened(readings.removeFirst(), begun) }
                return event.replacing(parts)
            }
        }
    }
}

extension EventOpener {
    /// Marks events that were sent in the clear although the room was already known to be encrypted.
    private func marked(_ events: [MatrixEvent], in room: RoomID) async -> [MatrixEvent] {
        // If this cannot be read, the mark is missing; nothing else depends on it.
        guard events.contains(where: \.isClearMessage), let known = try? await keys.encryptedRoom(room) else {
            return events
        }
        let since = Date(timeIntervalSince1970: Double(known.firstSeen) / 1000)
        return events.map { event in
            guard event.isClearMessage, event.sentAt >= since else { return event }
            var event = event
            event.trust = .notEncrypted
            return event
        }
    }
}

extension MatrixEvent {
    fileprivate var isClearMessage: Bool {
        stateKey == nil && protection == .clear && !isRedacted && ["m.room.message", "m.sticker"].contains(type)
    }

    /// The event and the edit that the server has bundled with it, as far as they are encrypted and not redacted.
    fileprivate var sealedParts: [MatrixEvent] {
        var parts: [MatrixEvent] = isSealed ? [self] : []
        if let bundled = unsigned["m.relations"]?["m.replace"], let edit = MatrixEvent(bundled), edit.isSealed,
            edit.sender == sender, !isRedacted, edit.content["m.relates_to"]?["event_id"]?.string == id.rawValue
        {
            parts.append(edit)
        }
        return parts
    }

    private var isSealed: Bool { type == Self.encryptedType && stateKey == nil && !isRedacted && protection == .clear }

    /// - Parameter parts: The replacements of ``sealedParts``, in their order.
    fileprivate func replacing(_ parts: [MatrixEvent]) -> MatrixEvent {
        var parts = parts
        var event = isSealed && !parts.isEmpty ? parts.removeFirst() : self
        event.encryptedEdit = parts
        return event
    }

    fileprivate func opened(_ reading: AccountEncryption.Reading, _ begun: Date?) -> MatrixEvent {
        let reason: SealReason
        switch reading {
        case .success(let payload):
            if var opened = MatrixEvent(self, saying: payload.type, payload.content) {
                opened.trust = payload.trust
                return opened
            }
            reason = .damaged
        case .failure(.noKey):
            reason = begun.map { sentAt < $0 } == true ? .beforeSignIn : .noKey
        case .failure(let found):
            reason = found
        }
        var event = self
        event.protection = .sealed(reason)
        return event
    }
}

extension SealedEvent {
    fileprivate init(_ event: MatrixEvent, in room: RoomID) {
        self.init(
            room: ExactText(room.rawValue), event: ExactText(event.id.rawValue),
            sender: ExactText(event.sender.rawValue), content: event.content)
    }
}

extension SealReason {
    init(_ seal: GroupMessageReader.Seal) {
        self =
            switch seal {
            case .algorithm: .unknownAlgorithm
            case .malformed, .damaged: .damaged
            case .noKey: .noKey
            case .beforeKey: .beforeKey
            case .sender: .otherSender
            case .unconfirmedSender: .unconfirmedSender
            case .unknownSender: .unknownSender
            case .replay: .repeated
            case .withheld(let reason): SealReason(reason)
            }
    }

    private init(_ withheld: Withheld) {
        self =
            switch withheld {
            case .unverified: .unconfirmedDevice
            case .historyNotShared: .beforeMembership
            case .blocked, .unauthorized, .other: .withheld
            // The key may still arrive.
            case .unavailable, .noOlm: .noKey
            }
    }
}

extension Ciphertext {
    /// No server accepts longer events: do not store their ciphertext.
    private static let maxBytes = 2 * MatrixLimits.contentBytes

    /// - Parameter event: An undecryptable event.
    init(_ event: MatrixEvent, reason: SealReason) {
        self.init(of: event.id, reason: reason)
        var json: [String: JSONValue] = [
            "event_id": .string(event.id.rawValue), "type": .string(event.type),
            "sender": .string(event.sender.rawValue), "content": event.content,
            "origin_server_ts": .integer(Int64((event.sentAt.timeIntervalSince1970 * 1000).rounded())),
        ]
        if let transaction = event.unsigned["transaction_id"] { json["unsigned"] = ["transaction_id": transaction] }
        // If the event cannot be encoded, only the reason is kept.
        guard let bytes = try? JSONValue.object(json).encoded(), bytes.count <= Self.maxBytes else { return }
        data = String(decoding: bytes, as: UTF8.self)
        session = MatrixEvent.identifier(event.content["session_id"])
    }
}
