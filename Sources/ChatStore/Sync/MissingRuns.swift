import ChatCore
import GRDB

/// The server's events between two stored messages, some of which are not stored.
struct MissingRun {
    /// Oldest first.
    var events: [TimelineEvent]
    /// The number of messages to insert.
    var count: Int64
    /// The position of the stored message before them; `nil` at the beginning of the room.
    var front: Int64?
    /// The position that they are inserted before.
    var behind: Int64
    /// By how much the message at that position has to move, so that there are as many positions before it.
    var shift: Int64 = 0
    /// The pagination token for what is missing before these events, for which a gap is made; `nil` without one.
    var gap: String?
}

/// Finds where messages belong that the server left out between stored ones.
struct MissingRuns {
    private typealias Place = (id: MessageID?, position: Int64)

    /// Newest first, as are the runs of each group, between which there is no gap.
    private(set) var groups: [[MissingRun]] = [[]]
    /// Whether all missing messages are in the runs or in gaps.
    private(set) var areWhole = true
    private let part: IncompleteHistory.Part
    private let record: RoomRecord
    private let db: Database

    private var positions: EventPositions { EventPositions(record: record, db: db) }

    init(of part: IncompleteHistory.Part, in record: RoomRecord, _ db: Database) {
        self.part = part
        self.record = record
        self.db = db
    }

    /// Whether an event has to be inserted. Messages of others were never left out.
    func isMissing(_ event: TimelineEvent) throws -> Bool {
        guard let id = event.id, event.message.map({ part.senders.contains($0.sender) }) ?? true else { return false }
        return try positions.position(of: id) == nil
    }

    /// Adds the runs in a page; see ``ChatStore/complete(_:with:before:older:by:members:)``.
    /// - Returns: What may still lack messages.
    mutating func find(
        in events: [TimelineEvent], before end: HistoryEnd, older token: String?
    ) throws -> HistoryCompletion.Remainder {
        var behind: Place
        switch end {
        case .now: behind = (nil, .max)
        case .message(let id):
            guard let position = try positions.message(id) else { return .outdated }
            behind = (id, position)
        }
        var rest = events[...]
        for index in events.indices.reversed() {
            guard let id = events[index].message?.id, let position = try positions.message(id),
                position < behind.position
            else { continue }
            let front = try positions.lastMessage(before: behind.position)?.position
            // What is missing in a gap is requested when the gap is filled.
            if try hasGap(before: behind.position, front) { break }
            try add(rest[(index + 1)...], after: position, before: behind, front)
            behind = (id, position)
            rest = events[..<index]
            if position <= part.position ?? .min { return .nothing }
        }
        return try remainder(of: rest, before: behind, end, older: token)
    }

    /// Adds the events between two stored messages.
    /// - Parameters:
    ///   - position: The position of the older one.
    ///   - front: The position of the stored message right before the newer one, which need not be the older one: the
    ///     server leaves out messages of users who are still ignored, and its order may have changed.
    private mutating func add(
        _ events: ArraySlice<TimelineEvent>, after position: Int64, before behind: Place, _ front: Int64?
    ) throws {
        let isAtEnd = behind.id == nil
        if try hasGap(before: behind.position, position) {
            // What is behind a gap at the end was sent after these events, and is contiguous.
            if !isAtEnd { try place(Array(events), after: front, before: behind.position) }
            groups.append([])
            return
        }
        let (certain, isWhole) = try isAtEnd ? newest(events) : (Array(events), true)
        areWhole = areWhole && isWhole
        try place(certain, after: position, before: positions.nextMessage(after: position) ?? .max)
    }

    /// Handles the events before the oldest stored message of a page.
    private mutating func remainder(
        of events: ArraySlice<TimelineEvent>, before behind: Place, _ end: HistoryEnd, older token: String?
    ) throws -> HistoryCompletion.Remainder {
        let front = try positions.lastMessage(before: behind.position)?.position
        if try hasGap(before: behind.position, front) { return try remainder(beforeGapAt: behind.position, front) }
        if token != nil, let id = behind.id, end != .message(id) { return .before(id) }
        // Nothing in the page is stored, or nothing is before it.
        if behind.id == nil {
            // What has been stored meanwhile may be newer than the page.
            guard case .now(let last) = end, try positions.lastMessage(before: .max)?.id == last else {
                return .outdated
            }
        }
        let (certain, isWhole) = try behind.id == nil ? newest(events) : (Array(events), true)
        let lacksMessages = try certain.contains { try $0.message != nil && isMissing($0) }
        guard isWhole else {
            areWhole = false
            return token == nil ? .nothing : .older
        }
        guard let token else {
            try place(certain, after: front, before: behind.position)
            return .nothing
        }
        guard lacksMessages else { return .older }
        // There may be any number of missing messages: leave the older ones to those who fill gaps.
        try place(certain, after: front, before: behind.position, gap: token)
        return try remainder(beforeGapAt: behind.position, front)
    }

    private func remainder(beforeGapAt position: Int64, _ front: Int64?) throws -> HistoryCompletion.Remainder {
        // A server may not answer for a message that is hidden.
        guard let front, front > part.position ?? .min, let shown = try positions.lastShownMessage(before: position)
        else { return .nothing }
        return .beforeGap(shown)
    }

    /// Returns those events at the end of the room that can be inserted. A limited sync that brings a stored event
    /// makes no gap, so nothing that the sync may still bring is stored: no unknown silent event, and nothing behind an
    /// unknown message of others.
    /// - Returns: The events, and whether they include all messages.
    private func newest(_ events: ArraySlice<TimelineEvent>) throws -> ([TimelineEvent], Bool) {
        let certain = events.prefix { $0.message.map { part.senders.contains($0.sender) } ?? true }
        let isWhole = events[certain.endIndex...].allSatisfy { $0.message == nil }
        let known = try certain.filter { event in
            if event.message != nil { return true }
            guard let id = event.id else { return false }
            return try positions.silent(id) != nil
        }
        return (Array(known), isWhole)
    }

    /// Adds a run, if anything is missing in it.
    /// - Parameters:
    ///   - front: The position of the message before it; `nil` at the beginning of the room.
    ///   - behind: The position of the message after it; the greatest one at the end of the room.
    private mutating func place(
        _ events: [TimelineEvent], after front: Int64?, before behind: Int64, gap: String? = nil
    ) throws {
        let missing = try events.filter { try isMissing($0) }
        guard !missing.isEmpty else { return }
        let count = Int64(missing.count { $0.message != nil })
        let needed = count + (gap == nil ? 0 : RoomSync.reserve)
        var run = MissingRun(events: events, count: count, front: front, behind: behind, gap: gap)
        if behind == .max {
            // Behind silent events, too, which may have a later position than the last message.
            let silent = try positions.lastSilent()
            let last = [front, silent].compactMap(\.self).max() ?? 0
            run.behind = last + 1 + needed
        } else {
            let free = front.map { behind - $0 - 1 } ?? needed
            run.shift = max(0, needed - free)
        }
        groups[groups.count - 1].append(run)
    }

    /// Whether there is a gap between a position and an earlier one.
    private func hasGap(before position: Int64, _ front: Int64?) throws -> Bool {
        guard let gap = try TimelineGap.last(in: record, upTo: position, db) else { return false }
        return gap.position > front ?? .min
    }
}
