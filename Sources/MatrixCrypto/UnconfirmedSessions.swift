import ChatCore
import Foundation
import Ratchets

/// Marks sessions whose device was not confirmed when their key arrived, so that they are found when it is: it may be
/// signed out again before any message of theirs is read. The mark stays for a while then, so that the messages that
/// were hidden are found by their sender.
///
/// The value of a mark is the identity key of the device or, once that is confirmed, when it was, in milliseconds since
/// 1970, as decimal digits.
enum UnconfirmedSessions {
    /// Session IDs are base64, so the separator ends them.
    private static let separator: UInt8 = 0
    /// How long the mark of a session stays once its device is confirmed, in seconds.
    private static let confirmedLifetime: TimeInterval = 3600
    private static let keyLength = 32

    static func mark(_ session: InboundSession) -> CryptoRecord {
        CryptoRecord(key(ofMark: session), value: Data(session.owner.identityKey))
    }

    /// The mark of a session whose device is confirmed.
    /// - Parameter now: When it was confirmed; `nil` to remove the mark with the next list of the user's devices.
    static func confirmedMark(_ session: InboundSession, at now: Date? = nil) -> CryptoRecord {
        let milliseconds = now.map { Int64($0.timeIntervalSince1970 * 1000) } ?? 0
        return CryptoRecord(key(ofMark: session), value: Data(String(milliseconds).utf8))
    }

    private static func isOver(_ mark: CryptoRecord, at now: Date) -> Bool {
        guard mark.value.count != keyLength else { return false }
        let milliseconds = Double(String(decoding: mark.value, as: UTF8.self)) ?? 0
        // One from the future counts: the clock was set back.
        return abs(now.timeIntervalSince1970 - milliseconds / 1000) > confirmedLifetime
    }

    /// Those of the sessions that came from devices of users which were not confirmed then, except those that were
    /// confirmed long ago. A user may have any number of marks: some are read at a time, from where one of these
    /// sessions' can be.
    static func marked(
        among sessions: Set<SessionID>, of users: Set<ExactText>, in storage: any CryptoStorage
    ) async throws -> Set<SessionID> {
        let sorted = sessions.map { (session: $0, mark: identifier(ofMark: $0)) }.sorted { $0.mark < $1.mark }
        var marked: Set<SessionID> = []
        for user in try await owners(among: users, in: storage) {
            var left = sorted[...]
            var last: ExactText = ""
            while let next = left.first {
                // Right before the mark of the next session, unless more marks follow there than are read at once.
                last = max(last, ExactText(bytes: next.mark.bytes.dropLast()))
                let start = CryptoRecord.Key(.unconfirmedSession, owner: user, id: last)
                let marks = try await storage.cryptoRecords(.unconfirmedSession, after: start, limit: partSize)
                    .prefix { $0.key.owner == user }
                guard let end = marks.last?.key.id else { break }
                let found = Set(marks.map(\.key.id))
                let compared = left.prefix { $0.mark <= end }
                marked.formUnion(compared.filter { found.contains($0.mark) }.map(\.session))
                left = left.dropFirst(compared.count)
                last = end
            }
        }
        return marked
    }

    static func key(ofMark session: InboundSession) -> CryptoRecord.Key {
        CryptoRecord.Key(
            .unconfirmedSession, owner: ExactText(session.owner.user),
            id: identifier(ofMark: SessionID(room: session.room, session: session.id)))
    }

    private static func identifier(ofMark session: SessionID) -> ExactText {
        ExactText(bytes: session.session.bytes + [separator] + session.room.bytes)
    }

    private static func session(of mark: CryptoRecord.Key) -> SessionID? {
        let parts = mark.id.bytes.split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return SessionID(room: ExactText(bytes: Array(parts[1])), session: ExactText(bytes: Array(parts[0])))
    }

    private static func stored(
        _ mark: CryptoRecord.Key, in storage: any CryptoStorage, key: KeyMaterial
    ) async throws -> InboundSession.Lookup {
        guard let id = session(of: mark) else { return .missing }
        return try await InboundSession.stored(id, in: storage, key: key)
    }

    /// How many marks are read at once, and compared with device lists in one change: any device can send keys without
    /// end before it is confirmed.
    static let partSize = 200

    /// Those of the users who have marked sessions.
    static func owners(among users: Set<ExactText>, in storage: any CryptoStorage) async throws -> [ExactText] {
        Array(try await storage.cryptoRecords(.unconfirmedSession, owners: users, limit: 1).keys)
    }

    /// Records in some of a user's marked sessions which of the user's devices are confirmed now.
    /// - Parameters:
    ///   - last: The identifier of the mark behind which to begin; empty for the first one.
    ///   - limit: How many marks are compared at most.
    /// - Returns: The change, and the identifiers of the marks that were compared.
    static func confirm(
        sessionsOf user: ExactText, after last: ExactText, limit: Int, in storage: any CryptoStorage,
        key: KeyMaterial, at now: Date
    ) async throws -> (change: CryptoChange, compared: [ExactText]) {
        // If one of the records is damaged, reading a message finds it, and has the list queried again.
        var known = KnownSenders(storage: storage)
        let (identity, devices) = try await known.find(user)
        let confirmed = devices.filter { identity?.confirms($0) == true }
        let identityKeys = Set(confirmed.map { Data($0.identityKey.bytes) })
        let start = CryptoRecord.Key(.unconfirmedSession, owner: user, id: last)
        let marks = try await storage.cryptoRecords(.unconfirmedSession, after: start, limit: limit)
            .prefix { $0.key.owner == user }
        var change = CryptoChange()
        change.removed.formUnion(marks.filter { isOver($0, at: now) }.map(\.key))
        // Not all marked sessions are read: those of a device that stays unconfirmed grow with its messages.
        for mark in marks where identityKeys.contains(mark.value) {
            switch try await stored(mark.key, in: storage, key: key) {
            case .missing: change.removed.insert(mark.key)
            // A key that replaces it has the same mark.
            case .damaged: continue
            case .found(let stored):
                guard let found = try await stored.withClaim(of: user, in: storage) else { continue }
                var session = found.claimed(by: user)
                guard ExactText(session.owner.user) == user, confirmed.contains(where: session.owner.isDevice) else {
                    continue
                }
                session.confirmedBy = identity?.master
                change.put += try session.records(key: key)
                change.put.append(confirmedMark(session, at: now))
            }
        }
        return (change, marks.map(\.key.id))
    }
}
