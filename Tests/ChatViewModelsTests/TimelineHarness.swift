import ChatCore
import ChatTestSupport
import ChatViewModels
import ComposerSessions
import Foundation
import Testing

/// A timeline over a fake service.
@MainActor final class TimelineHarness {
    let service = FakeChatService()
    let outputs = Recorder<TimelineViewModel.Output>()
    let timeline: TimelineViewModel
    let clock = ManualClock()
    var now = localTime(2026, 3, 10, 20)
    private var barriers = 0
    /// The rows of a view that applies all effects.
    private(set) var mirrored: [TimelineItem] = []
    private(set) var effects: [TimelineViewModel.Effect] = []

    init(pageSize: Int = 60, reach: Int = 480, place: ScrollPosition? = nil) {
        service.places[RoomID("room")] = place
        let wallClock = Recorder<() -> Date>()
        timeline = TimelineViewModel(
            roomID: RoomID("room"), service: service, time: Timekeeper(clock), now: { wallClock.values[0]() },
            pageSize: pageSize, reach: reach, onOutput: { [outputs] in outputs.record($0) })
        wallClock.record { [unowned self] in now }
        timeline.subscribe { [weak self] in self?.mirror($0) }
        timeline.start()
        timeline.send(.reading(.attended(true)))
    }

    /// Applies an effect as a view does: reads new and changed rows after all changes are applied.
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
        default: break
        }
    }

    var state: TimelineViewModel.State { timeline.state }
    var items: [TimelineItem] { timeline.items }
    var messages: [MessageItem] { items.compactMap(\.message) }
    var positions: [String] { messages.map { String($0.id.rawValue.dropFirst()) } }
    /// All outputs except those of ``waitForUpdates()``'s barriers.
    var reported: [TimelineViewModel.Output] {
        outputs.values.filter { if case .typing = $0 { false } else { true } }
    }

    /// Advances the clock until visible messages count as read.
    func dwell() { clock.advance(by: .seconds(1)) }

    /// The messages marked as read.
    var marked: [MessageID] {
        service.calls.compactMap { if case .markRead(let id) = $0 { id } else { nil } }
    }

    /// Discards the effects recorded so far.
    func forgetEffects() { effects = [] }

    func open(
        _ messages: [Message], hasOlder: Bool = false, readUpTo: Int64? = nil,
        members: [Member] = [Fixtures.own, Fixtures.other]
    ) async {
        service.publish(
            .opened(
                TimelinePage(messages: messages, hasOlder: hasOlder), members: members,
                fullyReadMarker: readUpTo.map { MessageID("m\($0)") }))
        await waitForUpdates()
    }

    func publish(_ update: TimelineUpdate) async {
        service.publish(update)
        await waitForUpdates()
    }

    /// Waits until all published updates have arrived, with a typing update as a barrier: updates arrive in order.
    func waitForUpdates() async {
        barriers += 1
        let name = "barrier \(barriers)"
        service.publish(.typing([MemberID(name)]))
        // Not the last one: that messages are seen may be reported at any time.
        await eventually { [outputs] in outputs.values.contains(.typing([name])) }
    }

    /// The items in short form: `d10` is a day in March, `--` the unread line, `(…)` a group of messages, `[…]` a row
    /// of events.
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
