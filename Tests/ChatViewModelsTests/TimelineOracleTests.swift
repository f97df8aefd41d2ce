import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

/// Random rooms: whatever is told in whatever order, the timeline shows what a naive computation says.
@MainActor @Suite(.timeLimit(.minutes(5))) struct TimelineOracleTests {
    @Test(arguments: 0..<24) func showsWhatIsThere(seed: Int) async {
        let room = RandomRoom(seed: UInt64(seed))
        await room.open()
        for step in 0..<120 {
            room.act()
            guard step % 4 == 3 else { continue }
            await room.arrive()
            if let difference = room.difference() {
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
        }
    }
}

/// A room that changes at random, and the naive truth about it.
@MainActor private final class RandomRoom {
    private let harness = TimelineHarness()
    private var random: SeededNumbers
    private var truth: [MessageID: Message] = [:]
    private var nextID = 0
    /// Where the loaded stretch begins; nil if at the room's beginning.
    private var start: Int64?
    private var unreadLineAfter: MessageID?
    private var gate = Gate()
    private var page: TimelinePage?
    private static let pageSize = 8
    private static let members = [
        Fixtures.own, Fixtures.other, Member(id: MemberID("x"), displayName: "X", kind: .person),
    ]

    init(seed: UInt64) {
        random = SeededNumbers(state: seed)
        harness.service.before = { [unowned self] in if case .page = $0 { await gate.pass() } }
        harness.service.pages = { [unowned self] before, _ in
            let older = sorted.filter { $0.position < before }
            let read = TimelinePage(messages: older.suffix(Self.pageSize), hasOlder: older.count > Self.pageSize)
            page = read
            return read
        }
    }

    private var sorted: [Message] { truth.values.sorted { $0.position < $1.position } }
    private func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &random) }

    func open() async {
        for index in 0..<roll(40) { put(newMessage(at: Int64(index) * 100)) }
        let newest = Array(sorted.suffix(Self.pageSize))
        let hasOlder = truth.count > Self.pageSize
        let readUpTo = sorted.randomElement(using: &random)
        start = hasOlder ? newest[0].position : nil
        if let readUpTo {
            let isLoaded = newest.contains { $0.id == readUpTo.id }
            let hasUnread = newest.contains { $0.position > readUpTo.position && $0.sender != Fixtures.own.id }
            unreadLineAfter = isLoaded ? (hasUnread ? readUpTo.id : nil) : readUpTo.id
        }
        harness.service.tell(
            .opened(
                TimelinePage(messages: newest, hasOlder: hasOlder), members: Self.members, readUpTo: readUpTo?.id))
        await harness.arrive()
    }

    func act() {
        switch roll(14) {
        case 0...3: tellNew([newMessage(at: (sorted.last?.position ?? 0) + 100)])
        case 4: tellNew((0..<3).map { newMessage(at: (sorted.last?.position ?? 0) + 100 * Int64(3 - $0)) })
        case 5: tellNew([newMessage(at: freePosition())])
        case 6...8: change { $0.text += "!" }
        case 9:
            change {
                $0.text = ""
                $0.isDeleted = true
            }
        case 10: move()
        case 11: remove()
        case 12: harness.timeline.send(.loadOlder)
        default: letPageArrive()
        }
    }

    /// Returns when all that was told, and a page that may come, has arrived.
    func arrive() async {
        await harness.arrive()
        guard page != nil, roll(2) == 0 else { return }
        letPageArrive()
    }

    private func letPageArrive() {
        gate.open()
        gate = Gate()
    }

    private func tellNew(_ messages: [Message]) {
        messages.forEach(put)
        harness.service.tell(.changed(messages))
    }

    private func change(_ body: (inout Message) -> Void) {
        guard var message = sorted.randomElement(using: &random) else { return }
        body(&message)
        put(message)
        harness.service.tell(.changed([message]))
    }

    private func move() {
        guard let old = sorted.randomElement(using: &random) else { return }
        let message = Message(
            id: old.id, roomID: old.roomID, sender: old.sender, text: old.text, sentAt: old.sentAt,
            position: freePosition(), isDeleted: old.isDeleted)
        put(message)
        harness.service.tell(.changed([message]))
    }

    private func remove() {
        let gone = sorted.shuffled(using: &random).prefix(1 + roll(2)).map(\.id)
        for id in gone { truth[id] = nil }
        harness.service.tell(.removed(gone))
    }

    private func put(_ message: Message) { truth[message.id] = message }

    private func freePosition() -> Int64 {
        let taken = Set(truth.values.map(\.position))
        while true {
            let position = Int64.random(in: -500...(sorted.last?.position ?? 0) + 500, using: &random)
            if !taken.contains(position) { return position }
        }
    }

    private func newMessage(at position: Int64) -> Message {
        nextID += 1
        let minutes = Double(position) / 100 * 40 + Double(roll(300)) / 60 - Double(roll(12) == 0 ? 2000 : 0)
        return Message(
            id: MessageID("m\(nextID)"), roomID: RoomID("room"), sender: Self.members[roll(3)].id, text: "\(nextID)",
            sentAt: localTime(2026, 3, 1).addingTimeInterval(minutes * (roll(2) == 0 ? 6 : 60)), position: position)
    }
}

extension RandomRoom {
    /// How the timeline differs from the truth.
    fileprivate func difference() -> String? {
        if let page, !harness.state.isLoadingOlder {
            start = page.hasOlder ? page.messages.first?.position ?? start : nil
            self.page = nil
        }
        guard harness.state.hasOlder == (start != nil) else { return "hasOlder is \(harness.state.hasOlder)" }
        let expected = naiveSketch(sorted.filter { $0.position >= start ?? .min })
        let texts = sorted.filter { $0.position >= start ?? .min }.map(\.text)
        guard harness.sketch == expected else { return "\(harness.sketch) is not \(expected)" }
        return harness.messages.map(\.text) == texts ? nil : "texts are \(harness.messages.map(\.text)), not \(texts)"
    }

    private func naiveSketch(_ messages: [Message]) -> String {
        let days = messages.map { CalendarDay(of: $0.sentAt) }
        let read = messages.firstIndex { $0.id == unreadLineAfter }
        let unread = read.flatMap { read in
            messages.indices.first { $0 > read && messages[$0].sender != Fixtures.own.id }
        }
        func isNewDay(_ index: Int) -> Bool { days[..<index].allSatisfy { $0 < days[index] } }
        func starts(_ index: Int) -> Bool {
            guard index > 0 else { return true }
            let (previous, message) = (messages[index - 1], messages[index])
            let pause = abs(message.sentAt.timeIntervalSince(previous.sentAt))
            return isNewDay(index) || index == unread || previous.sender != message.sender || pause >= 300
                || days[index - 1] != days[index]
        }
        return messages.indices.map { index in
            let isLast = index + 1 == messages.count
            return (isNewDay(index) ? "d\(days[index].day) " : "") + (index == unread ? "-- " : "")
                + (starts(index) ? "(" : "") + messages[index].id.rawValue
                + (isLast || starts(index + 1) ? ")" : "")
        }.joined(separator: " ")
    }
}
