public import ChatCore
public import Foundation
public import JSONReading

/// Knows whose devices are to be known, which of the lists are out of date, and which question comes next.
///
/// A list is out of date until an answer to a question that was put after its last change: a change that is heard while
/// a question is under way is asked about again.
public struct DeviceTracker: Sendable {
    /// One question to the server: `keys/query` for these users.
    public struct Query: Equatable, Sendable {
        public let users: [ExactText]
        fileprivate let generations: [ExactText: UInt64]
    }

    public static let maxUsersAsked = 250

    private struct List: Sendable {
        var isOutdated = true
        /// Counts the changes.
        var generation: UInt64 = 0
        var isAsked = false
    }

    private var lists: [ExactText: List] = [:]
    /// Of servers that were not reached, and users whose answer could not be read.
    private var delays: [ExactText: RetryDelay] = [:]
    /// Users whose lists cannot be had for now: nobody waits for them.
    private var excused: Set<ExactText> = []
    /// Whose lists differ from what is stored.
    private var unsaved: Set<ExactText> = []
    /// Counts what may change who a message is encrypted for.
    public private(set) var revision: UInt64 = 0

    public init() {}

    /// - Parameter records: Those of the kind ``CryptoRecord/Kind/trackedUser``. One that cannot be read is out of date.
    public init(records: [CryptoRecord]) {
        for record in records where record.key.kind == .trackedUser {
            lists[record.key.owner] = List(isOutdated: record.value != Self.upToDate)
        }
    }

    private static let upToDate = Data([1])

    public var users: Set<ExactText> { Set(lists.keys) }

    public func isTracked(_ user: ExactText) -> Bool { lists[user] != nil }
    /// `nil` for a user who is not tracked.
    public func isOutdated(_ user: ExactText) -> Bool? { lists[user]?.isOutdated }

    /// Whether a message to this user waits for their list: it is out of date, and the server has not said that it cannot
    /// be had.
    public func holdsUp(_ user: ExactText) -> Bool { lists[user]?.isOutdated ?? true && !excused.contains(user) }

    /// Begins to track users whom a room is shared with.
    public mutating func track(_ users: some Sequence<ExactText>) {
        for user in users where lists[user] == nil {
            lists[user] = List()
            unsaved.insert(user)
            revision += 1
        }
    }

    /// What a sync says of `device_lists`. Users in `changed` who are not tracked are none of ours.
    public mutating func received(changed: some Sequence<ExactText>, left: some Sequence<ExactText>) {
        for user in changed { invalidate(user) }
        for user in left where lists.removeValue(forKey: user) != nil {
            unsaved.insert(user)
            revision += 1
        }
    }

    /// Something else than devices has changed that says who messages are encrypted for.
    mutating func noteTrustChanged() { revision += 1 }

    /// After a sync from the beginning, a lost position, a change between kinds of sync, or a restored store.
    public mutating func invalidateAll() {
        for user in lists.keys { invalidate(user) }
    }

    private mutating func invalidate(_ user: ExactText) {
        guard var list = lists[user] else { return }
        if !list.isOutdated { unsaved.insert(user) }
        list.isOutdated = true
        list.generation += 1
        lists[user] = list
        revision += 1
    }

    /// What is not on the disk yet, and must be before the position of the sync that said so is.
    public func unsavedChange() -> CryptoChange {
        var change = CryptoChange()
        for user in unsaved {
            if let record = record(of: user) {
                change.put.append(record)
            } else {
                change.removed.insert(CryptoRecord.Key(.trackedUser, owner: user))
            }
        }
        return change
    }

    private func record(of user: ExactText) -> CryptoRecord? {
        lists[user].map {
            CryptoRecord(
                CryptoRecord.Key(.trackedUser, owner: user), value: $0.isOutdated ? Data([0]) : Self.upToDate)
        }
    }

    /// A change is on the disk. What has changed again meanwhile is not.
    public mutating func saved(_ change: CryptoChange) {
        for saved in change.put where record(of: saved.key.owner) == saved { unsaved.remove(saved.key.owner) }
        for key in change.removed where lists[key.owner] == nil { unsaved.remove(key.owner) }
    }

    /// The next question, if one may be put now. No user is in two questions at a time.
    public mutating func nextQuery(at now: Date) -> Query? {
        let due = lists.filter { $1.isOutdated && !$1.isAsked && nextAttempt(for: $0) ?? now <= now }.keys
        let users = Array(due.sorted().prefix(Self.maxUsersAsked))
        guard !users.isEmpty else { return nil }
        var generations: [ExactText: UInt64] = [:]
        for user in users {
            lists[user]?.isAsked = true
            generations[user] = lists[user]?.generation
        }
        return Query(users: users, generations: generations)
    }

    /// When ``nextQuery(at:)`` is worth another call because of a server that was not reached.
    public func nextAttempt(after now: Date) -> Date? {
        lists.filter { $1.isOutdated && !$1.isAsked }.keys.compactMap { nextAttempt(for: $0) }.filter { $0 > now }.min()
    }

    private func nextAttempt(for user: ExactText) -> Date? {
        [delays[user]?.until, delays[user.server]?.until].compactMap(\.self).max()
    }

    /// The question got no answer: it is put again, when the caller finds it time to.
    public mutating func failed(_ query: Query) {
        for user in query.users { lists[user]?.isAsked = false }
    }

    /// Takes what an answer says of each user, of whom no identity is known. One user's trouble is no other's.
    /// - Parameter known: The devices that are stored, by user.
    public mutating func apply(
        _ answer: JSONValue, to query: Query, known: [ExactText: [DeviceKeys]], at now: Date
    ) -> [DeviceListChange] {
        apply(answer, to: query, known: known, identities: [:], ownUser: nil, at: now)
    }

    /// Takes what an answer says of each user. One user's trouble is no other's.
    /// - Parameters:
    ///   - known: The devices that are stored, by user.
    ///   - identities: What confirms the devices of a user.
    ///   - ownUser: Whose devices are to be signed.
    mutating func apply(
        _ answer: JSONValue, to query: Query, known: [ExactText: [DeviceKeys]],
        identities: [ExactText: Identity], ownUser: ExactText?, at now: Date
    ) -> [DeviceListChange] {
        failed(query)
        revision += 1
        // Without any answer nobody is without devices.
        guard let all = answer.object?["device_keys"]?.object else {
            for user in query.users { delays[user, default: RetryDelay()].extend(from: now) }
            return []
        }
        let unreached = answer.object?["failures"]?.object ?? [:]
        for server in Set(query.users.map(\.server)) {
            if unreached.member(server) != nil {
                delays[server, default: RetryDelay()].extend(from: now)
            } else {
                delays[server] = nil
            }
        }
        return query.users.compactMap { user in
            guard lists[user] != nil else { return nil }
            guard unreached.member(user.server) == nil else {
                excused.insert(user)
                return nil
            }
            // A user who is missing is unknown there, and has no devices.
            guard let devices = (all.member(user) ?? [:]).object else {
                delays[user, default: RetryDelay()].extend(from: now)
                excused.insert(user)
                return nil
            }
            delays[user] = nil
            excused.remove(user)
            if lists[user]?.generation == query.generations[user] {
                lists[user]?.isOutdated = false
                unsaved.insert(user)
            }
            return DeviceListChange(
                of: user, answered: devices, known: known[user] ?? [], identity: identities[user],
                keepsObjects: user == ownUser)
        }
    }
}

/// How long to wait for who does not answer: longer each time, up to an hour.
struct RetryDelay: Equatable, Sendable {
    private var failures = 0
    private(set) var until = Date.distantPast

    mutating func extend(from now: Date) {
        until = now.addingTimeInterval(min(15 * Double(1 << min(failures, 10)), 3600))
        failures += 1
    }
}

extension ExactText {
    /// The server of a user: what follows the first colon.
    var server: ExactText { ExactText(bytes: bytes.drop { $0 != UInt8(ascii: ":") }.dropFirst()) }
}
