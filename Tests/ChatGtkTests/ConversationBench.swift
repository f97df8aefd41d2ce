import CGtk
import ChatCore
import ChatStore
import ChatViewModels
import ComposerSessions
import Foundation
import GtkTestSupport
import LocalBackend

@testable import ChatGtk
@testable import GtkKit
@testable import TimelineGtk

/// A conversation in a window, over a real store with a room of many messages.
@MainActor
final class ConversationBench {
    /// The view's requests to its window.
    @MainActor
    final class Requests {
        var forwardingRequested: ([MessageID]) -> Void = { _ in }
        var addressActivated: (String) -> Void = { _ in }
        var lookUpRoom: ConversationView.RoomLookup = { _ in (nil, nil) }

        func makeView(of conversation: Conversation, settings: Settings? = nil) -> ConversationView {
            ConversationView(
                conversation: conversation, settings: settings, lookUpRoom: { self.lookUpRoom($0) },
                outputs: ConversationView.Outputs(
                    forwardingRequested: { self.forwardingRequested($0) },
                    addressActivated: { self.addressActivated($0) }))
        }
    }

    static let room = RoomID("long")
    static let own = LocalBackend.ownUserID
    static let other = MemberID("alex")

    let fixture: ChatFixture
    let conversation: Conversation
    let requests = Requests()
    let view: ConversationView
    let window: TestWindow

    /// - Parameters:
    ///   - count: the number of messages; every third is the user's own.
    ///   - unread: how many of them, at the end, are unread.
    ///   - seconds: the time between two messages.
    ///   - fixture: a store that already has the room.
    init(
        _ count: Int = 0, unread: Int = 0, apart seconds: Double = 400, in fixture: ChatFixture? = nil,
        width: Int32 = 700, height: Int32 = 600
    ) throws {
        let fixture = try fixture ?? Self.makeRoom(count, unread: unread, apart: seconds)
        self.fixture = fixture
        fixture.coordinator.start(opening: Self.room)
        guard
            MainLoop.pump(until: {
                fixture.coordinator.conversation?.roomID == Self.room
                    && fixture.coordinator.conversation?.timeline.state.isLoaded == true
                    && fixture.coordinator.conversation?.composer.state.isReady == true
            }), let conversation = fixture.coordinator.conversation
        else { throw TimedOut() }
        self.conversation = conversation
        view = requests.makeView(of: conversation)
        window = TestWindow(view.widget, width: width, height: height)
        waitUntilIdle()
    }

    static func makeRoom(
        _ count: Int, unread: Int, apart seconds: Double = 400,
        completion: ConversationEnvironment.Completion? = nil, time: Timekeeper = .continuous
    ) throws -> ChatFixture {
        let fixture = try ChatFixture(completion: completion, time: time)
        let members = [
            Member(id: own, displayName: "Robin", kind: .own), Member(id: other, displayName: "Alex", kind: .person),
        ]
        let start = Date(timeIntervalSince1970: 1_767_323_045)
        let messages = (0..<count).map { number in
            NewMessage(
                id: MessageID("m\(number)"), sender: number % 3 == 2 ? own : other, text: text(number),
                sentAt: start.addingTimeInterval(Double(number) * seconds),
                replyTo: number % 10 == 9 ? MessageID("m\(number / 2)") : nil)
        }
        try finish { [store = fixture.store, backend = fixture.backend] in
            try await store.createRoom(
                NewRoom(
                    room: Room(id: room, name: "Long", kind: .group), members: members, messages: messages,
                    createdAt: start))
            if count > unread { try await backend.markRead(MessageID("m\(count - unread - 1)"), in: room) }
        }
        return fixture
    }

    static func text(_ number: Int) -> String {
        "Message \(number)" + String(repeating: " with words in it", count: number * 7 % 12)
    }

    var timeline: TimelineView { view.timeline }
    var list: TimelineList { view.timeline.list }
    var model: TimelineViewModel { conversation.timeline }

    /// Runs frames until rows, scroll offset and loading state stop changing.
    func waitUntilIdle() {
        var (still, before) = (0, "")
        list.widget.addTick { [list, model] in
            let now = "\(list.visibleRows) \(list.distanceFromEnd) \(model.state.loading as Any)"
            still = now == before && model.state.loading == nil ? still + 1 : 0
            before = now
            return still < 4
        }
        _ = MainLoop.pump { still >= 4 }
    }

    /// Returns whether the condition became true before the timeout.
    func wait(_ condition: @escaping @MainActor () -> Bool) -> Bool { MainLoop.pump(until: condition) }

    func row(_ number: Int) -> MessageRow? { list.row(for: id(number)) as? MessageRow }
    func id(_ number: Int) -> TimelineItem.ID { .message(MessageID("m\(number)")) }

    /// Returns the distance in pixels from the list's top to the row's bottom edge.
    func bottom(_ number: Int) -> Double { list.bounds(of: id(number)).map { $0.top + $0.height } ?? .nan }

    /// The number of the last message whose bottom edge is in view: the scroll anchor, which must not move.
    var read: Int? { visible.last { bottom($0) <= Double(list.widget.height) + 0.5 } }

    /// The numbers of the visible messages.
    var visible: [Int] {
        list.visibleRows.compactMap { model.rows[$0].message.flatMap { Int($0.id.rawValue.dropFirst()) } }
    }

    /// Passes arguments to xdotool, which generates real key and pointer events.
    func input(_ arguments: String...) throws { try input(arguments) }

    /// Waits until the window has the keyboard focus of the display server.
    func activate() throws { try RealInput.activate(window.window) }

    /// Waits for one frame to be painted.
    func frame() {
        var frames = 0
        list.widget.addTick {
            frames += 1
            return frames < 2
        }
        _ = MainLoop.pump { frames >= 2 }
    }

    func input(_ arguments: [String]) throws {
        try activate()
        try RealInput.run(arguments)
        waitUntilIdle()
    }

    func press(_ keys: String...) throws { try input(["key", "--delay", "20"] + keys) }

    /// Returns xdotool arguments that move the pointer to an offset in pixels within a message's text.
    func point(_ number: Int, x: Double = 4, y: Double = 6) throws -> [String] {
        // Another window may be the active one: this is called before `input` activates the bench's.
        try activate()
        guard let row = row(number) else { throw TimedOut() }
        let text = Self.descendants(of: row.widget).first { BodyText.of($0) != nil }
        guard let text, let bounds = text.bounds(in: window.window) else { throw TimedOut() }
        return try place(bounds.x + x, bounds.y + y)
    }

    /// Returns arguments for xdotool's `mousemove --window`: xdotool reports wrong absolute positions for windows with
    /// a title bar of the window manager.
    private func place(_ x: Double, _ y: Double) throws -> [String] {
        let id = try RealInput.activeWindow()
        var (transformX, transformY) = (0.0, 0.0)
        gtk_native_get_surface_transform(window.window.cast(), &transformX, &transformY)
        return ["--window", id, "\(Int(x + transformX))", "\(Int(y + transformY))"]
    }

    static func descendants(of widget: Widget) -> [Widget] {
        widget.children.flatMap { [$0] + descendants(of: $0) }
    }

    /// The text on the clipboard, or `nil` if there is none.
    func clipboardText() throws -> String? {
        final class Answer { var text: String?? = .none }
        let answer = Answer()
        gdk_clipboard_read_text_async(
            gtk_widget_get_clipboard(list.widget.cast()), nil,
            { source, result, data in
                guard let data else { return }
                let text = gdk_clipboard_read_text_finish(OpaquePointer(source), result, nil)
                defer { g_free(text) }
                Unmanaged<Answer>.fromOpaque(data).takeRetainedValue().text = .some(text.map { String(cString: $0) })
            }, Unmanaged.passRetained(answer).toOpaque())
        guard MainLoop.pump(until: { answer.text != nil }) else { throw TimedOut() }
        return answer.text ?? nil
    }

    func close() throws {
        window.close()
        try finish { [fixture] in await fixture.coordinator.flushDrafts() }
        try fixture.close()
    }
}
