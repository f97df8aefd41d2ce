import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// The conversation frame as a third-party application uses it.
final class ComposerHostTests: GtkTestCase {
    private static let interface = """
        <interface>
          <object class="ParlanceComposerHost" id="host">
            <child><object class="%s" id="content"/></child>
            <child type="indicator">
              <object class="GtkLabel" id="typing"><property name="label">Ann types</property></object>
            </child>
            <child type="overlay"><object class="GtkButton" id="jump"><property name="halign">end</property></object></child>
          </object>
        </interface>
        """

    /// SLK-1: any content, scrollable or not, can be placed above the composer from a `.ui` file.
    func testAnyContentFitsAboveTheComposer() throws {
        try onMain {
            try ComposerHost.register()
            for kind in ["GtkListView", "GtkGridView", "GtkTextView", "GtkScrolledWindow", "GtkLabel"] {
                let builder = Builder(text: Self.interface.replacing("%s", with: kind))
                let (widget, content): (Widget, Widget) = (builder["host"], builder["content"])
                let host = try XCTUnwrap(ComposerHost.of(widget))
                let window = TestWindow(widget, width: 400, height: 400)
                XCTAssertTrue(MainLoop.pump { content.isMapped && content.height > 200 }, "SLK-1: \(kind)")
                let foot = try XCTUnwrap(host.bar?.widget.bounds(in: widget))
                XCTAssertEqual(foot.y + foot.height, 400, accuracy: 14, "\(kind): the composer is at the foot")
                XCTAssertTrue(builder["jump", Widget.self].isMapped, "over the content")
                window.close()
            }
        }
    }

    /// MIB-50: content and composer are siblings and move between windows together.
    func testContentAndComposerMoveBetweenWindows() throws {
        try onMain {
            try ComposerHost.register()
            let widget = ComposerHost.make()
            let host = try XCTUnwrap(ComposerHost.of(widget))
            let content = Label("messages")
            host.setContent(content)
            host.maxWidth = 300
            let box = Box(.vertical)
            box.append(widget)
            let window = TestWindow(box, width: 500, height: 400)
            let bar = try XCTUnwrap(host.bar?.widget)
            for part in [content, bar] {
                XCTAssertNotEqual(gtk_widget_is_ancestor(part.cast(), widget.cast()), 0, "MIB-50")
            }
            XCTAssertEqual(gtk_widget_is_ancestor(bar.cast(), content.cast()), 0)
            XCTAssertTrue(MainLoop.pump { content.width == 500 && bar.width == 300 }, "\(content.width), \(bar.width)")
            box.remove(widget)
            let other = TestWindow(widget, width: 400, height: 400)
            XCTAssertTrue(
                MainLoop.pump { content.isMapped && bar.isMapped && content.width == 400 }, "MIB-50: none is lost")
            other.close()
            window.close()
        }
    }

    /// SLK-3, SLK-42: the typing indicator shrinks the content and has no height while nobody types.
    func testTypingIndicatorShrinksTheContent() throws {
        try onMain {
            try ComposerHost.register()
            let builder = Builder(text: Self.interface.replacing("%s", with: "GtkLabel"))
            let (widget, content): (Widget, Widget) = (builder["host"], builder["content"])
            let host = try XCTUnwrap(ComposerHost.of(widget))
            let window = TestWindow(widget, width: 400, height: 400)
            let before = content.height
            let bar = try XCTUnwrap(host.bar?.widget.bounds(in: widget))
            host.showsIndicator = true
            let typing: Widget = builder["typing"]
            XCTAssertTrue(MainLoop.pump { content.height == before - typing.height && typing.height > 10 })
            XCTAssertEqual(host.bar?.widget.bounds(in: widget)?.y, bar.y, "the bar stays where it is")
            host.showsIndicator = false
            XCTAssertTrue(MainLoop.pump { content.height == before })
            window.close()
        }
    }

    /// SLK-3: the content shrinks as the composer grows. SLK-69: sending needs only a closure, no setup call.
    func testContentShrinksAsTheBarGrows() throws {
        try onMain {
            try ComposerHost.register()
            let widget = ComposerHost.make()
            let host = try XCTUnwrap(ComposerHost.of(widget))
            let content = Label("messages")
            host.setContent(content)
            let bar = try XCTUnwrap(host.bar)
            var sent: [String] = []
            bar.session.onSend = { sent.append($0.text.source) }
            let window = TestWindow(widget, width: 400, height: 400)
            let before = content.height
            try RealInput.activate(window.window)
            bar.grabFocus()
            try RealInput.type("a")
            try RealInput.press("shift+Return", "shift+Return")
            XCTAssertTrue(MainLoop.pump { content.height < before - 20 })
            try RealInput.type("b")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { sent == ["a\n\nb"] }, "\(sent)")
            XCTAssertTrue(MainLoop.pump { content.height == before })
            let other = Label("You cannot write here")
            host.setComposer(other)
            XCTAssertNil(host.bar)
            XCTAssertTrue(MainLoop.pump { other.isMapped })
            window.close()
        }
    }

    func testClosedHostsAreFinalized() throws {
        try onMain {
            try ComposerHost.register()
            var isGone = false
            do {
                let widget = ComposerHost.make()
                widget.onFinalize { isGone = true }
                ComposerHost.of(widget)?.setContent(Label("content"))
                let window = TestWindow(widget)
                ComposerHost.of(widget)?.bar?.text = "a\nb\nc"
                window.close()
            }
            XCTAssertTrue(MainLoop.pump { isGone }, "nothing holds a host that was closed")
        }
    }
}
