import ChatCore
import ChatTestSupport
import Composer
import Testing

@testable import ChatViewModels

/// The rows of the loaded range, and how their changes are reported.
@MainActor @Suite(.timeLimit(.minutes(5))) struct LoadedTimelineTests {
    private let service = FakeChatService()
    private let outputs = Recorder<LoadedTimeline.Output>()
    private let loaded: LoadedTimeline

    init() {
        let outputs = outputs
        loaded = LoadedTimeline(
            roomID: RoomID("room"), service: service, now: { Fixtures.date }, pageSize: 4, reach: 6,
            onOutput: { outputs.record($0) })
        loaded.setMembers([Fixtures.own, Fixtures.other])
    }

    private func open(_ positions: ClosedRange<Int64>) async {
        let page = TimelinePage(messages: positions.map { .of($0) }, hasOlder: true)
        _ = await loaded.open(page, around: nil, unreadLineAfter: nil)
    }

    private func item(_ position: Int64) -> MessageItem? { loaded.rows.message(MessageID("m\(position)")) }

    @Test("Rows are laid out before the change of the range is reported")
    func reportsRowsFirst() async {
        await open(9...12)
        #expect(outputs.values == [.effect(.replaced), .range(.replaced)])
        loaded.apply(.changed([.of(12, text: "new")]))
        #expect(outputs.values.count == 4 && item(12)?.text == "new")
        guard case .effect(.changed)? = outputs.values.dropFirst(2).first else {
            Issue.record("\(outputs.values)")
            return
        }
    }

    @Test("The edited message is marked, and the one before it no longer")
    func marksTheEditedMessage() async {
        await open(9...12)
        loaded.setEditing(MessageID("m10"))
        loaded.setEditing(MessageID("m11"))
        #expect(item(10)?.isBeingEdited == false && item(11)?.isBeingEdited == true)
    }

    @Test("Selected messages are marked, also when their rows are laid out again")
    func marksSelectedMessages() async throws {
        await open(9...12)
        var selected = SelectedMessages()
        _ = selected.toggle(MessageID("m10"), try #require(item(10)))
        loaded.setSelected(selected, changed: [MessageID("m10")])
        #expect(item(10)?.isSelected == true)
        loaded.layOutAll()
        #expect(item(10)?.isSelected == true && item(9)?.isSelected == false)
    }

    @Test("A jump before the room has loaded lands once it has")
    func postponesJumps() async {
        let jump = TimelineJump(destination: .message(MessageID("m10")))
        loaded.jump(jump)
        #expect(outputs.values.isEmpty)
        await open(9...12)
        loaded.jumpToPostponed()
        #expect(outputs.values.last == .landed(jump, .reveal(.message(MessageID("m10")))))
    }

    @Test("Messages are copied in timeline order, without deleted ones")
    func copiesInOrder() async throws {
        await open(9...12)
        service.known = { id in .of(Int64(id.rawValue.dropFirst())!, isDeleted: id == MessageID("m11")) }
        let fragment = try await loaded.fragment(of: ["m12", "m11", "m10"].map { MessageID($0) })
        let text = fragment.text
        let (tenth, twelfth) = (text.firstRange(of: "Text 10"), text.firstRange(of: "Text 12"))
        #expect(tenth != nil && twelfth != nil && tenth!.lowerBound < twelfth!.lowerBound)
        #expect(!text.contains("Text 11"))
    }
}
