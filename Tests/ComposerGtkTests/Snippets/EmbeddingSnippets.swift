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
            let composer = ComposerBar()
            composer.placeholder = "Message #general"
            composer.acceptsFiles = true
            composer.onSend = { message in
                try await deliver(message.text.source)
            }
            box.append(composer.widget)
            // end snippet
            let window = TestWindow(box)
            try RealInput.activate(window.window)
            composer.grabFocus()
            try RealInput.type("hello")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { delivered == ["hello"] })
            window.close()
        }
    }

    func testHostPlacesMessagesAboveTheBar() throws {
        try onMain {
            let composer = ComposerBar()
            // snippet
            let messages = Box(.vertical, spacing: 6)
            composer.onSend = { message in messages.append(Label(message.text.source)) }
            let host = ComposerHost()
            host.setContent(ScrolledWindow(messages))
            host.setComposer(composer.widget)
            // end snippet
            let window = TestWindow(host.widget, height: 400)
            try RealInput.activate(window.window)
            composer.session.handle(.insert("hello", origin: .typed))
            composer.session.handle(.send)
            XCTAssertTrue(MainLoop.pump { messages.descendants.contains { $0.isMapped } })
            window.close()
        }
    }

    func testBarHasOptionsAndButtons() throws {
        try onMain {
            let composer = ComposerBar()
            var polls = 0
            func makePoll() { polls += 1 }
            // snippet
            composer.preset = "slack"
            composer.appearance = "slack"
            composer.characterLimit = 500
            composer.returnSends = false
            // end snippet
            // snippet
            composer.itemAppearances["poll"] = ItemAppearance(icon: "view-list-symbolic", label: "New Poll")
            composer.items.add(ComposerItem(id: "poll").on(.pressed) { _ in makePoll() }, to: .start)
            // end snippet
            XCTAssertEqual(composer.session.configuration.sendKey, .ctrlReturn)
            XCTAssertEqual(composer.session.configuration.completion.queryExtent, .word)
            let window = TestWindow(composer.widget)
            try RealInput.activate(window.window)
            let button = try XCTUnwrap(composer.widget.descendants.first { $0.tooltip == "New Poll" })
            XCTAssertTrue(MainLoop.pump { button.isMapped })
            composer.items.item("poll")?.press()
            XCTAssertEqual(polls, 1)
            window.close()
        }
    }
}
