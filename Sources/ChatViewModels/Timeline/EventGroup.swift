public import ChatCore
public import Foundation

/// Consecutive room events, shown as one row.
public nonisolated struct EventGroup: Identifiable, Equatable, Sendable {
    /// A person as named in the summary.
    public nonisolated enum Participant: Hashable, Sendable {
        case currentUser
        case named(String)
    }

    /// One event.
    public nonisolated struct Line: Identifiable, Equatable, Sendable {
        public let id: MessageID
        public var event: RoomEvent
        /// The member who sent the event.
        public var actor: Participant
        /// The member it affects; the actor for events that affect the room.
        public var subject: Participant
        public var sentAt: Date
    }

    /// The net change to one or more members, grouped so that the summary states it once.
    public nonisolated enum Change: Hashable, Sendable {
        case kind(RoomEvent.Kind)
        /// Joined and then left.
        case joinedAndLeft
        /// Left and then joined.
        case rejoined
    }

    /// A part of the summary.
    public nonisolated enum Segment: Equatable, Sendable {
        case members(Change, [Participant])
        /// The latest event of its kind that affects the room, or the latest role change of a member.
        case room(Line)
    }

    /// The ID of the first event.
    public let id: MessageID
    /// Oldest first; never empty.
    public var lines: [Line]
    public var isExpanded: Bool
    /// Members whose read receipt is at one of these events, most recent first.
    public var readers: [MessageItem.Reader] = []
    /// The summary of all events. Repeated changes are merged.
    public var segments: [Segment]

    public var canExpand: Bool { lines.count > 1 }
    /// The address of the room's successor or predecessor, or `nil` if there is none.
    public var address: String? { lines.last { $0.event.address != nil }?.event.address }
    /// Whether ``address`` is that of the successor.
    public var isReplaced: Bool { lines.last { $0.event.address != nil }?.event.kind == .replaced }

    init(lines: [Line], isExpanded: Bool) {
        id = lines[0].id
        self.lines = lines
        self.isExpanded = isExpanded
        segments = Self.segments(lines)
    }

    private static func segments(_ lines: [Line]) -> [Segment] {
        var order: [Participant] = []
        var kinds: [Participant: [RoomEvent.Kind]] = [:]
        var rooms: [RoomEvent.Kind: Line] = [:]
        var roles: [Participant: Line] = [:]
        for line in lines {
            // Report role changes with their actor, one per member, and requests with who made them.
            guard line.event.subject != nil, line.event.kind != .roleSet, line.event.kind != .verificationRequested
            else {
                if line.event.kind == .roleSet { roles[line.subject] = line } else { rooms[line.event.kind] = line }
                continue
            }
            if kinds[line.subject] == nil { order.append(line.subject) }
            kinds[line.subject, default: []].append(line.event.kind)
        }
        var changes: [(outcome: Change, people: [Participant])] = []
        for participant in order {
            for change in netChanges(kinds[participant] ?? []) {
                if let index = changes.firstIndex(where: { $0.outcome == change }) {
                    changes[index].people.append(participant)
                } else {
                    changes.append((change, [participant]))
                }
            }
        }
        return changes.map { .members($0.outcome, $0.people) }
            + lines.filter { rooms[$0.event.kind] == $0 || roles[$0.subject] == $0 }.map { .room($0) }
    }

    /// The net effect of all events concerning one member.
    private static func netChanges(_ kinds: [RoomEvent.Kind]) -> [Change] {
        let memberships = kinds.filter { RoomEvent($0).isMembership }
        guard let first = memberships.first, let last = memberships.last else {
            return [RoomEvent.Kind.renamed, .avatarChanged].filter(kinds.contains).map { .kind($0) }
        }
        let wasIn = [.left, .removed, .banned].contains(first)
        switch last {
        case .joined: return [wasIn ? .rejoined : .kind(.joined)]
        case .left where !wasIn && memberships.contains(.joined): return [.joinedAndLeft]
        default: return [.kind(last)]
        }
    }
}

nonisolated extension EventGroup {
    /// Whether two consecutive messages share a row: both are events of the same day.
    static func joins(_ first: Message, _ second: Message) -> Bool {
        first.event != nil && second.event != nil && CalendarDay(of: first.sentAt) == CalendarDay(of: second.sentAt)
    }
}
