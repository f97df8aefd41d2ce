import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation

/// A timeline over a service that the test speaks for.
@MainActor final class TimelineHarness {
    let service = FakeChatService()
    let outputs = Recorder<TimelineViewModel.Output>()
    let timeline: TimelineViewModel
    let clock = ManualClock()
    var now = localTime(2026, 3, 10, 20)
    private var barriers = 0
    /// The rows as a view has them that carries out what it is told.
    private(set) var mirrored: [TimelineItem] = []
    private(set) var effects: [TimelineViewModel.Effect] = []

    init(pageSize: Int = 60, reach: Int = 480, place: ScrollPosition? = nil) {
        service.places[RoomID("room")] = place
        let wallClock = Recorder<() -> Date>()
        timeline = TimelineViewModel(
            roomID: RoomID("room"), service: service, time: Timekeeper(clock), now: { wallClock.values[0]() },
            pageSize: pageSize, reach: reach)
        wallClock.record { [unowned self] in now }
        timeline.onOutput = { [outputs] in outputs.record($0) }
        timeline.onEffect = { [weak self] in self?.mirror($0) }
        timeline.start()
        timeline.send(.attended(true))
    }

    /// Does what a view does: rows that are new or changed are read when all changes are carried out.
    private func mirror(_ effect: TimelineViewModel.Effect) {
        effects.append(effect)
        switch effect {
        case .replaced: mirrored = Array(timeline.rows)
        case .changed(let changes):
            var rows: [TimelineItem?] = mirrored
            for change in changes {
                switch change {
                case .insert(let range): rows.insert(contentsOf: range.map { _ in nil }, at: range.lowerBound)
                case .remove(let range): rows.removeSubrange(range)
                case .update(let range): rows.replaceSubrange(range, with: range.map { _ in nil })
                }
            }
            mirrored = rows.enumerated().compactMap { index, row in
                row ?? (index < timeline.rows.count ? timeline.rows[index] : nil)
            }
        case .reveal, .bringIntoView, .restore, .revealNewest, .revealOldest, .arrived, .selectionChanged, .loaded:
            break
        }
    }

    var state: TimelineViewModel.State { timeline.state }
    var items: [TimelineItem] { timeline.items }
    var messages: [MessageItem] { items.compactMap(\.message) }
    var positions: [String] { messages.map { String($0.id.rawValue.dropFirst()) } }
    /// Everything told but what barriers leave.
    var told: [TimelineViewModel.Output] {
        outputs.values.filter { if case .typing = $0 { false } else { true } }
    }

    /// Lets go of what was told so far.
    func forgetEffects() { effects = [] }

    func open(
        _ messages: [Message], hasOlder: Bool = false, readUpTo: Int64? = nil,
        members: [Member] = [Fixtures.own, Fixtures.other]
    ) async {
        service.tell(
            .opened(
                TimelinePage(messages: messages, hasOlder: hasOlder), members: members,
                fullyReadMarker: readUpTo.map { MessageID("m\($0)") }))
        await arrive()
    }

    func tell(_ update: TimelineUpdate) async {
        service.tell(update)
        await arrive()
    }

    /// Returns when all that was told has arrived: updates come in order.
    func arrive() async {
        barriers += 1
        let name = "barrier \(barriers)"
        service.tell(.typing([MemberID(name)]))
        await eventually { [outputs] in outputs.values.last == .typing([name]) }
    }

    /// The items in short: `d10` a day of March, `--` the unread line, messages with `(` and `)` around groups, and
    /// small events with `[` and `]` around those of one row.
    var sketch: String {
        items.map { item in
            switch item {
            case .day(let day, _, _): "d\(day.day)"
            case .unreadLine: "--"
            case .events(let group): "[" + group.lines.map(\.id.rawValue).joined(separator: "+") + "]"
            case .more(.older): "…"
            case .more(.newer): "…"
            case .message(let message):
                (message.startsGroup ? "(" : "") + message.id.rawValue + (message.endsGroup ? ")" : "")
            }
        }.joined(separator: " ")
    }
}
