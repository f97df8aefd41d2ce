import Composer
import ComposerGtk
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

/// The code of README.md and of ComposerGtk.docc/EmbeddingInTenMinutes.md that makes widgets. `make lint` compares each
/// block with a snippet.
final class EmbeddingSnippets: GtkTestCase {
    func testBarSendsTypedText() throws {
        try onMain {
            let box = Box(.vertical)
            var delivered: [String] = []
            func deliver(_ text: String) async throws { delivered.append(text) }
            // snippet
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = ComposerBar.of(widget)!
            bar.placeholder = "Message #general"
            bar.acceptsFiles = true
            bar.session.onSend = { message in
                try await deliver(message.text.source)
            }
            box.append(widget)
            // end snippet
            let window = TestWindow(box)
            try RealInput.activate(window.window)
            bar.grabFocus()
            try RealInput.type("hello")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { delivered == ["hello"] })
            window.close()
        }
    }

    func testHostPlacesMessagesAboveTheBar() throws {
        try onMain {
            // snippet
            try ComposerHost.register()
            let widget = ComposerHost.make()
            let host = ComposerHost.of(widget)!
            let messages = Box(.vertical, spacing: 6)
            host.setContent(ScrolledWindow(messages))
            host.bar?.session.onSend = { message in
                messages.append(Label(message.text.source))
            }
            // end snippet
            let window = TestWindow(widget, height: 400)
            try RealInput.activate(window.window)
            host.bar?.session.handle(.insert("hello", origin: .typed))
            host.bar?.session.handle(.send)
            XCTAssertTrue(MainLoop.pump { messages.descendants.contains { $0.isMapped } })
            window.close()
        }
    }

    func testBarHasOptionsAndButtons() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = ComposerBar.of(widget)!
            var polls = 0
            func makePoll() { polls += 1 }
            // snippet
            bar.preset = "slack"
            bar.appearance = "slack"
            bar.characterLimit = 500
            bar.returnSends = false
            // end snippet
            // snippet
            bar.itemAppearances["poll"] = ItemAppearance(icon: "view-list-symbolic", label: "New Poll")
            bar.items.add(ComposerItem(id: "poll").on(.pressed) { _ in makePoll() }, to: .start)
            // end snippet
            XCTAssertEqual(bar.session.configuration.sendKey, .ctrlReturn)
            XCTAssertEqual(bar.session.configuration.completion.queryExtent, .word)
            let window = TestWindow(widget)
            try RealInput.activate(window.window)
            let button = try XCTUnwrap(widget.descendants.first { $0.tooltip == "New Poll" })
            XCTAssertTrue(MainLoop.pump { button.isMapped })
            bar.items.item("poll")?.press()
            XCTAssertEqual(polls, 1)
            window.close()
        }
    }
}
