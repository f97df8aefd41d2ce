public import ChatCore
import Foundation
import JSONReading
import Ratchets

extension CryptoMachine {
    /// The decrypted payload of an event, or why the event stays sealed.
    public typealias Reading = Result<GroupMessageReader.Payload, GroupMessageReader.Seal>

    /// Decrypts room events. Stores which event used each message index before returning, so that replays are detected.
    /// - Returns: One result per event, in the same order. A damaged session seals only its own events.
    /// - Throws: If the storage fails. No event counts as read then.
    public func read(_ events: [SealedEvent]) async throws -> [Reading] {
        guard !events.isEmpty else { return [] }
        return try await change { state, change in
            var sessions: [SessionID: InboundSession.Lookup] = [:]
            var senders = SenderCheck(
                user: user, account: state.upkeep.account, tracker: state.tracker, storage: storage)
            var readings: [Reading] = []
            for event in events { readings.append(try await self.open(event, &sessions, &senders)) }
            state.tracker.track(senders.unasked)
            state.tracker.note(senders.damaged)
            for session in senders.confirmed.values {
                change.put += try session.records(key: key)
                change.put.append(UnconfirmedSessions.confirmedMark(session))
            }
            try await self.noteRead(events, &readings, &change)
            if try await self.isBehind(events, readings, &state) { try await self.outdate(&state, &change) }
            return readings
        }
    }

    /// Whether this device has sent one of these events with an index that the storage does not have as used: it is an
    /// older copy then, together with the history, and would use the index once more.
    private func isBehind(
        _ events: [SealedEvent], _ readings: [Reading], _ state: inout State
    ) async throws -> Bool {
        let own = zip(events, readings).filter { event, reading in
            guard event.sender == user, case .success = reading else { return false }
            return true
        }
        for (room, sent) in Dictionary(grouping: own, by: { $0.0.room }) {
            guard let outbound = try await OutboundRoom.known(room, in: storage, key: key, &state) else { continue }
            for case (_, .success(let payload)) in sent
            where payload.message.session == outbound.id && !outbound.isUsed(payload.message.index) {
                return true
            }
        }
        return false
    }

    /// Seals the events that repeat another one, and records the events that the other messages were read from.
    private func noteRead(
        _ events: [SealedEvent], _ readings: inout [Reading], _ change: inout CryptoChange
    ) async throws {
        func messages(_ reading: Reading, _ event: SealedEvent) -> [GroupMessage] {
            guard case .success(let payload) = reading else { return [] }
            // Earlier versions recorded the index alone.
            return [GroupMessageReader.recorded(payload.message, from: event.sender), payload.message]
        }
        let all = zip(readings, events).map { messages($0, $1) }
        var asked = Set<GroupMessage>(minimumCapacity: 2 * all.count)
        for messages in all { asked.formUnion(messages) }
        let earlier = try await storage.events(readFrom: asked)
        change.read.reserveCapacity(all.count)
        for (index, messages) in all.enumerated() {
            guard let message = messages.first else { continue }
            let known = messages.compactMap { earlier[$0] ?? change.read[$0] }
            if known.contains(where: { $0 != events[index].event }) {
                readings[index] = .failure(.replay)
            } else if known.isEmpty {
                change.read[message] = events[index].event
            }
        }
    }

    /// Returns those of the given sessions whose key is stored and undamaged.
    /// - Parameter owners: Limits the result to sessions created by devices of these users that were not confirmed when
    ///   the key arrived (``UnconfirmedSessions``), without reading sessions of other users; `nil` for no limit.
    public func known(_ sessions: Set<SessionID>, of owners: Set<ExactText>? = nil) async throws -> Set<SessionID> {
        var sessions = sessions
        if let owners { sessions = try await UnconfirmedSessions.marked(among: sessions, of: owners, in: storage) }
        var known: Set<SessionID> = []
        for id in sessions {
            guard case .found(let session) = try await InboundSession.stored(id, in: storage, key: key),
                try await hasClaim(of: owners, to: session)
            else { continue }
            known.insert(id)
        }
        return known
    }

    /// Whether there are sessions that came from devices of these users which were not confirmed then. Without one,
    /// ``known(_:of:)`` returns none, whatever it is asked about.
    public func hasUnconfirmedSessions(of users: Set<ExactText>) async throws -> Bool {
        try await !UnconfirmedSessions.owners(among: users, in: storage).isEmpty
    }

    /// Whether a device of one of these users has sent the session as its own; `nil` for anyone.
    private func hasClaim(of users: Set<ExactText>?, to session: InboundSession) async throws -> Bool {
        guard let users, users.isDisjoint(with: session.owners) else { return true }
        for user in users {
            if try await session.withClaim(of: user, in: storage)?.owners.contains(user) == true { return true }
        }
        return false
    }

    private func open(
        _ event: SealedEvent, _ sessions: inout [SessionID: InboundSession.Lookup], _ senders: inout SenderCheck
    ) async throws -> Reading {
        let envelope: GroupMessageReader.Envelope
        do throws(GroupMessageReader.Seal) {
            envelope = try GroupMessageReader.Envelope(
                content: event.content, room: event.room, event: event.event, sender: event.sender)
        } catch {
            return .failure(error)
        }
        let id = SessionID(room: envelope.room, session: envelope.session)
        let found: InboundSession.Lookup
        if let known = sessions[id] {
            found = known
        } else {
            found = try await InboundSession.stored(id, in: storage, key: key)
            sessions[id] = found
        }
        var session: InboundSession?
        var withheld: Withheld?
        switch found {
        case .found(let stored):
            guard let claimed = try await stored.withClaim(of: envelope.sender, in: storage) else {
                return .failure(.damaged)
            }
            session = claimed.forMessages(of: envelope.sender)
        case .damaged: return .failure(.damaged)
        case .missing:
            let record = CryptoRecord.Key(.withheldSession, owner: id.room, id: id.session)
            withheld = try await storage.cryptoRecord(record)
                .map { Withheld(rawValue: String(decoding: $0.value, as: UTF8.self)) ?? .other }
        }
        do {
            // The caller checks all events for replays at once.
            var payload = try GroupMessageReader.read(envelope, with: session, withheld: withheld) { _ in nil }
            if let session { payload.trust = try await senders.trust(in: session) }
            return .success(payload)
        } catch let seal as GroupMessageReader.Seal {
            return .failure(seal)
        }
    }
}
