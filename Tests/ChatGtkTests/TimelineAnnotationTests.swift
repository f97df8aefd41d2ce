import CGtk
import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk
@testable import TimelineGtk

/// Reactions, edit history and forwarding, driven by real key and pointer events.
final class TimelineAnnotationTests: GtkTestCase {
    func testReactionsAreToggledByKeyboardAndPointer() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.timeline.grabFocus()
            try bench.press("Up", "plus")
            XCTAssertTrue(bench.wait { bench.timeline.reactions.isOpen })
            try bench.press("Right", "Return")
            XCTAssertTrue(bench.wait { Self.chips(bench, 28) == ["❤️"] }, "has \(Self.chips(bench, 28))")
            XCTAssertFalse(bench.timeline.reactions.isOpen)
            XCTAssertEqual(bench.list.focusedRow, bench.model.rows.index(of: bench.id(28)), "the focus is back")
            let row = try XCTUnwrap(bench.row(28))
            XCTAssertTrue(row.accessibleText.contains("You reacted with ❤️"), row.accessibleText)
            bench.waitUntilIdle()
            try RealInput.point(at: try XCTUnwrap(Self.chip(bench, 28)))
            try RealInput.click()
            XCTAssertTrue(bench.wait { Self.chips(bench, 28).isEmpty }, "taken back")
            // The button that appears while the pointer is over the message.
            try RealInput.point(at: row.reactionAnchor)
            try RealInput.click()
            XCTAssertTrue(bench.wait { bench.timeline.reactions.isOpen })
            try RealInput.point(at: bench.timeline.reactions.buttons[0])
            try RealInput.click()
            XCTAssertTrue(bench.wait { Self.chips(bench, 28) == ["👍"] })
            try bench.close()
        }
    }

    func testPickerRemovesNoReactionThatAnotherDeviceHasAddedMeanwhile() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.timeline.grabFocus()
            try bench.press("plus")
            XCTAssertTrue(bench.wait { bench.timeline.reactions.isOpen })
            try finish { [backend = bench.fixture.backend] in
                try await backend.react("❤️", isAdded: true, to: MessageID("m29"), in: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { Self.chips(bench, 29) == ["❤️"] }, "has \(Self.chips(bench, 29))")
            let hasFocusBack = { @MainActor in
                !bench.timeline.reactions.isOpen && bench.list.focusedRow == bench.model.rows.index(of: bench.id(29))
            }
            try bench.press("Right", "Return")
            XCTAssertTrue(bench.wait { hasFocusBack() })
            // What is picked is sent in this order.
            try bench.press("plus")
            XCTAssertTrue(bench.wait { bench.timeline.reactions.isOpen })
            try bench.press("Return")
            XCTAssertTrue(bench.wait { Self.chips(bench, 29) == ["❤️", "👍"] }, "has \(Self.chips(bench, 29))")
            XCTAssertTrue(bench.wait { hasFocusBack() })
            try bench.press("plus")
            XCTAssertTrue(bench.wait { bench.timeline.reactions.isOpen })
            try bench.press("Right", "Return")
            XCTAssertTrue(bench.wait { Self.chips(bench, 29) == ["👍"] }, "has \(Self.chips(bench, 29))")
            try bench.close()
        }
    }

    /// The buttons are beside the bubble or, without room there, over its corner; they never change its width.
    func testMessageButtonsDoNotChangeTheBubbleWidth() throws {
        try onMain {
            for width: Int32 in [360, 900] {
                let bench = try ConversationBench(30, width: width)
                let widths = bench.visible.compactMap { bench.row($0)?.bubble.width }
                bench.visible.forEach { bench.row($0)?.prepareAnchors() }
                bench.waitUntilIdle()
                XCTAssertEqual(bench.visible.compactMap { bench.row($0)?.bubble.width }, widths)
                for number in bench.visible {
                    guard let row = bench.row(number),
                        let text = ConversationBench.descendants(of: row.widget).first(where: {
                            BodyText.of($0) != nil
                        }),
                        let bounds = text.bounds(in: row.widget), let menu = row.menuAnchor.bounds(in: row.widget),
                        let reaction = row.reactionAnchor.bounds(in: row.widget)
                    else { continue }
                    let (left, right) = (min(menu.x, reaction.x), max(menu.x + menu.width, reaction.x + reaction.width))
                    XCTAssertTrue(left >= 0 && right <= Double(row.widget.width), "\(number): \(left) to \(right)")
                    if width == 900 {
                        XCTAssertTrue(right <= bounds.x || left >= bounds.x + bounds.width, "\(number) is covered")
                    } else if ConversationBench.text(number).count > 100 {
                        XCTAssertGreaterThan(bounds.width, 200, "\(number) is as wide as the window lets it be")
                    }
                }
                let row = try XCTUnwrap(bench.row(29))
                let bar = try XCTUnwrap(gtk_widget_get_parent(row.menuAnchor.cast()))
                try bench.input("mousemove", "0", "0")
                XCTAssertTrue(bench.wait { gtk_widget_get_can_target(bar) == 0 }, "what is not seen takes no tap")
                try RealInput.point(at: row.widget)
                XCTAssertTrue(bench.wait { gtk_widget_get_can_target(bar) != 0 })
                try bench.close()
            }
        }
    }

    func testReactionsShowCountsAndNames() throws {
        try onMain {
            let bench = try ConversationBench(30)
            try finish { [fixture = bench.fixture] in
                for member in [ConversationBench.other, LocalBackend.ownUserID] {
                    _ = try await fixture.store.setReaction(
                        "🎉", isAdded: true, to: MessageID("m29"), in: ConversationBench.room, by: member, at: .now)
                }
                try await fixture.backend.react("🙏", isAdded: true, to: MessageID("m29"), in: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { Self.chips(bench, 29) == ["🎉 2", "🙏"] }, "has \(Self.chips(bench, 29))")
            XCTAssertEqual(Self.chip(bench, 29)?.tooltip, "You, Alex")
            XCTAssertTrue(Self.chip(bench, 29)?.hasStyle("given") ?? false)
            try finish { [backend = bench.fixture.backend] in
                for text in ["😂", "😮", "❤️", "👍"] {
                    try await backend.react(text, isAdded: true, to: MessageID("m29"), in: ConversationBench.room)
                }
            }
            XCTAssertTrue(bench.wait { Self.chips(bench, 29).count == 6 })
            bench.waitUntilIdle()
            let tops = Set(Self.reactions(bench, 29).compactMap { $0.bounds(in: bench.window.window)?.y })
            XCTAssertEqual(tops.count, 2, "five in a line, and the next one below")
            for text in ["😂", "😮", "❤️", "👍", "🙏"] { bench.model.send(.message(MessageID("m29"), .react(text))) }
            XCTAssertTrue(bench.wait { Self.chips(bench, 29) == ["🎉 2"] }, "has \(Self.chips(bench, 29))")
            bench.waitUntilIdle()
            XCTAssertTrue(bench.list.isAtEnd, "the row that grew did not push the end out of view")
            try bench.close()
        }
    }

    /// Others react, and take it back, while the keyboard focus is on a reaction.
    func testReactionKeepsItsChipAndTheFocus() throws {
        try onMain {
            try Resource.load()
            let row = Box(.vertical)
            row.isFocusable = true
            let view = ReactionsView(isOwn: false)
            row.append(view.widget)
            let window = TestWindow(row)
            var toggled: [String] = []
            view.onToggle = { toggled.append($0) }
            let show = { (texts: [String]) in
                view.show(texts.map { MessageItem.Reaction(text: $0, others: ["Ada"], isOwn: false) })
            }
            let chip = { (text: String) -> Widget? in
                view.widget.descendants.first { $0.wrapped(as: Button.self, gtk_button_get_type())?.label == text }
            }
            show(["a", "b", "c", "d", "e", "f"])
            let last = try XCTUnwrap(chip("f"))
            XCTAssertTrue(last.grabFocus())
            show(["b", "c", "d", "e", "f"])
            XCTAssertTrue(chip("f")?.isSame(as: last) == true)
            // GTK moves a focus that was dropped at the end of a frame.
            try RealInput.waitForFrames(3, of: row)
            XCTAssertTrue(last.isFocus, "in the other line")
            last.activate()
            XCTAssertTrue(MainLoop.pump { !toggled.isEmpty })
            XCTAssertEqual(toggled, ["f"])
            show(["g", "b", "c"])
            XCTAssertTrue(chip("c")?.isFocus == true, "the one that is there now")
            show(["c", "g", "b"])
            try RealInput.waitForFrames(3, of: row)
            XCTAssertTrue(chip("c")?.isFocus == true, "it goes with its reaction")
            XCTAssertEqual(
                view.widget.descendants.compactMap { $0.wrapped(as: Button.self, gtk_button_get_type())?.label },
                ["c", "g", "b"])
            show([])
            XCTAssertTrue(row.isFocus)
            window.close()
        }
    }

    func testRecycledChipsStayWhereTheyAre() throws {
        try onMain {
            try Resource.load()
            let view = ReactionsView(isOwn: false)
            let show = { (texts: [String]) in
                view.show(texts.map { MessageItem.Reaction(text: $0, others: ["Ada"], isOwn: false) })
            }
            let chips = { @MainActor in
                view.widget.descendants.compactMap { $0.wrapped(as: Button.self, gtk_button_get_type()) }
            }
            show(["a", "b", "c", "d", "e", "f", "g"])
            let before = chips()
            show(["h", "i", "j", "k", "l", "m", "n"])
            XCTAssertEqual(chips().map(\.label), ["h", "i", "j", "k", "l", "m", "n"])
            XCTAssertTrue(before.elementsEqual(chips()) { $0.isSame(as: $1) })
        }
    }

    func testMenuOpensTheEditHistory() throws {
        try onMain {
            let bench = try ConversationBench(30)
            XCTAssertEqual(bench.row(29)?.item?.hasHistory, false)
            try finish { [backend = bench.fixture.backend] in
                try await backend.edit(MessageID("m29"), in: ConversationBench.room, text: "Message <b>30</b>")
            }
            XCTAssertTrue(bench.wait { bench.row(29)?.item?.hasHistory == true })
            bench.timeline.grabFocus()
            try bench.press("Menu")
            XCTAssertTrue(bench.wait { bench.timeline.menu.isOpen })
            try bench.press("Escape")
            XCTAssertTrue(bench.view.widget.activateAction("message.history"))
            XCTAssertTrue(bench.wait { OpenDialogs.active != nil })
            let texts = Self.windowTexts()
            XCTAssertTrue(texts.contains { $0.contains("<b>30</b>") }, "\(texts)")
            let markup = HistoryDialog.markup(
                MessageVersion(
                    writtenAt: .now, segments: [.init("a<", .removed), .init("b&", .added), .init("c", .unchanged)]))
            XCTAssertTrue(markup.contains("strikethrough='true'") && markup.contains("a&lt;"), markup)
            XCTAssertNotEqual(pango_parse_markup(markup, -1, 0, nil, nil, nil, nil), 0)
            try RealInput.press("Escape")
            XCTAssertTrue(bench.wait { OpenDialogs.all.isEmpty }, "Escape closes it")
            try bench.close()
        }
    }

    func testLetterKeysActOnTheFocusedMessage() throws {
        try onMain {
            let bench = try ConversationBench(30)
            var forwarded: [MessageID] = []
            bench.requests.forwardingRequested = { forwarded = $0 }
            let composer = bench.conversation.composer
            bench.timeline.grabFocus()
            try bench.press("f")
            XCTAssertTrue(bench.wait { forwarded == [MessageID("m29")] })
            try bench.press("e")
            XCTAssertTrue(bench.wait { composer.state.composer.editing == "m29" && bench.view.composerHasFocus })
            try RealInput.press("ctrl+a")
            try RealInput.type("said anew")
            try RealInput.press("Return")
            XCTAssertTrue(bench.wait { bench.row(29)?.item?.hasHistory == true })
            bench.timeline.grabFocus()
            try bench.press("h")
            XCTAssertTrue(bench.wait { OpenDialogs.active != nil }, "history")
            try RealInput.press("Escape")
            XCTAssertTrue(bench.wait { OpenDialogs.all.isEmpty })
            bench.timeline.grabFocus()
            try bench.press("Delete")
            XCTAssertTrue(bench.wait { OpenDialogs.active != nil }, "asks")
            try RealInput.press("Escape")
            XCTAssertTrue(bench.wait { OpenDialogs.all.isEmpty })
            XCTAssertEqual(bench.row(29)?.item?.isDeleted, false)
            bench.timeline.grabFocus()
            try bench.press("Delete")
            XCTAssertTrue(bench.wait { OpenDialogs.active != nil })
            try RealInput.press("alt+d")
            XCTAssertTrue(bench.wait { bench.row(29)?.item?.isDeleted == true })
            XCTAssertTrue(bench.wait { OpenDialogs.all.isEmpty })
            bench.timeline.grabFocus()
            try bench.press("Up", "e")
            XCTAssertTrue(bench.wait { composer.document.text == "e" }, "others' words are not to be edited")
            XCTAssertNil(composer.state.composer.editing)
            try bench.close()
        }
    }

    func testForwardingPreservesTheTargetRoomsDraft() throws {
        try onMain {
            let bench = try ConversationBench(30)
            let target = try finish { [backend = bench.fixture.backend] in
                let room = try await backend.createRoom(named: "Elsewhere")
                try await backend.saveDraft(SavedDraft(data: .init([1]), preview: "draft"), in: room)
                return room
            }
            let coordinator = bench.fixture.coordinator
            XCTAssertTrue(bench.wait { coordinator.rooms.state.rows.contains { $0.id == target } })
            let forwarder = try coordinator.forwarder(of: XCTUnwrap(coordinator.conversation))
            XCTAssertEqual(forwarder.destinations(matching: "elsew").map(\.id), [target])
            XCTAssertEqual(forwarder.destinations(matching: "nowhere").count, 0)
            let toasts = {
                coordinator.requests.state.pending.map(\.request)
            }
            var forwarded: [MessageID] = []
            bench.requests.forwardingRequested = { messages in
                forwarded = messages
                ForwardDialog.present(
                    over: bench.window.window, find: { forwarder.destinations(matching: $0) },
                    obstacle: { await forwarder.obstacle(in: $0) },
                    avatarLoader: AvatarLoader(service: coordinator.media),
                    choose: { forwarder.forward(messages, to: $0) })
            }
            bench.timeline.grabFocus()
            try bench.press("Menu")
            XCTAssertTrue(bench.wait { bench.timeline.menu.isOpen })
            try bench.press("Escape")
            XCTAssertTrue(bench.view.widget.activateAction("message.forward"))
            XCTAssertTrue(bench.wait { OpenDialogs.active != nil })
            XCTAssertEqual(forwarded, [MessageID("m29")])
            let dialog = try XCTUnwrap(OpenDialogs.active)
            try RealInput.type("elsewx")
            XCTAssertTrue(bench.wait { dialog.visibleTexts.contains("No Rooms Found") }, "\(dialog.visibleTexts)")
            XCTAssertFalse(dialog.visibleTexts.contains("Elsewhere"))
            try RealInput.press("BackSpace")
            XCTAssertTrue(bench.wait { Self.windowTexts().filter { $0 == "Elsewhere" }.count == 1 })
            XCTAssertFalse(dialog.visibleTexts.contains("No Rooms Found"))
            try RealInput.press("Return")
            XCTAssertTrue(bench.wait { toasts() == [.show(.message("Forwarded to Elsewhere"))] }, "\(toasts())")
            let page = try finish { [backend = bench.fixture.backend] in
                try await backend.messages(in: target, before: .max, limit: 5)
            }
            XCTAssertEqual(page.messages.map(\.text), [ConversationBench.text(29)])
            let draft = try finish { [backend = bench.fixture.backend] in try await backend.draft(in: target) }
            XCTAssertEqual(draft?.preview, "draft")
            try bench.close()
        }
    }

    func testRoomsToForwardToAreListedAsTheUserScrolls() throws {
        try onMain {
            let bench = try ConversationBench(3)
            let coordinator = bench.fixture.coordinator
            XCTAssertTrue(bench.wait { !coordinator.rooms.state.rows.isEmpty })
            let room = try XCTUnwrap(coordinator.rooms.state.rows.first)
            var chosen: [RoomID] = []
            ForwardDialog.present(
                over: bench.window.window, find: { _ in Array(repeating: room, count: 120) },
                obstacle: { _ in nil },
                avatarLoader: AvatarLoader(service: coordinator.media), choose: { chosen.append($0) })
            XCTAssertTrue(bench.wait { OpenDialogs.active != nil })
            let dialog = try XCTUnwrap(OpenDialogs.active)
            let countRows = { dialog.descendants.count { $0.isInstance(of: gtk_list_box_row_get_type()) } }
            let scrollers = dialog.descendants.compactMap {
                $0.wrapped(as: ScrolledWindow.self, gtk_scrolled_window_get_type())
            }
            let content = try XCTUnwrap(scrollers.first).verticalAdjustment
            XCTAssertTrue(bench.wait { content.pageSize > 0 && content.upper > content.pageSize })
            XCTAssertEqual(countRows(), 50)
            for count in [100, 120] {
                let upper = content.upper
                content.value = upper - content.pageSize
                XCTAssertTrue(bench.wait { countRows() == count && content.upper > upper }, "\(countRows())")
            }
            try RealInput.press("Return")
            XCTAssertTrue(bench.wait { chosen == [room.id] }, "\(chosen)")
            XCTAssertTrue(bench.wait { OpenDialogs.all.isEmpty })
            try bench.close()
        }
    }

    /// A message that arrives while the dialog is open moves its room to the top of the room list.
    func testReturnForwardsToTheRoomThatIsListedFirst() throws {
        try onMain {
            let bench = try ConversationBench(3)
            let coordinator = bench.fixture.coordinator
            XCTAssertTrue(bench.wait { coordinator.rooms.state.rows.count > 1 })
            var rooms = coordinator.rooms.state.rows
            let first = try XCTUnwrap(rooms.first).id
            var chosen: [RoomID] = []
            ForwardDialog.present(
                over: bench.window.window, find: { text in rooms.filter { text.isEmpty || $0.name.contains(text) } },
                obstacle: { _ in nil }, avatarLoader: AvatarLoader(service: coordinator.media),
                choose: { chosen.append($0) })
            XCTAssertTrue(bench.wait { OpenDialogs.active != nil })
            rooms.reverse()
            try RealInput.press("Return")
            XCTAssertTrue(bench.wait { chosen == [first] }, "\(chosen)")
            XCTAssertTrue(bench.wait { OpenDialogs.all.isEmpty })
            try bench.close()
        }
    }

    @MainActor
    private static func chips(_ bench: ConversationBench, _ number: Int) -> [String] {
        reactions(bench, number).compactMap { $0.wrapped(as: Button.self, gtk_button_get_type())?.label }
    }

    @MainActor
    private static func chip(_ bench: ConversationBench, _ number: Int) -> Widget? {
        reactions(bench, number).first
    }

    @MainActor
    private static func reactions(_ bench: ConversationBench, _ number: Int) -> [Widget] {
        guard let row = bench.row(number) else { return [] }
        return ConversationBench.descendants(of: row.widget).filter { $0.hasStyle("reaction") }
    }

    /// The texts of all windows.
    @MainActor
    private static func windowTexts() -> [String] {
        let toplevels = gtk_window_get_toplevels()
        return (0..<g_list_model_get_n_items(toplevels)).flatMap { index -> [String] in
            guard let window = g_list_model_get_item(toplevels, index) else { return [] }
            defer { g_object_unref(window) }
            return ConversationBench.descendants(of: Widget(borrowing: window)).compactMap {
                $0.wrapped(as: Label.self, gtk_label_get_type())?.text
            }
        }
    }
}
