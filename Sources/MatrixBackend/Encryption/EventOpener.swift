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
    let store: ChatStore
    /// Called with the decrypted events of a room, oldest first.
    var didOpen: @Sendable (RoomID, [MatrixEvent]) async -> Void = { _, _ in }

    /// Where the server's events of a room lie in its history.
    private enum Place {
        /// At its end. Without a predecessor, a sync may repeat events from before the encryption.
        case end(isWhole: Bool)
        /// Before a position of the stored history; `nil` if it is not known.
        case before(Int64?)
    }

    /// - Throws: If replay indices cannot be stored, or if it cannot be read which rooms are encrypted. None of the
    ///   events may then be used.
    func opened(_ update: SyncUpdate) async throws -> SyncUpdate {
        var update = update
        let timelines = try await opened(
            update.rooms.map { ($0.id, $0.timeline) }, at: .end(isWhole: update.isWhole))
        for (index, timeline) in timelines.enumerated() {
            update.rooms[index].timeline = timeline
            await didOpen(update.rooms[index].id, timeline)
        }
        return update
    }

    /// - Parameters:
    ///   - events: Oldest first.
    ///   - position: A position of the stored history before which they are, if known.
    func opened(
        _ events: [MatrixEvent], in room: RoomID, before position: Int64? = nil
    ) async throws -> [MatrixEvent] {
        let opened = try await opened([(room, events)], at: .before(position))[0]
        await didOpen(room, opened)
        return opened
    }

    private func opened(
        _ rooms: [(id: RoomID, events: [MatrixEvent])], at place: Place
    ) async throws -> [[MatrixEvent]] {
        var rooms = rooms
        for index in rooms.indices {
            rooms[index].events = try await marked(rooms[index].events, in: rooms[index].id, at: place)
        }
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
    /// Marks what was sent in the clear although the room was encrypted. Its place in the history decides: the time of
    /// an event is what its sender's server says.
    private func marked(_ events: [MatrixEvent], in room: RoomID, at place: Place) async throws -> [MatrixEvent] {
        guard events.contains(where: \.isClear), try await isEncrypted(room, after: events) else { return events }
        let count = try await countBeforeEncryption(events, in: room, at: place)
        return events.enumerated().map { index, event in
            guard event.isClear, index >= count else { return event }
            var event = event
            event.trust = .notEncrypted
            return event
        }
    }

    /// How many of these events are certainly from before the room's encryption.
    private func countBeforeEncryption(
        _ events: [MatrixEvent], in room: RoomID, at place: Place
    ) async throws -> Int {
        if case .end(isWhole: false) = place, try await wasEncrypted(room) { return 0 }
        if let index = events.firstIndex(where: \.setsEncryption) {
            // One that replaces another is from after the beginning of encryption, as all before it may be.
            return events[index].previousContent == nil ? index : 0
        }
        guard case .before(let position?) = place, let start = try await store.encryptionPosition(in: room) else {
            return 0
        }
        return position <= start ? events.count : 0
    }

    /// Whether the history knew the room to be encrypted before the events that are being opened.
    private func wasEncrypted(_ room: RoomID) async throws -> Bool {
        do {
            return try await store.roomState(of: room).encryption == .on
        } catch ChatError.notFound {
            return false
        }
    }

    private func isEncrypted(_ room: RoomID, after events: [MatrixEvent]) async throws -> Bool {
        do {
            return try await keys.encryptedRoom(room) != nil
        } catch let error as CancellationError {
            throw error
        } catch {
            if events.contains(where: \.setsEncryption) { return true }
            return try await mayBeEncrypted(room)
        }
    }

    /// Whether a room may be encrypted, without the keys' file, which cannot be read.
    private func mayBeEncrypted(_ room: RoomID) async throws -> Bool {
        if keys.isKnownEncrypted(room) { return true }
        do {
            return try await store.roomState(of: room).encryption != .off
        } catch ChatError.notFound {
            // Nothing was known of the room's encryption before these events.
            return false
        }
    }
}

extension MatrixEvent {
    /// Whether it was sent in the clear and may be displayed as a message: the parser shows any type that has a text.
    fileprivate var isClear: Bool {
        stateKey == nil && protection == .clear && !isRedacted && !Self.textless.contains(type)
    }

    /// Types that are always sent in the clear, or have a mark of their own.
    private static let textless: Set<String> = [encryptedType, "m.reaction", "m.room.redaction"]

    fileprivate var setsEncryption: Bool { type == "m.room.encryption" && stateKey == "" }

    /// The event and the edit that the server has bundled with it, as far as they are encrypted and not redacted.
    fileprivate var sealedParts: [MatrixEvent] {
        var parts: [MatrixEvent] = isSealed ? [self] : []
        if let bundled = unsigned["m.relations"]?["m.replace"], let edit = MatrixEvent(bundled), edit.isSealed,
            edit.sender == sender, !isRedacted, edit.editedMessage == id
        {
            parts.append(edit)
        }
        return parts
    }

    /// Whether the user was neither in the room nor invited when it was sent. Some servers do not say this.
    private var isFromBeforeMembership: Bool {
        guard let membership = unsigned["membership"]?.string else { return false }
        return !["join", "invite"].contains(membership)
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
        case .failure(let found) where [.noKey, .beforeKey].contains(found) && isFromBeforeMembership:
            // No device of the user got the key, so that none can pass it on.
            reason = .beforeMembership
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
        self.init(of: event.id, reason: reason, edits: event.editedMessage)
        var json: [String: JSONValue] = [
            "event_id": .string(event.id.rawValue), "type": .string(event.type),
            "sender": .string(event.sender.rawValue), "content": event.content,
            "origin_server_ts": .integer(Int64((event.sentAt.timeIntervalSince1970 * 1000).rounded())),
        ]
        var unsigned: [String: JSONValue] = [:]
        unsigned["transaction_id"] = event.unsigned["transaction_id"]
        unsigned["membership"] = event.unsigned["membership"]?.string.map { .string($0) }
        if !unsigned.isEmpty { json["unsigned"] = .object(unsigned) }
        // If the event cannot be encoded, only the reason is kept.
        guard let bytes = try? JSONValue.object(json).encoded(), bytes.count <= Self.maxBytes else { return }
        data = String(decoding: bytes, as: UTF8.self)
        session = MatrixEvent.identifier(event.content["session_id"])
    }
}
