import CGtk
import ChatCore
import ChatViewModels
import Composer
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// Mentions in a conversation: the button, the card, names without `@`, and the counter.
final class ConversationMentionTests: GtkTestCase {
    @MainActor
    private static func bench(width: Int32 = 700) throws -> ConversationBench {
        let fixture = try ConversationBench.makeRoom(
            6, unread: 0, completion: ConversationEnvironment.Completion(everyone: "Everyone in this room"))
        let bench = try ConversationBench(6, in: fixture, width: width)
        try bench.activate()
        bench.view.focusComposer()
        guard bench.wait({ bench.conversation.composer.state.composer.isFocused }) else { throw TimedOut() }
        return bench
    }

    @MainActor
    private static func text(_ bench: ConversationBench) -> String { bench.conversation.composer.document.text }

    /// SLK-25, MIB-35: the button is next to the emoji button if it fits and there is someone to mention.
    func testButtonStartsAMention() throws {
        try onMain {
            let bench = try Self.bench()
            let button = try XCTUnwrap(bench.view.widget.descendants.first { $0.tooltip == "Mention Someone" })
            XCTAssertTrue(bench.wait { button.isMapped })
            try RealInput.type("Hello")
            try RealInput.point(at: button)
            try RealInput.click()
            XCTAssertTrue(
                bench.wait { bench.conversation.composer.state.composer.completion?.items.map(\.name) == ["Alex"] },
                "SLK-25")
            XCTAssertEqual(Self.text(bench), "Hello @")
            try RealInput.press("Return")
            XCTAssertTrue(bench.wait { Self.text(bench) == "Hello @Alex " })
            XCTAssertEqual(
                bench.conversation.composer.document.mentions.first?.mention?.entityID, ConversationBench.other.rawValue
            )
            gtk_window_set_default_size(bench.window.window.cast(), 360, 600)
            XCTAssertTrue(bench.wait { !button.isMapped }, "in a narrow window the text has its room")
            XCTAssertEqual(bench.window.window.width, 360)
            try bench.close()
        }
    }

    func testAvatarsOfMembersAreNotLookedForAmongRooms() throws {
        try onMain {
            let bench = try Self.bench()
            var rooms: [String] = []
            bench.requests.lookUpRoom = {
                rooms.append($0)
                return (nil, "mxc://room")
            }
            let avatars = try XCTUnwrap(bench.view.composer.avatars)
            XCTAssertNil(avatars.uri(ConversationBench.other.rawValue))
            XCTAssertEqual(rooms, [])
            XCTAssertEqual(avatars.uri("elsewhere"), "mxc://room")
            XCTAssertEqual(rooms, ["elsewhere"])
            try bench.close()
        }
    }

    /// HKW-56: shows name, Matrix ID and avatar of the mentioned user, whatever the mention's text, and opens the chat.
    func testMentionCardShowsTheMentionedUser() throws {
        try onMain {
            let bench = try Self.bench()
            var opened: [String] = []
            bench.requests.addressActivated = { opened.append($0) }
            bench.requests.lookUpRoom = { ($0 == "#press:example.org" ? "Press" : nil, nil) }
            let mentions: [(MentionTarget, String)] = [
                (.member(ConversationBench.other.rawValue), "@Al"), (.everyone, "@room"),
                (.room("#press:example.org"), "#Press"), (.member(ConversationBench.own.rawValue), "@Robin"),
            ]
            var text = ""
            let marks = mentions.map { target, name -> WrittenText.Mark in
                let start = text.utf16.count
                text += name + " "
                return .init(.mention(target), over: TextRange(location: start, length: name.utf16.count))
            }
            let composer = bench.conversation.composer
            composer.handle(.load(try XCTUnwrap(WrittenText(text, marks: marks))))
            let card = { () -> [String] in
                guard
                    let card = bench.view.widget.descendants.first(where: { $0.hasStyle("user-card") && $0.isMapped })
                else { return [] }
                return card.visibleTexts
            }
            let shown: [(Int, [String])] = [
                (1, ["Alex", ConversationBench.other.rawValue, "Message"]), (5, ["Everyone in this room"]),
                (11, ["Press", "#press:example.org", "Open"]), (18, ["Robin", ConversationBench.own.rawValue]),
            ]
            for (caret, words) in shown {
                composer.handle(.select(.caret(caret)))
                XCTAssertTrue(bench.wait { card().filter { $0.count > 1 } == words }, "HKW-56: \(card()), not \(words)")
                XCTAssertTrue(
                    bench.view.widget.descendants.contains {
                        shim_is_a($0.pointer, adw_avatar_get_type()) != 0 && $0.isMapped
                            && gtk_widget_get_ancestor($0.cast(), gtk_popover_get_type()) != nil
                    }, "HKW-56: the picture")
            }
            composer.handle(.select(.caret(text.utf16.count)))
            XCTAssertTrue(bench.wait { card().isEmpty })
            composer.handle(.select(.caret(1)))
            XCTAssertTrue(bench.wait { card().contains("Message") })
            try RealInput.press("Tab", "Return")
            XCTAssertTrue(bench.wait { opened == [ConversationBench.other.rawValue] }, "HKW-56: to the conversation")
            XCTAssertTrue(bench.wait { card().isEmpty })
            try bench.close()
        }
    }

    /// Whether GTK would ask a widget at a point of a text for a tooltip: what is there, then what contains that.
    @MainActor
    private static func mayShowTooltip(
        _ bench: ConversationBench, over text: BodyText, at bounds: Snapshot.Rectangle
    ) -> Bool {
        let view = bench.view.widget
        guard let place = text.widget.bounds(in: view) else { return false }
        var found = gtk_widget_pick(
            view.cast(), place.x + bounds.x + 6, place.y + bounds.y + 6, GTK_PICK_INSENSITIVE)
        while let widget = found {
            if gtk_widget_get_has_tooltip(widget) != 0 { return true }
            found = gtk_widget_get_parent(widget)
        }
        return false
    }

    /// The mention of a person in a message opens the person's card; that of a room opens the room.
    func testMentionInAMessageShowsItsCard() throws {
        try onMain {
            let bench = try Self.bench()
            var opened: [String] = []
            bench.requests.addressActivated = { opened.append($0) }
            let mark = WrittenText.Mark(
                .mention(.member(ConversationBench.other.rawValue)), over: TextRange(location: 0, length: 5))
            bench.conversation.composer.handle(.load(try XCTUnwrap(WrittenText("@Alex knows", marks: [mark]))))
            try RealInput.press("Return")
            let sent = { () -> BodyText? in
                bench.view.widget.descendants.compactMap { BodyText.of($0) }.first { $0.text == "@Alex knows" }
            }
            XCTAssertTrue(bench.wait { sent()?.actions.isEmpty == false })
            bench.waitUntilIdle()
            let text = try XCTUnwrap(sent())
            let bounds = text.bounds(of: text.actions[0])
            let mayShowTooltip = { Self.mayShowTooltip(bench, over: text, at: bounds) }
            XCTAssertTrue(mayShowTooltip())
            try RealInput.point(at: text.widget, x: bounds.x + 6, y: bounds.y + 6)
            try RealInput.click()
            let card = { () -> [String] in
                let card = bench.view.widget.descendants.first { $0.hasStyle("user-card") && $0.isMapped }
                // Without the letter in the avatar.
                return card?.visibleTexts.filter { $0.count > 1 } ?? []
            }
            XCTAssertTrue(
                bench.wait { card() == ["Alex", ConversationBench.other.rawValue, "Message"] }, "\(card())")
            XCTAssertFalse(mayShowTooltip(), "it would cover the card")
            try RealInput.press("Escape")
            XCTAssertTrue(bench.wait { card().isEmpty })
            XCTAssertTrue(bench.wait { mayShowTooltip() })
            text.act(0)
            XCTAssertTrue(bench.wait { card().contains("Message") })
            try RealInput.press("Return")
            XCTAssertTrue(bench.wait { opened == [ConversationBench.other.rawValue] }, "its button has the focus")
            XCTAssertTrue(bench.wait { card().isEmpty })
            try bench.close()
        }
    }

    /// HKW-38: opt-in completion of names without `@`; off, nothing is offered.
    func testUnprefixedNameCompletionIsOptIn() throws {
        try onMain {
            let bench = try Self.bench()
            let composer = bench.conversation.composer
            try RealInput.type("Ask ale")
            XCTAssertTrue(bench.wait { Self.text(bench) == "Ask ale" })
            XCTAssertNil(composer.state.composer.completion, "HKW-38: not unasked")
            bench.fixture.coordinator.environment.preferences.writing.suggestsMembers = true
            XCTAssertTrue(bench.wait { composer.preferences.suggestsMembers })
            try RealInput.type("x so ale")
            XCTAssertTrue(
                bench.wait {
                    let completion = composer.state.composer.completion
                    return completion?.query == "ale" && completion?.items.map(\.name) == ["Alex"]
                }, "HKW-38")
            try RealInput.press("Tab")
            XCTAssertTrue(bench.wait { Self.text(bench) == "Ask alex so Alex " }, Self.text(bench))
            XCTAssertEqual(composer.document.mentions.first?.mention?.entityID, ConversationBench.other.rawValue)
            bench.fixture.coordinator.environment.preferences.writing.suggestsMembers = false
            XCTAssertTrue(bench.wait { !composer.preferences.suggestsMembers })
            try RealInput.type("ale")
            XCTAssertTrue(bench.wait { Self.text(bench) == "Ask alex so Alex ale" })
            XCTAssertNil(composer.state.composer.completion)
            try bench.close()
        }
    }

    /// SLK-14: the setting shows the counter, immediately in the open room.
    func testCounterFollowsThePreference() throws {
        try onMain {
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            defer { settings.set("character-counter", false) }
            let bench = try Self.bench()
            let view = bench.requests.makeView(of: bench.conversation, settings: settings)
            let window = TestWindow(view.widget, width: 700, height: 500)
            try RealInput.activate(window.window)
            view.focusComposer()
            try RealInput.type("four")
            XCTAssertTrue(bench.wait { Self.text(bench) == "four" })
            let counter = { view.widget.descendants.first { $0.hasStyle("composer-counter") && $0.isMapped } }
            XCTAssertNil(counter(), "SLK-14: not unasked")
            PreferencesDialog.present(settings: settings, over: nil, showing: .composer)
            let row = try XCTUnwrap(
                Widget.windows.flatMap(\.descendants).first {
                    $0.visibleTexts == ["Always Show Character Count"]
                        || $0.visibleTexts.first == "Always Show Character Count"
                            && shim_is_a($0.pointer, adw_action_row_get_type()) != 0
                })
            let toggle = try XCTUnwrap(row.descendants.first { shim_is_a($0.pointer, gtk_switch_get_type()) != 0 })
            gtk_widget_activate(toggle.cast())
            XCTAssertTrue(bench.wait { settings.bool("character-counter") && counter() != nil }, "SLK-14")
            XCTAssertEqual(counter().map { Label(borrowing: $0.pointer).text }, "4")
            OpenDialogs.closeAll()
            window.close()
            try bench.close()
        }
    }

    /// SLK-40, SLK-64: the typing indicator uses the application's translator.
    func testTypingIndicatorUsesTheApplicationsTranslator() throws {
        try onMain {
            let fixture = try ConversationBench.makeRoom(3, unread: 0)
            let german = Translator(
                translate: { $0 == "{first} and {second} are typing…" ? "{first} und {second} schreiben …" : $0 },
                plural: { one, _, _ in one })
            let coordinator = ConversationCoordinator(service: fixture.backend, translator: german)
            coordinator.start(opening: ConversationBench.room)
            XCTAssertTrue(MainLoop.pump { coordinator.conversation?.composer.state.isReady == true })
            let conversation = try XCTUnwrap(coordinator.conversation)
            let view = ConversationBench.Requests().makeView(of: conversation)
            let window = TestWindow(view.widget, width: 700, height: 500)
            conversation.composer.send(.typingUsers(["Ann", "Alex"]))
            XCTAssertTrue(
                MainLoop.pump { view.widget.visibleTexts.contains("Ann und Alex schreiben …") },
                "SLK-64: \(view.widget.visibleTexts)")
            conversation.composer.send(.typingUsers([]))
            XCTAssertTrue(MainLoop.pump { !view.widget.visibleTexts.contains("Ann und Alex schreiben …") }, "SLK-40")
            window.close()
            try fixture.close()
        }
    }
}
