public import ChatCore
import Foundation
import JSONReading
import Ratchets

extension CryptoMachine {
    /// The decrypted payload of an event, or why the event stays sealed.
    public typealias Reading = Result<GroupMessageReader.Payload, GroupMessageReader.Seal>

    /// Decrypts room events. Stores which event used each message index before returning, so that replays are detected.
    /// - Returns: One result per event, in the same order.
    /// - Throws: If the storage fails. No event counts as read then.
    public func read(_ events: [SealedEvent]) async throws -> [Reading] {
        guard !events.isEmpty else { return [] }
        return try await change { state, change in
            var sessions: [SessionID: InboundSession?] = [:]
            var senders = SenderCheck(
                user: user, account: state.upkeep.account, tracker: state.tracker, storage: storage)
            var readings: [Reading] = []
            for event in events { readings.append(try await self.open(event, &sessions, &senders)) }
            state.tracker.track(senders.unasked)
            for session in senders.confirmed.values {
                change.put.append(try session.record(key: key))
                change.removed.insert(UnconfirmedSessions.key(ofMark: session))
            }
            let messages = Set(readings.compactMap { try? $0.get().message })
            let earlier = try await storage.events(readFrom: messages)
            for (index, reading) in readings.enumerated() {
                guard case .success(let payload) = reading else { continue }
                if let known = earlier[payload.message] ?? change.read[payload.message] {
                    if known != events[index].event { readings[index] = .failure(.replay) }
                } else {
                    change.read[payload.message] = events[index].event
                }
            }
            return readings
        }
    }

    /// Returns those of the given sessions whose key is stored.
    /// - Parameter owners: Limits the result to sessions created by devices of these users; `nil` for no limit.
    public func known(_ sessions: Set<SessionID>, of owners: Set<ExactText>? = nil) async throws -> Set<SessionID> {
        var known: Set<SessionID> = []
        for id in sessions {
            guard let owners else {
                let record = CryptoRecord.Key(.inboundGroupSession, owner: id.room, id: id.session)
                if try await storage.cryptoRecord(record) != nil { known.insert(id) }
                continue
            }
            let session = try await InboundSession.stored(id, in: storage, key: key)
            if let session, owners.contains(ExactText(session.owner.user)) { known.insert(id) }
        }
        return known
    }

    private func open(
        _ event: SealedEvent, _ sessions: inout [SessionID: InboundSession?], _ senders: inout SenderCheck
    ) async throws -> Reading {
        let envelope: GroupMessageReader.Envelope
        do throws(GroupMessageReader.Seal) {
            envelope = try GroupMessageReader.Envelope(
                content: event.content, room: event.room, event: event.event, sender: event.sender)
        } catch {
            return .failure(error)
        }
        let id = SessionID(room: envelope.room, session: envelope.session)
        let session: InboundSession?
        if let known = sessions[id] {
            session = known
        } else {
            session = try await InboundSession.stored(id, in: storage, key: key)
            sessions.updateValue(session, forKey: id)
        }
        var withheld: Withheld?
        if session == nil {
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
