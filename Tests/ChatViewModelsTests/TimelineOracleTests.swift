import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Foundation
import Testing
import ToolSupport

/// Compares the timeline with a naive model under random updates.
@MainActor @Suite(.timeLimit(.minutes(10))) struct TimelineOracleTests {
    @Test(arguments: 0..<60) func randomUpdatesMatchTheExpectedTimeline(seed: Int) async {
        let room = RandomRoom(seed: UInt64(seed))
        await room.open()
        for step in 0..<160 {
            room.act()
            guard step % 4 == 3 else { continue }
            await room.waitForUpdates()
            if let difference = room.difference() {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
    }
}

/// A room that changes at random, with the naive model of its content.
@MainActor private final class RandomRoom {
    private static let pageSize = 8
    private let harness = TimelineHarness(pageSize: pageSize, reach: 12)
    private var random: SeededGenerator
    private var truth: [MessageID: Message] = [:]
    private var nextID = 0
    private var unreadLineAfter: MessageID?
    private var gate = Gate()
    private static let members = [
        Fixtures.own, Fixtures.other, Member(id: MemberID("x"), displayName: "X", kind: .person),
    ]

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        harness.service.before = { [weak self] call in
            guard let self else { return }
            switch call {
            case .page, .pageAfter, .pageAround, .quoted: await gate.pass()
            default: break
            }
        }
        harness.service.pages = { [weak self] before, limit in
            guard let self else { return .init(messages: [], hasOlder: false) }
            let older = sorted.filter { $0.position < before }
            return TimelinePage(
                messages: older.suffix(limit), hasOlder: older.count > limit, hasNewer: older.count < truth.count)
        }
        harness.service.pagesAfter = { [weak self] after, limit in
            guard let self else { return .init(messages: [], hasOlder: false) }
            let newer = sorted.filter { $0.position > after }
            return TimelinePage(
                messages: Array(newer.prefix(limit)), hasOlder: newer.count < truth.count,
                hasNewer: newer.count > limit)
        }
        harness.service.known = { [weak self] in self?.truth[$0] }
        harness.service.pagesAround = { [weak self] target, limit in
            guard let self else { return nil }
            let all = sorted
            let index: Int
            switch target {
            case .message(let id):
                guard let found = all.firstIndex(where: { $0.id == id }) else { return nil }
                index = found
            case .date(let date): index = all.firstIndex { $0.sentAt >= date } ?? max(0, all.count - 1)
            }
            let range = max(0, index - limit / 2)..<min(all.count, index + limit / 2)
            return TimelinePage(
                messages: Array(all[range]), hasOlder: range.lowerBound > 0, hasNewer: range.upperBound < all.count)
        }
    }

    private var sorted: [Message] { truth.values.sorted { $0.position < $1.position } }
    private func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }

    func open() async {
        for index in 0..<roll(60) { put(newMessage(at: Int64(index) * 100)) }
        let newest = Array(sorted.suffix(Self.pageSize))
        let readUpTo = sorted.randomElement(using: &random)
        if let readUpTo {
            let isLoaded = newest.contains { $0.id == readUpTo.id }
            let hasUnread = newest.contains {
                $0.position > readUpTo.position && $0.sender != Fixtures.own.id && $0.event == nil
            }
            unreadLineAfter = isLoaded ? (hasUnread ? readUpTo.id : nil) : readUpTo.id
        }
        gate.open()
        harness.service.publish(
            .opened(
                TimelinePage(messages: newest, hasOlder: truth.count > Self.pageSize), members: Self.members,
                fullyReadMarker: readUpTo?.id))
        await harness.waitForUpdates()
        gate = Gate()
    }

    func act() {
        switch roll(18) {
        case 0...3: publishNew([newMessage(at: (sorted.last?.position ?? 0) + 100)])
        case 4: publishNew((0..<3).map { newMessage(at: (sorted.last?.position ?? 0) + 100 * Int64(3 - $0)) })
        case 5: publishNew([newMessage(at: freePosition())])
        case 6...8: change { if $0.event == nil { $0.text += "!" } }
        case 9:
            change {
                guard $0.event == nil else { return }
                $0.text = ""
                $0.isDeleted = true
            }
        case 10: move()
        case 11: remove()
        case 12: harness.timeline.send(.pages(.load(.older)))
        case 13: harness.timeline.send(.pages(.load(.newer)))
        case 14: harness.timeline.send(.pages(.jump(destination())))
        case 15: harness.timeline.send(.reading(.scrolled(to: randomPosition())))
        default: deliverPage()
        }
    }

    private func destination() -> TimelineDestination {
        guard let message = sorted.randomElement(using: &random) else { return .newest }
        switch roll(5) {
        case 0: return .message(message.id)
        case 1: return .date(message.sentAt)
        case 2: return .firstUnread
        case 3: return .oldest
        default: return .newest
        }
    }

    private func randomPosition() -> ScrollPosition? {
        harness.messages.randomElement(using: &random).map { ScrollPosition(message: $0.id, offset: 0) }
    }

    /// Waits until all published updates, and any page that may load, have arrived.
    func waitForUpdates() async {
        await harness.waitForUpdates()
        if roll(2) == 0 { deliverPage() }
    }

    private func deliverPage() {
        gate.open()
        gate = Gate()
    }

    private func publishNew(_ messages: [Message]) {
        messages.forEach(put)
        harness.service.publish(.changed(messages))
    }

    private func change(_ body: (inout Message) -> Void) {
        guard var message = sorted.randomElement(using: &random) else { return }
        body(&message)
        put(message)
        harness.service.publish(.changed([message]))
    }

    private func move() {
        guard let old = sorted.randomElement(using: &random) else { return }
        let message = Message(
            id: old.id, roomID: old.roomID, sender: old.sender, text: old.text, sentAt: old.sentAt,
            position: freePosition(), replyTo: old.replyTo, isDeleted: old.isDeleted, kind: old.kind, event: old.event)
        put(message)
        harness.service.publish(.changed([message]))
    }

    private func remove() {
        let gone = sorted.shuffled(using: &random).prefix(1 + roll(2)).map(\.id)
        for id in gone { truth[id] = nil }
        harness.service.publish(.removed(gone))
    }

    private func put(_ message: Message) { truth[message.id] = message }

    private func freePosition() -> Int64 {
        let usedPositions = Set(truth.values.map(\.position))
        while true {
            let position = Int64.random(in: -500...(sorted.last?.position ?? 0) + 500, using: &random)
            if !usedPositions.contains(position) { return position }
        }
    }

    private func newMessage(at position: Int64) -> Message {
        nextID += 1
        // Generate runs of events, to merge and split their groups.
        let isEvent = (nextID / 4) % 3 == 0 && roll(4) > 0
        let minutes = Double(position) / 100 * 40 + Double(roll(300)) / 60 - Double(roll(12) == 0 ? 2000 : 0)
        var message = Message(
            id: MessageID("m\(nextID)"), roomID: RoomID("room"), sender: Self.members[roll(3)].id,
            text: isEvent ? "" : "\(nextID)",
            sentAt: localTime(2026, 3, 1).addingTimeInterval(minutes * (roll(2) == 0 ? 6 : 60)), position: position,
            replyTo: roll(3) == 0 ? truth.keys.sorted { $0.rawValue < $1.rawValue }.randomElement(using: &random) : nil)
        if isEvent {
            message.kind = .event
            message.event = RoomEvent(.joined, subject: message.sender)
            message.replyTo = nil
        }
        return message
    }
}

extension RandomRoom {
    /// Returns how the timeline differs from the model, or `nil`.
    fileprivate func difference() -> String? {
        let shown = harness.messages
        let ids = harness.items.flatMap(Self.messages)
        guard let first = ids.first.flatMap({ truth[$0]?.position }),
            let last = ids.last.flatMap({ truth[$0]?.position })
        else { return ids.isEmpty ? nil : "shows what is not there" }
        if !harness.state.hasOlder, first != sorted.first?.position { return "lacks what is older" }
        if !harness.state.isDetached, last != sorted.last?.position { return "lacks what is newer" }
        let chunk = sorted.filter { (first...last).contains($0.position) }
        let expected = naiveSketch(chunk)
        guard harness.sketch == expected else { return "\(harness.sketch) is not \(expected)" }
        let said = chunk.filter { $0.event == nil }
        guard shown.map(\.text) == said.map(\.text) else { return "texts are \(shown.map(\.text))" }
        guard zip(shown, said).allSatisfy({ self.matches($0.quote, for: $1) }) else { return "a quote is wrong" }
        let rows = Array(harness.timeline.rows)
        guard harness.mirrored == rows else { return "told \(harness.mirrored.map(\.id)), has \(rows.map(\.id))" }
        let isFound = rows.indices.allSatisfy { harness.timeline.rows.index(of: rows[$0].id) == $0 }
        let edges = (rows.first?.id == .more(.older), rows.last?.id == .more(.newer))
        guard edges == (harness.state.hasOlder, harness.state.isDetached) else { return "wrong edges" }
        // The retained range is at most twice the reach plus one page.
        guard harness.state.loading != nil || ids.count <= 24 + Self.pageSize else { return "keeps \(ids.count)" }
        return isFound ? nil : "rows are not found"
    }

    private static func messages(_ item: TimelineItem) -> [MessageID] {
        item.message.map { [$0.id] } ?? item.events?.lines.map(\.id) ?? []
    }

    private func matches(_ quote: MessageItem.Quote?, for message: Message) -> Bool {
        guard let id = message.replyTo, !message.isDeleted else { return quote == nil }
        switch quote {
        case .loading(id): return true
        case .unavailable: return truth[id].map(\.isDeleted) ?? true
        case .text(id, _, let text, _): return truth[id]?.text == text.source
        default: return false
        }
    }

    private func naiveSketch(_ messages: [Message]) -> String {
        let days = messages.map { CalendarDay(of: $0.sentAt) }
        let read = messages.firstIndex { $0.id == unreadLineAfter }
        let unread = read.flatMap { read in
            messages.indices.first { $0 > read && messages[$0].sender != Fixtures.own.id && messages[$0].event == nil }
        }
        func isNewDay(_ index: Int) -> Bool { days[..<index].allSatisfy { $0 < days[index] } }
        func starts(_ index: Int) -> Bool {
            guard index > 0 else { return true }
            let (previous, message) = (messages[index - 1], messages[index])
            let pause = abs(message.sentAt.timeIntervalSince(previous.sentAt))
            return isNewDay(index) || index == unread || previous.event != nil || message.event != nil
                || previous.sender != message.sender || pause >= 300
                || days[index - 1] != days[index]
        }
        func continues(_ index: Int) -> Bool {
            index > 0 && messages[index - 1].event != nil && messages[index].event != nil
                && days[index - 1] == days[index]
        }
        return messages.indices.map { index in
            let isLast = index + 1 == messages.count
            let ends = isLast || !continues(index + 1)
            if continues(index) { return "+" + messages[index].id.rawValue + (ends ? "]" : "") }
            if messages[index].event != nil {
                return (index > 0 ? " " : "") + (isNewDay(index) ? "d\(days[index].day) " : "") + "["
                    + messages[index].id.rawValue + (ends ? "]" : "")
            }
            return (index > 0 ? " " : "") + (isNewDay(index) ? "d\(days[index].day) " : "")
                + (index == unread ? "-- " : "")
                + (starts(index) ? "(" : "") + messages[index].id.rawValue
                + (isLast || starts(index + 1) ? ")" : "")
        }.joined()
    }
}
