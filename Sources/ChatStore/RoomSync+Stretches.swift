import ChatCore
import GRDB

extension RoomSync {
    /// Puts a piece of history into a gap, in which it may lie by itself.
    ///
    /// - Parameter isContiguous: whether it begins where the gap does.
    /// - Returns: nil if it does not belong there, or the gap is no longer as it was given.
    func insertChunk(
        _ chunk: TimelineChunk, in gap: TimelineGap, of record: RoomRecord, _ members: [Member],
        isContiguous: Bool
    ) throws -> RoomChange? {
        guard let gap = try TimelineGap.find(gap, in: record, db) else { return nil }
        let counted = try counted(in: record)
        var changed: Set<MessageID> = []
        let events = try messages(of: chunk.events, in: record, &changed)
        guard let segment = try segment(of: events, in: gap, of: record, isContiguous: isContiguous),
            let end = try end(of: segment, in: gap, of: record)
        else { return nil }
        var roomChange = RoomChange(room: record.room.id)
        var changedMembers = try put(members, into: record)
        // Where the server goes on backwards from what follows on is not known: the rest stays missing.
        if !isContiguous {
            _ = try putBack(
                Array(events.prefix(segment.start + 1)), next: chunk.older, in: record, &changed, &changedMembers)
        }
        if let receiptTarget = try ReceiptStore(record: record, db: db).receiptTarget(before: gap.position) {
            changed.insert(receiptTarget)
        }
        var writer = try HistoryWriter(to: record, before: end, db)
        for event in segment.new.reversed() {
            if let message = event.message { changedMembers += try putSender(of: message, into: record) }
            changed.formUnion(try writer.prepend(event))
        }
        try writer.finish()
        try finish(writer.new, of: events, before: gap, in: record, &changed)
        try gap.remove(from: record, db)
        if !segment.meetsBehind {
            try TimelineGap(position: gap.position, token: gap.token, forward: chunk.newer).insert(into: record, db)
        }
        if !segment.meetsFront, let older = chunk.older {
            try TimelineGap(position: writer.position, token: older, forward: gap.forward).insert(into: record, db)
        }
        let rest = try placeRest(events[segment.end...], newer: chunk.newer, of: record)
        changed.formUnion(rest?.changed.map(\.id) ?? [])
        changedMembers += rest?.members ?? []
        try updateReadMarkers(in: record, counted: counted)
        roomChange.changed = try self.messages(changed, of: record)
        roomChange.members = Self.latest(changedMembers)
        return roomChange
    }

    /// What follows on what is behind a gap that a piece went into belongs into the next one.
    private func placeRest(_ events: ArraySlice<TimelineEvent>, newer: String?, of record: RoomRecord) throws
        -> RoomChange?
    {
        guard case .missing(let gap) = try rest(of: events, in: record) else { return nil }
        return try insertChunk(
            TimelineChunk(events: Array(events), newer: newer), in: gap, of: record, [], isContiguous: true)
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
        let places = EventPositions(record: record, db: db)
        var last: (place: Int64, start: Int64)?
        for event in events {
            guard let id = event.id else { continue }
            if let place = try places.position(of: id), let start = try places.start(of: id) {
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
        let places = EventPositions(record: record, db: db)
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
        let places = EventPositions(record: record, db: db)
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

    private struct Segment {
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
    private func segment(
        of events: [TimelineEvent], in gap: TimelineGap, of record: RoomRecord, isContiguous: Bool
    ) throws -> Segment? {
        var segment = Segment(meetsFront: isContiguous, end: events.count)
        let positions = EventPositions(record: record, db: db)
        let front = try positions.lastMessage(before: gap.position)?.position ?? .min
        let behind = try positions.nextMessage(after: gap.position - 1) ?? .max
        var isElsewhere = false
        for (index, event) in events.enumerated() where !segment.meetsBehind {
            guard let id = event.id else { continue }
            guard let place = try positions.position(of: id), let start = try positions.start(of: id) else {
                segment.new.append(event)
                continue
            }
            // Of what is farther than the ends of the gap the server tells another order now: it ends nothing.
            if start >= gap.position {
                if try TimelineGap.lies(between: gap.position, and: start + 1, in: record, db) { return nil }
                guard start <= behind, try rest(of: events[index...], in: record) != .otherwise else { continue }
                segment.meetsBehind = true
                segment.end = index
            } else if try TimelineGap.lies(between: start, and: gap.position, in: record, db) {
                isElsewhere = true
            } else if place >= front, try segment.count == 0 || self.gap(before: events[...index], in: record) != nil {
                // What is told before it is missing before it, not here.
                segment.new = []
                segment.start = index
                segment.meetsFront = true
                isElsewhere = false
            }
        }
        let hasNew = try segment.count > 0 || self.gap(before: events.prefix(segment.start + 1), in: record) != nil
        return isElsewhere || (!hasNew && !isContiguous && !(segment.meetsFront && segment.meetsBehind)) ? nil : segment
    }

    /// The position before which it goes; nil if there is no room left.
    private func end(of segment: Segment, in gap: TimelineGap, of record: RoomRecord) throws -> Int64? {
        let front = try EventPositions(record: record, db: db).lastMessage(before: gap.position)?.position
        // A gap before this one with no message between: what does not meet anything may belong in front of that.
        let gapInFront = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM gap WHERE room = ? AND position < ?"),
            arguments: [record.key, gap.position])
        if let gapInFront, gapInFront > front ?? .min, !segment.meetsFront, !segment.meetsBehind { return nil }
        let count = Int64(segment.count)
        // What is no message and stands right before the gap came behind it; what is farther, before what is missing.
        let silent = try EventPositions(record: record, db: db).lastSilent(before: gap.position - 1)
        let first = [front, gapInFront, silent].compactMap { $0 }.max() ?? gap.position - 2 * Self.reserve
        let end: Int64 =
            if segment.meetsBehind {
                gap.position
            } else if segment.meetsFront, front != nil {
                first + 1 + count
            } else {
                first + (gap.position - first + count) / 2
            }
        return end - count > first && (end < gap.position || segment.meetsBehind) ? end : nil
    }
}
