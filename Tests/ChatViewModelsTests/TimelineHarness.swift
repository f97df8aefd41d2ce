import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation

/// A timeline over a service that the test speaks for.
@MainActor final class TimelineHarness {
    let service = FakeChatService()
    let outputs = Recorder<TimelineViewModel.Output>()
    let timeline: TimelineViewModel
    var now = localTime(2026, 3, 10, 20)
    private var barriers = 0

    init() {
        let wallClock = Recorder<() -> Date>()
        timeline = TimelineViewModel(roomID: RoomID("room"), service: service, now: { wallClock.values[0]() })
        wallClock.record { [unowned self] in now }
        timeline.onOutput = { [outputs] in outputs.record($0) }
        timeline.start()
    }

    var state: TimelineViewModel.State { timeline.state }
    var messages: [MessageItem] { state.items.compactMap(\.message) }
    var positions: [String] { messages.map { String($0.id.rawValue.dropFirst()) } }
    /// Everything told but what barriers leave.
    var told: [TimelineViewModel.Output] {
        outputs.values.filter { if case .typing = $0 { false } else { true } }
    }

    func open(
        _ messages: [Message], hasOlder: Bool = false, readUpTo: Int64? = nil,
        members: [Member] = [Fixtures.own, Fixtures.other]
    ) async {
        service.tell(
            .opened(
                TimelinePage(messages: messages, hasOlder: hasOlder), members: members,
                readUpTo: readUpTo.map { MessageID("m\($0)") }))
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

    /// The items in short: `d10` a day of March, `--` the unread line, messages with `(` and `)` around groups.
    var sketch: String {
        state.items.map { item in
            switch item {
            case .day(let day, _, _): "d\(day.day)"
            case .unreadLine: "--"
            case .message(let message):
                (message.startsGroup ? "(" : "") + message.id.rawValue + (message.endsGroup ? ")" : "")
            }
        }.joined(separator: " ")
    }
}
