import ChatCore
import GRDB

extension RoomSync {
    /// Inserts a chunk of history into a gap, not necessarily at one of its ends.
    ///
    /// - Parameters:
    ///   - isContiguous: Whether the chunk begins where the gap does.
    ///   - ignored: The ignored users when the chunk was requested.
    /// - Returns: The changes, or `nil` if the chunk does not belong in the gap or the gap has changed since it was
    ///   read.
    func insertChunk(
        _ chunk: TimelineChunk, in gap: TimelineGap, of record: RoomRecord, _ members: [Member],
        isContiguous: Bool, without ignored: Set<MemberID> = []
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
        // The chunk's leading events may fill an earlier gap. No token is known for what precedes the others, so the
        // rest of this gap stays.
        if !isContiguous {
            _ = try putBack(
                Array(events.prefix(segment.start + 1)), next: chunk.older, in: record, &changed, &changedMembers,
                isSynced: false)
        }
        if let receiptTarget = try ReceiptStore(record: record, db: db).receiptTarget(before: gap.position) {
            changed.insert(receiptTarget)
        }
        let front = try EventPositions(record: record, db: db).lastMessage(before: gap.position)?.position
        var writer = try HistoryWriter(to: record, before: end, arrivedAt: now, db)
        for event in segment.new.reversed() {
            if let message = event.message { changedMembers += try put(sender: message.sender, into: record) }
            changed.formUnion(try writer.prepend(event))
        }
        try writer.finish()
        try finish(writer.new, of: events, before: gap, in: record, &changed)
        try IncompleteHistory(record: record, db: db).add(from: front, without: ignored)
        try gap.remove(from: record, db)
        if !segment.meetsBehind {
            try TimelineGap(position: gap.position, token: gap.token, forward: chunk.newer).insert(into: record, db)
        }
        if !segment.meetsFront, let older = chunk.older {
            try TimelineGap(position: writer.position, token: older, forward: gap.forward).insert(into: record, db)
        }
        let rest = try placeRest(events[segment.end...], newer: chunk.newer, of: record, without: ignored)
        changed.formUnion(rest?.changed.map(\.id) ?? [])
        changedMembers += rest?.members ?? []
        changed.formUnion(try EncryptionStart(record: record, db: db).unmark())
        try updateReadMarkers(in: record, counted: counted)
        roomChange.changed = try self.messages(changed, of: record)
        roomChange.members = Self.latest(changedMembers)
        return roomChange
    }

    /// Inserts the events after the end of the filled gap into the next gap, if they reach it.
    private func placeRest(
        _ events: ArraySlice<TimelineEvent>, newer: String?, of record: RoomRecord, without ignored: Set<MemberID>
    ) throws -> RoomChange? {
        guard case .missing(let gap) = try rest(of: events, in: record) else { return nil }
        return try insertChunk(
            TimelineChunk(events: Array(events), newer: newer), in: gap, of: record, [], isContiguous: true,
            without: ignored)
    }

    /// How events that the server places next to a known one relate to the stored timeline.
    enum Rest: Equatable {
        /// All are stored, or they extend beyond the stored timeline.
        case known
        /// They continue in a gap.
        case missing(TimelineGap)
        /// The stored timeline has a different message there: the server's order has changed.
        case otherwise
    }

    /// Relates events to the timeline after the first of them.
    /// - Parameter events: The first is stored.
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

    /// Relates events to the timeline before the last of them.
    /// - Parameter events: The last is stored.
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

    /// Moves events that the server places before a stored one into the gaps there.
    ///
    /// - Parameters:
    ///   - token: The pagination token for events older than the first.
    ///   - isSynced: Whether a sync brought the events, rather than a request for history.
    /// - Returns: The remaining events.
    func putBack(
        _ events: [TimelineEvent], next token: String?, in record: RoomRecord, _ changed: inout Set<MessageID>,
        _ people: inout [Member], isSynced: Bool
    ) throws -> [TimelineEvent] {
        var rest = events[...]
        var token = token
        while let (gap, count) = try gap(before: rest, in: record) {
            let filled = try fill(
                gap, in: record, with: Array(rest.prefix(count)), [], next: token ?? gap.token, isSynced: isSynced)
            token = nil
            changed.formUnion(filled?.changed.map(\.id) ?? [])
            people += filled?.members ?? []
            rest = rest.dropFirst(count)
        }
        return Array(rest)
    }

    /// Returns the gap right before the first stored event that follows an unknown message, and the number of events
    /// before that event.
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
        /// The unknown events, oldest first.
        var new: [TimelineEvent] = []
        /// Whether the segment is contiguous with the message before the gap, or with the one after it.
        var meetsFront: Bool
        var meetsBehind = false
        /// The events before `start` lie before the gap, those from `end` on after it.
        var start = 0
        var end: Int
        /// The number of new messages.
        var count: Int { new.count { $0.message != nil } }
    }

    /// Returns the part of a chunk that belongs in a gap, or `nil` if some of it belongs elsewhere or nothing is
    /// new.
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
            // A known event beyond the ends of the gap shows that the server's order has changed; it does not close the
            // gap.
            if start >= gap.position {
                if try TimelineGap.lies(between: gap.position, and: start + 1, in: record, db) { return nil }
                guard start <= behind, try rest(of: events[index...], in: record) != .otherwise else { continue }
                segment.meetsBehind = true
                segment.end = index
            } else if try TimelineGap.lies(between: start, and: gap.position, in: record, db) {
                isElsewhere = true
            } else if place >= front, try segment.count == 0 || self.gap(before: events[...index], in: record) != nil {
                // The preceding unknown events belong in an earlier gap.
                segment.new = []
                segment.start = index
                segment.meetsFront = true
                isElsewhere = false
            }
        }
        let hasNew = try segment.count > 0 || self.gap(before: events.prefix(segment.start + 1), in: record) != nil
        return isElsewhere || (!hasNew && !isContiguous && !(segment.meetsFront && segment.meetsBehind)) ? nil : segment
    }

    /// Returns the position that the segment's messages go before, or `nil` if the gap has no free positions left.
    private func end(of segment: Segment, in gap: TimelineGap, of record: RoomRecord) throws -> Int64? {
        let front = try EventPositions(record: record, db: db).lastMessage(before: gap.position)?.position
        // With another gap right before this one, a segment that touches neither end may belong there.
        let gapInFront = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT max(position) FROM gap WHERE room = ? AND position < ?"),
            arguments: [record.key, gap.position])
        if let gapInFront, gapInFront > front ?? .min, !segment.meetsFront, !segment.meetsBehind { return nil }
        let count = Int64(segment.count)
        // A silent event at the last position of the gap happened after it; earlier ones happened before it.
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
