public import ChatCore
public import Foundation
public import JSONReading

/// Tracks whose device lists are needed, which of them are outdated, and which query comes next.
///
/// A list stays outdated until a query sent after its last change is answered: a change that arrives while a query is
/// in flight causes another one.
public struct DeviceTracker: Sendable {
    /// A `keys/query` request for these users.
    public struct Query: Equatable, Sendable {
        public let users: [ExactText]
        fileprivate let generations: [ExactText: UInt64]
    }

    public static let maxUsersAsked = 250

    private struct List: Sendable {
        var isOutdated = true
        /// The ``revision`` of the last change, which no earlier list of a user who left and came back has.
        var generation: UInt64 = 0
        var isAsked = false
    }

    private var lists: [ExactText: List] = [:]
    /// The users whose lists are outdated and who are in no pending query. Each sync asks for them, and there may be
    /// thousands of lists.
    private var due: Set<ExactText> = []
    /// Retry delays of unreachable servers, and of users whose list was malformed or whose query was rejected.
    private var delays: [ExactText: RetryDelay] = [:]
    /// Users whose lists are unavailable for now: messages do not wait for them.
    private var excused: Set<ExactText> = []
    /// The maximum size of a query with the user, for those whose queries were rejected.
    private var sizeLimits: [ExactText: Int] = [:]
    /// Users who were queried again as the record of their identity is damaged.
    private var queriedForIdentity: Set<ExactText> = []
    /// Users whose state differs from the stored one.
    private var unsaved: Set<ExactText> = []
    /// Incremented by every change that may affect for whom messages are encrypted.
    public private(set) var revision: UInt64 = 0

    public init() {}

    /// - Parameter records: Records of the kind ``CryptoRecord/Kind/trackedUser``. An unreadable one counts as
    ///   outdated.
    public init(records: [CryptoRecord]) {
        for record in records where record.key.kind == .trackedUser {
            lists[record.key.owner] = List(isOutdated: record.value != Self.upToDate)
            noteDue(record.key.owner)
        }
    }

    private static let upToDate = Data([1])

    public var users: Set<ExactText> { Set(lists.keys) }

    public func isTracked(_ user: ExactText) -> Bool { lists[user] != nil }
    /// `nil` for a user who is not tracked.
    public func isOutdated(_ user: ExactText) -> Bool? { lists[user]?.isOutdated }

    /// Whether a message to this user has to wait for their list: it is outdated, and the server has not reported it as
    /// unavailable.
    public func holdsUp(_ user: ExactText) -> Bool { lists[user]?.isOutdated ?? true && !excused.contains(user) }

    /// Starts tracking users with whom a room is shared.
    public mutating func track(_ users: some Sequence<ExactText>) {
        for user in users where lists[user] == nil {
            revision += 1
            lists[user] = List(generation: revision)
            due.insert(user)
            unsaved.insert(user)
        }
    }

    /// Applies the `device_lists` of a sync. Users in `changed` who are not tracked are ignored.
    public mutating func received(changed: some Sequence<ExactText>, left: some Sequence<ExactText>) {
        for user in changed { invalidate(user) }
        for user in left where lists.removeValue(forKey: user) != nil {
            sizeLimits[user] = nil
            due.remove(user)
            unsaved.insert(user)
            revision += 1
        }
    }

    /// Queries a user again of whose devices a stored record is damaged. The response replaces it.
    mutating func noteDamagedDevice(of user: ExactText) {
        if isOutdated(user) == false { invalidate(user) }
    }

    /// Queries a user again whose stored identity is damaged; once, as the response may have none that replaces it.
    mutating func noteDamagedIdentity(of user: ExactText) {
        if queriedForIdentity.insert(user).inserted { noteDamagedDevice(of: user) }
    }

    /// Notes a change of trust, which also affects for whom messages are encrypted.
    mutating func noteTrustChanged() { revision += 1 }

    /// Invalidates all lists: after an initial sync, a lost position, a switch between kinds of sync, or a recovered
    /// store.
    public mutating func invalidateAll() {
        for user in lists.keys { invalidate(user) }
    }

    private mutating func invalidate(_ user: ExactText) {
        guard var list = lists[user] else { return }
        if !list.isOutdated { unsaved.insert(user) }
        revision += 1
        list.isOutdated = true
        list.generation = revision
        lists[user] = list
        noteDue(user)
    }

    private mutating func noteDue(_ user: ExactText) {
        if let list = lists[user], list.isOutdated, !list.isAsked { due.insert(user) } else { due.remove(user) }
    }

    /// The changes to store before the position of the sync that reported them.
    public func unsavedChange() -> CryptoChange {
        var change = CryptoChange()
        for user in unsaved {
            if let record = record(of: user) {
                change.put.append(record)
            } else {
                change.removed.insert(Self.key(user))
            }
        }
        return change
    }

    private func record(of user: ExactText) -> CryptoRecord? {
        lists[user].map { $0.isOutdated ? Self.outdated(user) : CryptoRecord(Self.key(user), value: Self.upToDate) }
    }

    private static func key(_ user: ExactText) -> CryptoRecord.Key { CryptoRecord.Key(.trackedUser, owner: user) }

    /// The record of a user whose list is outdated.
    static func outdated(_ user: ExactText) -> CryptoRecord { CryptoRecord(key(user), value: Data([0])) }

    /// Marks a change as stored, except for users who have changed again since.
    public mutating func saved(_ change: CryptoChange) {
        for saved in change.put where record(of: saved.key.owner) == saved { unsaved.remove(saved.key.owner) }
        for key in change.removed where lists[key.owner] == nil { unsaved.remove(key.owner) }
    }

    /// The next query, if one is due. No user is in two pending queries, and no query has users whose entries in its
    /// response would be one (``DistinctNames``).
    public mutating func nextQuery(at now: Date) -> Query? {
        let ready = due.filter { nextAttempt(for: $0) ?? now <= now }
        // The largest first: the users of rejected queries hold up no others.
        guard let limit = ready.map({ sizeLimit(for: $0) }).max() else { return nil }
        var users: [ExactText] = []
        var names = DistinctNames()
        var generations: [ExactText: UInt64] = [:]
        for user in ready.filter({ sizeLimit(for: $0) == limit }).sorted() {
            guard users.count < limit else { break }
            guard names.add(user) else { continue }
            users.append(user)
            lists[user]?.isAsked = true
            due.remove(user)
            generations[user] = lists[user]?.generation
        }
        return Query(users: users, generations: generations)
    }

    /// Whether a user's list has changed since the query began, so that its response may be from before that.
    func hasChanged(_ user: ExactText, since query: Query) -> Bool {
        lists[user]?.generation != query.generations[user]
    }

    /// When the next retry delay ends, after which ``nextQuery(at:)`` is worth another call.
    public func nextAttempt(after now: Date) -> Date? {
        due.compactMap { nextAttempt(for: $0) }.filter { $0 > now }.min()
    }

    private func sizeLimit(for user: ExactText) -> Int { sizeLimits[user] ?? Self.maxUsersAsked }

    private func nextAttempt(for user: ExactText) -> Date? {
        [delays[user]?.until, delays[user.server]?.until].compactMap(\.self).max()
    }

    /// Ends the delay of a query that the user waits for.
    mutating func retryNow(_ user: ExactText) {
        (delays[user], delays[user.server]) = (nil, nil)
    }

    /// Handles a missing response: the query becomes due again; when to retry is up to the caller.
    public mutating func failed(_ query: Query) {
        for user in query.users {
            lists[user]?.isAsked = false
            noteDue(user)
        }
    }

    /// Handles a permanent rejection, which a single user may cause, as by a list that exceeds the size limit of
    /// responses: the users become due again in queries of half the size. One who was alone counts as unavailable, and
    /// is queried again after a delay, as if their server were unreachable.
    public mutating func rejected(_ query: Query, at now: Date) {
        failed(query)
        revision += 1
        for user in query.users where lists[user] != nil {
            sizeLimits[user] = (query.users.count + 1) / 2
            guard query.users.count == 1 else { continue }
            delays[user, default: RetryDelay()].extend(from: now)
            excused.insert(user)
        }
    }

    /// Applies a response without any identities. An error in one user's list does not affect the others.
    /// - Parameter known: The stored devices by user.
    public mutating func apply(
        _ answer: JSONValue, to query: Query, known: [ExactText: [DeviceKeys]], at now: Date
    ) -> [DeviceListChange] {
        apply(answer, to: query, known: known, identities: [:], ownUser: nil, at: now)
    }

    /// Applies a response. An error in one user's list does not affect the others.
    /// - Parameters:
    ///   - known: The stored devices by user.
    ///   - identities: The users' identities, which confirm their devices.
    ///   - ownUser: The user whose devices' signed bytes are retained, in order to sign them.
    mutating func apply(
        _ answer: JSONValue, to query: Query, known: [ExactText: [DeviceKeys]],
        identities: [ExactText: Identity], ownUser: ExactText?, at now: Date
    ) -> [DeviceListChange] {
        failed(query)
        revision += 1
        // A response without `device_keys`, or with failures that cannot be read, does not mean that the users have no
        // devices.
        guard let all = answer.object?["device_keys"]?.object, let unreached = answer.failures else {
            for user in query.users { delays[user, default: RetryDelay()].extend(from: now) }
            return []
        }
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
            // A user missing from the response is unknown to their server and has no devices.
            guard let devices = (all.member(user) ?? [:]).object else {
                delays[user, default: RetryDelay()].extend(from: now)
                excused.insert(user)
                return nil
            }
            delays[user] = nil
            sizeLimits[user] = nil
            excused.remove(user)
            if lists[user]?.generation == query.generations[user] {
                lists[user]?.isOutdated = false
                due.remove(user)
                unsaved.insert(user)
            }
            return DeviceListChange(
                of: user, answered: devices, known: known[user] ?? [], identity: identities[user],
                keepsObjects: user == ownUser)
        }
    }
}

/// A retry delay that doubles with each failure, from 15 seconds up to an hour.
struct RetryDelay: Equatable, Sendable {
    private(set) var failures = 0
    private(set) var until = Date.distantPast

    mutating func extend(from now: Date) {
        until = now.addingTimeInterval(min(15 * Double(1 << min(failures, 10)), 3600))
        failures += 1
    }
}

extension ExactText {
    /// The server name in a user ID: what follows the first colon.
    var server: ExactText { ExactText(bytes: bytes.drop { $0 != UInt8(ascii: ":") }.dropFirst()) }
}
