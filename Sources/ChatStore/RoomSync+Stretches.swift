import ChatCore
import GRDB

extension RoomSync {
    /// Puts a piece of history into a gap, in which it may lie by itself.
    ///
    /// - Parameter followsOn: whether it begins where the gap does.
    /// - Returns: nil if it does not belong there, or the gap is no longer as it was given.
    func place(
        _ stretch: HistoryStretch, in gap: TimelineGap, of record: RoomRecord, _ members: [Member],
        followsOn: Bool
    ) throws -> RoomOutcome? {
        guard let gap = try TimelineGap.find(gap, in: record, db) else { return nil }
        let counted = try counted(in: record)
        var changed: Set<MessageID> = []
        let events = try messages(of: stretch.events, in: record, &changed)
        guard let part = try part(of: events, in: gap, of: record, followsOn: followsOn),
            let end = try end(of: part, in: gap, of: record)
        else { return nil }
        var outcome = RoomOutcome(room: record.room.id)
        var people = try put(members, into: record)
        // Where the server goes on backwards from what follows on is not known: the rest stays missing.
        if !followsOn {
            _ = try putBack(Array(events.prefix(part.start + 1)), next: stretch.older, in: record, &changed, &people)
        }
        if let bearer = try ReceiptBook(record: record, db: db).bearer(before: gap.position) { changed.insert(bearer) }
        var writer = try HistoryWriter(to: record, before: end, db)
        for event in part.new.reversed() {
            if let message = event.message { people += try putSender(of: message, into: record) }
            changed.formUnion(try writer.prepend(event))
        }
        try writer.finish()
        try finish(writer.new, of: events, before: gap, in: record, &changed)
        try gap.remove(from: record, db)
        if !part.meetsBehind {
            try TimelineGap(position: gap.position, token: gap.token, forward: stretch.newer).insert(into: record, db)
        }
        if !part.meetsFront, let older = stretch.older {
            try TimelineGap(position: writer.position, token: older, forward: gap.forward).insert(into: record, db)
        }
        let rest = try placeRest(events[part.end...], newer: stretch.newer, of: record)
        changed.formUnion(rest?.changed.map(\.id) ?? [])
        people += rest?.members ?? []
        try settleMarks(in: record, counted: counted)
        outcome.changed = try self.messages(changed, of: record)
        outcome.members = Self.latest(people)
        return outcome
    }

    /// What follows on what is behind a gap that a piece went into belongs into the next one.
    private func placeRest(_ events: ArraySlice<TimelineEvent>, newer: String?, of record: RoomRecord) throws
        -> RoomOutcome?
    {
        guard case .missing(let gap) = try rest(of: events, in: record) else { return nil }
        return try place(
            HistoryStretch(events: Array(events), newer: newer), in: gap, of: record, [], followsOn: true)
    }

    /// What is told to be beyond something known.
    enum Rest: Equatable {
        /// All of it is known, or it is beyond all that is.
        case known
        /// It goes on in a gap with what is not.
        case missing(TimelineGap)
        /// Beside what is not known something else is here.
        case otherwise
    }

    /// - Parameter events: the first is known.
    private func rest(of events: ArraySlice<TimelineEvent>, in record: RoomRecord) throws -> Rest {
        let places = EventPlaces(record: record, db: db)
        var last: (place: Int64, start: Int64)?
        for event in events {
            guard let id = event.id else { continue }
            if let place = try places.place(of: id), let start = try places.start(of: id) {
                last = (place, start)
            } else if event.message != nil, let last {
                let next = try places.nextMessage(after: last.place)
                let gap = try TimelineGap.first(in: record, after: last.start, db)
                if let gap, gap.position <= next ?? .max { return .missing(gap) }
                return next == nil ? .known : .otherwise
            }
        }
        return .known
    }

    /// The same backwards.
    /// - Parameter events: the last is known.
    func rest(before events: ArraySlice<TimelineEvent>, in record: RoomRecord) throws -> Rest {
        let places = EventPlaces(record: record, db: db)
        var first: Int64?
        for event in events.reversed() {
            guard let id = event.id else { continue }
            if let start = try places.start(of: id) {
                first = start
            } else if event.message != nil, let first {
                let next = try places.lastMessage(before: first)?.position
                let gap = try TimelineGap.last(in: record, upTo: first, db)
                if let gap, gap.position > next ?? .min { return .missing(gap) }
                return next == nil ? .known : .otherwise
            }
        }
        return .known
    }

    /// Puts what is told to be before something that is known where it was missing.
    ///
    /// - Parameter token: where the server goes on, backwards from the first of the events.
    /// - Returns: the rest.
    func putBack(
        _ events: [TimelineEvent], next token: String?, in record: RoomRecord, _ changed: inout Set<MessageID>,
        _ people: inout [Member]
    ) throws -> [TimelineEvent] {
        var rest = events[...]
        var token = token
        while let (gap, count) = try gap(before: rest, in: record) {
            let filled = try fill(gap, in: record, with: Array(rest.prefix(count)), [], next: token ?? gap.token)
            token = nil
            changed.formUnion(filled?.changed.map(\.id) ?? [])
            people += filled?.members ?? []
            rest = rest.dropFirst(count)
        }
        return Array(rest)
    }

    /// The gap right before the first event that is known and follows on messages that are not, and how many of the events
    /// are told to be before that.
    private func gap(before events: ArraySlice<TimelineEvent>, in record: RoomRecord) throws -> (TimelineGap, Int)? {
        let places = EventPlaces(record: record, db: db)
        var areUnknown = false
        for (count, event) in events.enumerated() {
            guard let id = event.id else { continue }
            guard let known = try places.start(of: id) else {
                if event.message != nil { areUnknown = true }
                continue
            }
            guard areUnknown else { continue }
            guard let gap = try TimelineGap.last(in: record, upTo: known, db) else { return nil }
            let between = try places.lastMessage(before: known)?.position ?? .min
            return between < gap.position ? (gap, count) : nil
        }
        return nil
    }

    private struct Part {
        /// What is not known, oldest first.
        var new: [TimelineEvent] = []
        /// Whether nothing is missing between it and what is in front of the gap, or behind it.
        var meetsFront: Bool
        var meetsBehind = false
        /// Which of the events lie in front of the gap, and behind it: those before the first index, and from the second on.
        var start = 0
        var end: Int
        /// How many messages are new.
        var count: Int { new.count { $0.message != nil } }
    }

    /// - Returns: nil if something of it is known to be elsewhere, or there is nothing new in it.
    private func part(
        of events: [TimelineEvent], in gap: TimelineGap, of record: RoomRecord, followsOn: Bool
    ) throws -> Part? {
        var part = Part(meetsFront: followsOn, end: events.count)
        let places = EventPlaces(record: record, db: db)
        let front = try places.lastMessage(before: gap.position)?.position ?? .min
        let behind = try places.nextMessage(after: gap.position - 1) ?? .max
        var isElsewhere = false
        for (index, event) in events.enumerated() where !part.meetsBehind {
            guard let id = event.id else { continue }
            guard let place = try places.place(of: id), let start = try places.start(of: id) else {
                part.new.append(event)
                continue
            }
            // Of what is farther than the ends of the gap the server tells another order now: it ends nothing.
            if start >= gap.position {
                if try TimelineGap.lies(between: gap.position, and: start + 1, in: record, db) { return nil }
                guard start <= behind, try rest(of: events[index...], in: record) != .otherwise else { continue }
                part.meetsBehind = true
                part.end = index
            } else if try TimelineGap.lies(between: start, and: gap.position, in: record, db) {
                isElsewhere = true
            } else if place >= front, try part.count == 0 || self.gap(before: events[...index], in: record) != nil {
                // What is told before it is missing before it, not here.
                part.new = []
                part.start = index
                part.meetsFront = true
                isElsewhere = false
            }
        }
        let hasNew = try part.count > 0 || self.gap(before: events.prefix(part.start + 1), in: record) != nil
        return isElsewhere || (!hasNew && !followsOn && !(part.meetsFront && part.meetsBehind)) ? nil : part
    }

    /// The position before which it goes; nil if there is no room left.
    private func end(of part: Part, in gap: TimelineGap, of record: RoomRecord) throws -> Int64? {
        let front = try EventPlaces(record: record, db: db).lastMessage(before: gap.position)?.position
        // A gap before this one with no message between: what does not meet anything may belong in front of that.
        let gapInFront = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM gap WHERE room = ? AND position < ?"),
            arguments: [record.key, gap.position])
        if let gapInFront, gapInFront > front ?? .min, !part.meetsFront, !part.meetsBehind { return nil }
        let count = Int64(part.count)
        // What is no message and stands right before the gap came behind it; what is farther, before what is missing.
        let silent = try EventPlaces(record: record, db: db).lastSilent(before: gap.position - 1)
        let first = [front, gapInFront, silent].compactMap { $0 }.max() ?? gap.position - 2 * Self.reserve
        let end: Int64 =
            if part.meetsBehind {
                gap.position
            } else if part.meetsFront, front != nil {
                first + 1 + count
            } else {
                first + (gap.position - first + count) / 2
            }
        return end - count > first && (end < gap.position || part.meetsBehind) ? end : nil
    }
}
