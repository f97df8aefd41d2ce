import ChatCore
import ChatTestSupport
import Composer
import Testing

@testable import ChatViewModels

/// The rows of the loaded range, and how their changes are reported.
@MainActor @Suite(.timeLimit(.minutes(10))) struct LoadedTimelineTests {
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

    private func page(_ positions: ClosedRange<Int64>, older: Bool = true, newer: Bool = false) -> TimelinePage {
        TimelinePage(messages: positions.map { .of($0) }, hasOlder: older, hasNewer: newer)
    }

    private func open(_ positions: ClosedRange<Int64>, older: Bool = true) async {
        _ = await loaded.open(page(positions, older: older), around: nil, unreadLineAfter: nil)
    }

    private var positions: [Int64] { loaded.messages.messages.map(\.position) }

    private func item(_ position: Int64) -> MessageItem? { loaded.rows.message(MessageID("m\(position)")) }

    @Test("Rows are laid out before the change of the range is reported")
    func reportsRowsFirst() async {
        await open(9...12)
        #expect(outputs.values == [.effect(.replaced), .rangeChanged])
        loaded.apply(.changed([.of(12, text: "new")]))
        #expect(outputs.values.count == 4 && item(12)?.text == "new")
        guard case .effect(.changed)? = outputs.values.dropFirst(2).first else {
            Issue.record("\(outputs.values)")
            return
        }
    }

    @Test("A page is requested only once the room is open")
    func requestsPagesOfAnOpenRoom() async {
        loaded.load(.older)
        #expect(service.calls.isEmpty)
        await open(9...12)
        service.pages = { [self] _, _ in page(5...8) }
        loaded.load(.older)
        #expect(loaded.range.loading == .page(.older))
        await eventually { [loaded] in loaded.range.loading == nil }
        #expect(service.calls == [.page(before: 9)] && positions == Array(5...12))
        #expect(outputs.values.suffix(2) == [.rangeChanged, .finished(isLoaded: true)])
    }

    @Test("A page needed while another loads is requested afterwards")
    func requestsTheOtherEndAfterwards() async {
        _ = await loaded.open(page(9...12, newer: true), around: nil, unreadLineAfter: nil)
        service.pages = { [self] _, _ in page(5...8) }
        service.pagesAfter = { [self] _, _ in page(13...14) }
        loaded.load(.older)
        loaded.load(.newer)
        await eventually { [service] in service.calls.count == 2 }
        await eventually { [loaded] in loaded.range.loading == nil }
        #expect(service.calls == [.page(before: 9), .pageAfter(12)])
    }

    @Test("Updates that arrive while a page loads are applied on top of it")
    func appliesMissedUpdates() async {
        await open(9...12)
        let gate = Gate()
        service.before = { _ in await gate.pass() }
        service.pages = { [self] _, _ in page(5...8) }
        loaded.load(.older)
        await eventually { gate.waiting == 1 }
        loaded.apply(.changed([.of(6, text: "newer")]))
        loaded.apply(.removed([MessageID("m7")]))
        gate.open()
        await eventually { [loaded] in loaded.range.loading == nil }
        #expect(positions == [5, 6, 8, 9, 10, 11, 12] && item(6)?.text == "newer" && item(7) == nil)
    }

    @Test("A jump replaces the range and lands, and then updates received meanwhile are applied")
    func reportsJumps() async {
        await open(9...12)
        service.pagesAround = { [self] _, _ in page(1...4, older: false, newer: true) }
        let jump = TimelineJump(destination: .message(MessageID("m2")))
        loaded.jump(jump)
        #expect(loaded.range.loading == .jump(jump.destination) && loaded.range.isBeingLeft)
        await eventually { [loaded] in loaded.range.loading == nil }
        #expect(
            outputs.values.dropFirst(2) == [
                .effect(.replaced), .rangeChanged, .landed(jump, .reveal(.message(MessageID("m2")))),
                .finished(isLoaded: true),
            ])
        #expect(positions == Array(1...4) && loaded.range.isDetached && !loaded.range.hasOlder)
    }

    @Test("A room that is reopened after a gap drops the page of a jump, which is performed afterwards")
    func performsTheJumpAfterOpeningAgain() async {
        await open(9...12)
        let gate = Gate()
        service.before = { _ in await gate.pass() }
        service.pagesAround = { [self] _, _ in page(1...4, newer: true) }
        loaded.jump(TimelineJump(destination: .message(MessageID("m2"))))
        await eventually { gate.waiting == 1 }
        await open(20...22)
        gate.open()
        await waitUntilIdle()
        #expect(positions == [20, 21, 22] && loaded.range.loading == nil)
        loaded.jumpToPostponed()
        await eventually { [loaded] in loaded.range.isDetached }
        #expect(positions == Array(1...4))
    }

    @Test("A page requested while the room is reopened is not added to the new range")
    func pagesOfAPreviousRangeAreDropped() async {
        await open(9...12)
        let gate = Gate()
        service.before = { if case .pageAround = $0 { await gate.pass() } }
        service.pages = { [self] _, _ in page(5...8) }
        service.pagesAround = { [self] _, _ in page(30...32, newer: true) }
        let opening = Task { [loaded] in
            await loaded.open(page(40...42), around: MessageID("m31"), unreadLineAfter: nil)
        }
        await eventually { gate.waiting == 1 }
        loaded.load(.older)
        gate.open()
        #expect(await opening.value)
        await waitUntilIdle()
        #expect(positions == [30, 31, 32])
    }

    @Test("Messages far from the scroll position are dropped, and the others stay")
    func distantMessagesAreDropped() async {
        await open(1...12, older: false)
        loaded.setAnchor(MessageID("m2"))
        loaded.apply(.changed([.of(13)]))
        #expect(positions == Array(1...7) && loaded.range.isDetached)
        #expect(loaded.rows.compactMap(\.message?.id) == (1...7).map { MessageID("m\($0)") })
    }

    @Test("A cleared range is empty, and later messages are shown")
    func clearedRangeIsEmpty() async {
        await open(1...3)
        loaded.clear()
        #expect(loaded.range.isEmpty && !loaded.range.hasOlder && loaded.rows.isEmpty)
        loaded.apply(.changed([.of(4)]))
        #expect(positions == [4] && !loaded.range.isEmpty)
    }

    @Test("What was cleared stays hidden when it changes and when the room is opened again after a gap, until a jump")
    func clearedMessagesStayHidden() async {
        await open(1...3)
        loaded.clear()
        loaded.apply(.changed([.of(3, text: "edited"), .of(4)]))
        #expect(positions == [4])
        await open(2...5)
        #expect(positions == [4, 5] && !loaded.range.hasOlder)
        await open(8...9)
        #expect(positions == [8, 9] && loaded.range.hasOlder)
        service.pages = { [self] _, _ in page(3...7) }
        loaded.load(.older)
        await eventually { [loaded] in loaded.range.loading == nil }
        #expect(positions == Array(4...9) && !loaded.range.hasOlder)
        service.pagesAround = { [self] _, _ in page(1...4, older: false, newer: true) }
        loaded.jump(TimelineJump(destination: .message(MessageID("m2"))))
        await eventually { [loaded] in loaded.range.isDetached }
        #expect(positions == Array(1...4))
    }

    @Test("A jump to a date before the range was cleared shows the messages of then")
    func jumpsToADateThatWasCleared() async {
        await open(1...3)
        loaded.clear()
        loaded.apply(.changed([.of(4)]))
        service.pagesAround = { [self] _, _ in page(1...4, older: false) }
        loaded.jump(TimelineJump(destination: .date(localTime(2026, 3, 9))))
        await eventually { [loaded] in loaded.range.loading == nil }
        #expect(positions == Array(1...4))
    }

    @Test("Clearing a range without the newest messages hides them, too, but none that is sent later")
    func clearedDetachedRange() async {
        service.pagesAround = { [self] _, _ in page(1...4, older: false, newer: true) }
        _ = await loaded.open(page(20...22), around: MessageID("m2"), unreadLineAfter: nil)
        #expect(positions == Array(1...4))
        // Its position changes when it is sent.
        loaded.apply(.changed([.of(1000, by: Fixtures.own, delivery: .sending)]))
        loaded.clear()
        loaded.apply(.changed([.of(22, text: "edited")]))
        #expect(positions.isEmpty)
        loaded.apply(.changed([.of(23)]))
        #expect(positions == [23])
    }

    private static let ann = Member(id: MemberID("ann"), displayName: "Ann", kind: .person)
    private static let anna = Member(id: ann.id, displayName: "Anna", kind: .person)

    @Test("A member who comes or goes costs no row, and one with another name those of their messages")
    func changedMembersTouchTheirRows() async {
        loaded.setMembers([Fixtures.own, Fixtures.other, Self.ann])
        let messages = (1...40).map { (position: Int64) -> Message in
            .of(position, by: position == 20 ? Self.ann : position % 2 == 0 ? Fixtures.own : Fixtures.other)
        }
        _ = await loaded.open(
            TimelinePage(messages: messages, hasOlder: false), around: nil, unreadLineAfter: nil)
        let count = loaded.rows.laidOutCount
        loaded.changeMembers([Member(id: MemberID("new"), displayName: "New", kind: .person)])
        var left = Fixtures.other
        left.hasLeft = true
        loaded.changeMembers([left])
        #expect(loaded.rows.laidOutCount == count && loaded.members.all.count == 4)
        loaded.changeMembers([Self.anna])
        #expect(item(20)?.senderName == "Anna")
        #expect(loaded.rows.laidOutCount - count <= 3, "with those above and below it")
    }

    @Test("A member's new name is in all rows that have it, and all others are as before")
    func changedMembersAreNamedEverywhere() async {
        loaded.setMembers([Fixtures.own, Fixtures.other, Self.ann])
        var (reacted, seen, reply, distant, last) = (
            Message.of(2), Message.of(3), Message.of(4), Message.of(5), Message.of(8)
        )
        reacted.reactions = [Reaction(text: "👍", senders: [Self.ann.id])]
        seen.readReceipts = [ReadReceipt(member: Self.ann.id, message: seen.id, readAt: Fixtures.date)]
        reply.replyTo = MessageID("m1")
        distant.replyTo = MessageID("m99")
        last.replyTo = MessageID("m7")
        let invitation = Message.of(6, RoomEvent(.invited, subject: Self.ann.id))
        let messages: [Message] = [
            .of(1, by: Self.ann), reacted, seen, reply, distant, invitation, .of(7, text: "hi @Anna"), last,
        ]
        service.known = { _ in Message.of(99, by: Self.ann) }
        _ = await loaded.open(
            TimelinePage(messages: messages, hasOlder: false), around: nil, unreadLineAfter: nil)
        await eventually { [loaded] in
            loaded.rows.message(MessageID("m5"))?.quote == .text(MessageID("m99"), senderName: "Ann", words: "Text 99")
        }
        loaded.changeMembers([Self.anna])
        let rows = Array(loaded.rows)
        #expect(item(1)?.senderName == "Anna" && item(2)?.reactions.first?.others == ["Anna"])
        #expect(item(3)?.readers.map(\.name) == ["Anna"])
        #expect(item(4)?.quote == .text(MessageID("m1"), senderName: "Anna", words: "Text 1"))
        #expect(item(5)?.quote == .text(MessageID("m99"), senderName: "Anna", words: "Text 99"))
        #expect(rows.compactMap(\.events).first?.lines.first?.subject == .named("Anna"))
        #expect(item(7)?.body.pills.isEmpty == false)
        loaded.layOutAll()
        #expect(Array(loaded.rows) == rows)
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
        _ = selected.toggle(MessageID("m10"), item(10))
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

    @Test("Of messages that all have no text nothing is copied, not even who sent them")
    func copiesNothingWithoutText() async throws {
        await open(9...12)
        service.known = { id in .of(Int64(id.rawValue.dropFirst())!, text: id == MessageID("m9") ? nil : "") }
        let none = try await loaded.fragment(of: ["m12", "m11"].map { MessageID($0) })
        #expect(none.text.isEmpty)
        let one = try await loaded.fragment(of: ["m12", "m9"].map { MessageID($0) })
        #expect(one.text.contains("Text 9"))
    }

    @Test("Messages too long to be shown in full are copied with their formatting")
    func copiesLongMessagesWithFormatting() async throws {
        await open(9...12)
        service.known = { id in
            var message = Message.of(
                Int64(id.rawValue.dropFirst())!, text: String(repeating: "line\n", count: 400) + "bold")
            message.formattedText = String(repeating: "line<br>", count: 400) + "<b>bold</b>"
            return message
        }
        let fragment = try await loaded.fragment(of: ["m11", "m10"].map { MessageID($0) })
        #expect(fragment.written.source.contains("**bold**"))
        #expect(fragment.html?.contains("<strong>bold</strong>") == true)
    }
}
