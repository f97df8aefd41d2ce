public import ChatCore
public import Foundation

/// Small events that follow on each other, shown as one row.
public nonisolated struct EventGroup: Identifiable, Equatable, Sendable {
    /// Someone as a text names them.
    public nonisolated enum Participant: Hashable, Sendable {
        case currentUser
        case named(String)
    }

    /// One event.
    public nonisolated struct Line: Identifiable, Equatable, Sendable {
        public let id: MessageID
        public var event: RoomEvent
        /// Who did it.
        public var actor: Participant
        /// Whom it concerns; who did it, where it concerns the room.
        public var subject: Participant
        public var sentAt: Date
    }

    /// What several members did, or was done to them, so that it is said once.
    public nonisolated enum Change: Hashable, Sendable {
        case kind(RoomEvent.Kind)
        /// Came and went.
        case joinedAndLeft
        /// Went and came.
        case rejoined
    }

    /// A part of the summary.
    public nonisolated enum Segment: Equatable, Sendable {
        case members(Change, [Participant])
        /// What was done to the room, as it was done last.
        case room(Line)
    }

    /// Of the first event.
    public let id: MessageID
    /// Oldest first; at least one.
    public var lines: [Line]
    public var isExpanded: Bool
    /// As of a message, of the last event that each has read.
    public var readers: [MessageItem.Reader] = []
    /// What became of all that, each once; a single event is told as it is.
    public var segments: [Segment]

    public var canExpand: Bool { lines.count > 1 }
    /// A link to the room in which the conversation goes on, or from which it comes; nil for none.
    public var address: String? { lines.last { $0.event.address != nil }?.event.address }
    /// Whether it goes on there.
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
            // What somebody may do is told with who decided it, of each by itself.
            guard line.event.subject != nil, line.event.kind != .roleSet else {
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

    /// What is left of all that happened to one member.
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
    /// The messages that may be shown with the one before them in one row: events of one day.
    static func joins(_ first: Message, _ second: Message) -> Bool {
        first.event != nil && second.event != nil && CalendarDay(of: first.sentAt) == CalendarDay(of: second.sentAt)
    }
}
