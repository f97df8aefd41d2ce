import CGtk
import ChatCore
import ChatViewModels
import Composer
import GtkTestSupport
import MessageMarkup
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// Rendered bodies: their text, accessibility and cost.
final class MessageBodyViewTests: GtkTestCase {
    @MainActor
    private final class Bench {
        let view = MessageBodyView()
        let body: MessageBody
        let window: TestWindow
        var links: [BodyLink] = []
        var mentions: [Mention] = []

        init(_ body: MessageBody, sender: String = "Ann") {
            self.body = body
            view.show(body, sender: sender)
            window = TestWindow(view.widget, width: 360, height: 400)
            view.onLink = { [weak self] in self?.links.append($0) }
            view.onMention = { [weak self] in self?.mentions.append($0.mention) }
        }

        convenience init(markdown: String) { self.init(MessageMarkup.body(markdown: markdown)) }

        var text: BodyText { view.texts[0] }
    }

    func testPlainTextUsesASingleLayout() {
        onMain {
            let before = BodyText.layoutsMade
            let bench = Bench(markdown: "Good morning")
            XCTAssertEqual(bench.view.selectableText, "Good morning")
            XCTAssertEqual(BodyText.layoutsMade, before + 1)
            XCTAssertEqual(gtk_widget_get_focusable(bench.text.cast()), 0)
            XCTAssertNil(pango_layout_get_attributes(bench.text.madeLayout.cast()), "nothing to look up for plain text")
            bench.view.show(MessageBody(plain: "Good morning"), sender: "Ann")
            XCTAssertEqual(BodyText.layoutsMade, before + 1, "the same body again costs nothing")
            bench.window.close()
        }
    }

    /// Its sender may edit a message at any time.
    func testFocusReturnsToTheRowWhenItsPartIsGone() throws {
        try onMain {
            let view = MessageBodyView()
            view.show(MessageMarkup.body(markdown: "```\nlet a = 1\n```"), sender: "Ann")
            let row = Box(.vertical)
            row.isFocusable = true
            row.append(view.widget)
            let window = TestWindow(row)
            let copy = try XCTUnwrap(row.descendants.first { $0.hasStyle("message-code-copy") })
            XCTAssertTrue(copy.grabFocus())
            view.show(MessageMarkup.body(markdown: "```\nlet a = 2\n```"), sender: "Ann")
            XCTAssertTrue(row.isFocus)
            try RealInput.waitForFrames(3, of: row)
            XCTAssertTrue(row.isFocus, "nor does GTK move it")
            window.close()
        }
    }

    func testLinesStayBrokenWhileTheCornerIsAsLarge() {
        onMain {
            let bench = Bench(markdown: "many words, " + String(repeating: "and more of them, ", count: 20))
            var size = (width: 40, height: 12)
            let breakings = {
                let before = BodyText.breakings
                _ = bench.view.keepCornerClear(of: { size })
                XCTAssertGreaterThan(bench.text.measure(.vertical, for: 311).natural, 0)
                return BodyText.breakings - before
            }
            XCTAssertEqual(breakings(), 1)
            XCTAssertEqual(breakings(), 0)
            size.width = 80
            XCTAssertEqual(breakings(), 1)
            _ = bench.view.keepCornerClear(of: nil)
            XCTAssertEqual(breakings(), 1)
            bench.window.close()
        }
    }

    func testTextsAreSearchedOnceForTheSameTerms() {
        onMain {
            let view = MessageBodyView()
            let (walrus, sea) = (SearchTerms(terms: ["walrus"]), SearchTerms(terms: ["sea"]))
            view.show(MessageBody(plain: "a walrus at sea"), sender: "Ann")
            view.highlight(SearchTerms(terms: []))
            XCTAssertEqual(view.searchCount, 0)
            for _ in 0..<3 { view.highlight(walrus) }
            XCTAssertEqual(view.searchCount, 1)
            XCTAssertEqual(view.highlightedText, "walrus")
            view.highlight(sea)
            XCTAssertEqual(view.highlightedText, "sea")
            view.show(MessageMarkup.body(markdown: "a walrus\n\n> by the sea"), sender: "Ann")
            view.highlight(sea)
            XCTAssertEqual(view.highlightedText, "sea", "the same terms in another body")
            view.show(MessageBody(plain: "a sea without walrus"), sender: "Ann")
            view.highlight(SearchTerms(terms: []))
            XCTAssertNil(view.highlightedText)
            XCTAssertEqual(view.searchCount, 3)
        }
    }

    func testLinesAreBrokenOnceAWidth() {
        onMain {
            let bench = Bench(markdown: "many words, " + String(repeating: "and more of them, ", count: 20))
            let text = bench.text
            let before = BodyText.breakings
            for _ in 0..<3 {
                for width in [311, 211] { XCTAssertGreaterThan(text.measure(.vertical, for: width).natural, 0) }
            }
            XCTAssertEqual(BodyText.breakings, before + 2)
            bench.window.close()
        }
    }

    func testLinkBackgroundEndsWithItsText() {
        onMain {
            let bench = Bench(
                markdown: "[a link of so many words that it has to go on in a second line somewhere](https://a.example)"
            )
            let layout = bench.text.madeLayout
            let places = bench.text.rectangles(of: bench.text.actions[0].range, in: layout)
            guard places.count == 2 else { return XCTFail("\(places.count) lines") }
            XCTAssertLessThan(places[0].x + places[0].width, Double(bench.text.widget.width), "not to the edge")
            XCTAssertEqual(places[0].y + places[0].height, places[1].y, accuracy: 1)
            bench.window.close()
        }
    }

    func testBlocksBecomeTextsInReadingOrder() {
        onMain {
            let bench = Bench(
                markdown: "# T\na *b*\n\n> q\n\n1. one\n   - two\n\n```swift\nlet x\n```\n\n| h | i |\n|-|-|\n| c | d |"
            )
            XCTAssertEqual(bench.view.texts.map(\.text), ["T", "a b", "q", "one", "two", "let x", "h", "i", "c", "d"])
            XCTAssertEqual(bench.view.selectableText, bench.body.selectableText(by: "Ann"))
            bench.view.select(2..<9)
            XCTAssertEqual(
                bench.view.texts.map(\.selected), [nil, 0..<3, 0..<1, 0..<1] + Array(repeating: nil, count: 6))
            bench.view.show(MessageBody(plain: "again plain"), sender: "Ann")
            XCTAssertEqual(bench.view.selectableText, "again plain")
            XCTAssertEqual(bench.view.widget.children.count, 1)
            bench.window.close()
        }
    }

    func testPointerPositionsMapToTextOffsets() {
        onMain {
            let bench = Bench(markdown: "first paragraph\n\nsecond")
            XCTAssertTrue(MainLoop.pump { bench.view.texts[1].widget.height > 0 })
            XCTAssertEqual(bench.view.offset(atX: 0, y: 3, in: bench.view.widget), 0)
            XCTAssertEqual(bench.view.offset(atX: 350, y: 3, in: bench.view.widget), 15)
            guard let second = bench.view.texts[1].widget.bounds(in: bench.view.widget) else {
                return XCTFail("not laid out")
            }
            XCTAssertEqual(bench.view.offset(atX: 0, y: second.y + 3, in: bench.view.widget), 16)
            XCTAssertEqual(bench.view.offset(atX: 350, y: 390, in: bench.view.widget), 22)
            bench.window.close()
        }
    }

    func testSpoilersMustBeRevealedFirst() {
        onMain {
            let bench = Bench(markdown: "||see https://a.example|| end")
            XCTAssertEqual(bench.text.actions.count, 2)
            XCTAssertTrue(bench.text.isCovered(0))
            guard let link = bench.text.rectangles(of: bench.text.actions[1].range, in: bench.text.madeLayout).first
            else {
                return XCTFail("not laid out")
            }
            let hit = bench.text.action(atX: link.x + 4, y: link.y + 4)
            XCTAssertEqual(hit, 0, "the cover lies over the link")
            bench.text.act(1)
            XCTAssertFalse(bench.text.isCovered(0))
            XCTAssertEqual(bench.links, [], "a link under a cover is not opened by the same click")
            XCTAssertEqual(bench.text.action(atX: link.x + 4, y: link.y + 4), 1)
            bench.text.act(1)
            XCTAssertEqual(bench.links.map(\.target.address), ["https://a.example"])
            bench.window.close()
        }
    }

    func testLinkUnderAPointIsFoundUnlessItIsCovered() {
        onMain {
            let bench = Bench(markdown: "first\n\nhttps://a.example ||and https://b.example||")
            let (view, text) = (bench.view, bench.view.texts[1])
            XCTAssertTrue(MainLoop.pump { text.widget.isMapped && text.widget.height > 0 })
            @MainActor func address(at index: Int) -> String? {
                let place = text.bounds(of: text.actions[index])
                return text.widget.translate(x: place.x + 4, y: place.y + 4, to: view.widget)
                    .flatMap { view.link(atX: $0.x, y: $0.y, in: view.widget) }?.target.address
            }
            XCTAssertEqual(text.actions.count, 3)
            XCTAssertEqual(address(at: 0), "https://a.example")
            XCTAssertNil(address(at: 2), "the cover lies over the link")
            text.act(1)
            XCTAssertEqual(address(at: 2), "https://b.example")
            XCTAssertNil(view.link(atX: 4, y: 4, in: view.widget), "no link in the first paragraph")
            bench.window.close()
        }
    }

    func testClickingAMentionRequestsItsMember() {
        onMain {
            let bench = Bench(MessageMarkup.body(html: "<a href='https://matrix.to/#/@ann:a.example'>Ann</a>, hi"))
            bench.text.act(0)
            XCTAssertEqual(bench.mentions, [Mention(.member("@ann:a.example"), text: "Ann")])
            XCTAssertEqual(bench.links, [])
            bench.window.close()
        }
    }

    func testEmotesNameTheirSenderAndLoneEmojiAreEnlarged() {
        onMain {
            let bench = Bench(MessageMarkup.body(markdown: "waves *hard*", isEmote: true))
            XCTAssertEqual(bench.view.selectableText, "* Ann waves hard")
            XCTAssertEqual(bench.body.selectableText(by: "Ann"), "* Ann waves hard")
            bench.view.show(MessageMarkup.body(markdown: "👍"), sender: "Ann")
            XCTAssertGreaterThan(bench.text.content.scale, 2)
            bench.view.show(MessageMarkup.body(markdown: "👍 yes"), sender: "Ann")
            XCTAssertEqual(bench.text.content.scale, 1)
            bench.window.close()
        }
    }

    /// The text of a plain message is used again: what a search has found in one is not highlighted in another.
    func testSearchHighlightsStayWithTheirMessage() {
        onMain {
            let bench = Bench(markdown: "red roses")
            let text = bench.text
            bench.view.highlight(SearchTerms(terms: ["roses"]))
            XCTAssertEqual(bench.view.highlightedText, "roses")
            bench.view.show(MessageMarkup.body(markdown: "# Flowers\n\nand trees"), sender: "Ann")
            bench.view.highlight(SearchTerms(terms: []))
            bench.view.show(MessageMarkup.body(markdown: "red tulips"), sender: "Ann")
            bench.view.highlight(SearchTerms(terms: []))
            XCTAssertTrue(bench.text === text)
            XCTAssertEqual(text.highlightedRanges, [])
            bench.window.close()
        }
    }

    func testExpandedAndCollapsedDetailsAreReported() {
        onMain {
            let bench = Bench(MessageMarkup.body(html: "<details><summary>More</summary>words</details>"))
            var toggles = 0
            bench.view.onDetailsToggle = { toggles += 1 }
            let expander = bench.view.widget.descendants.first { $0.isInstance(of: gtk_expander_get_type()) }
            expander?.setProperty("expanded", true)
            XCTAssertEqual(toggles, 1)
            expander?.setProperty("expanded", false)
            XCTAssertEqual(toggles, 2)
            bench.window.close()
        }
    }

    func testHighlightingCodeDoesNotChangeItsSize() {
        onMain {
            let bench = Bench(markdown: "```python\ndef f(x):\n    return \"é\" # note\n```")
            XCTAssertTrue(MainLoop.pump { bench.text.widget.height > 0 })
            let size = (bench.text.widget.width, bench.text.widget.height)
            XCTAssertTrue(MainLoop.pump { !bench.text.content.highlights.isEmpty }, "the engine colours what is drawn")
            let ranges = bench.text.content.highlights.map(\.range)
            XCTAssertTrue(ranges.contains(0..<3), "def: \(ranges)")
            XCTAssertTrue(ranges.contains { $0.upperBound == bench.text.text.utf8.count }, "the comment at the end")
            XCTAssertTrue(
                bench.text.content.highlights.allSatisfy { $0.range.upperBound <= bench.text.text.utf8.count })
            MainLoop.iterate()
            XCTAssertEqual(bench.text.widget.width, size.0)
            XCTAssertEqual(bench.text.widget.height, size.1)
            bench.window.close()
        }
    }

    func testLongCodeBeginsAtItsLeftEndInEveryLanguage() {
        onMain {
            gtk_widget_set_default_direction(GTK_TEXT_DIR_RTL)
            defer { gtk_widget_set_default_direction(GTK_TEXT_DIR_LTR) }
            let line = Array(repeating: "let seconds = minutes * 60", count: 8).joined(separator: "; ")
            let bench = Bench(markdown: "```\n\(line)\n```")
            XCTAssertGreaterThan(bench.text.widget.width, bench.view.widget.width, "it scrolls")
            let start = bench.text.widget.translate(x: 0, y: 0, to: bench.view.widget)
            XCTAssertGreaterThanOrEqual(start?.x ?? -1, 0)
            bench.window.close()
        }
    }

    func testLongCodeScrollsAndEverythingElseWraps() {
        onMain {
            let bench = Bench(
                markdown: "```\n" + String(repeating: "x", count: 400) + "\n```\n\n"
                    + String(repeating: "y", count: 400))
            var minimum: Int32 = 0
            gtk_widget_measure(bench.view.widget.cast(), GTK_ORIENTATION_HORIZONTAL, -1, &minimum, nil, nil, nil)
            XCTAssertLessThan(minimum, 320)
            bench.window.close()
        }
    }

    /// Each text fits into its allocation at any width, however wide the bubble.
    func testTextsFitTheirAllocationAtAnyWidth() {
        let long = "words that go on and on until they need more than a line of their own, whatever the width"
        onMain {
            for markdown in [
                long, "# \(long)\n\n\(long)", "1. \(long)\n2. b\n   - c\n   - \(long)\n3. d",
                "> \(long)\n> > \(long)\n\nx",
                "## a\nwords *that* go on and on until they need more than a line:\n\n1. b\n2. c\n   - d\n   - \(long)\n3. e",
                "| \(long) | b |\n|-|-|\n| c | \(long) |", "- [ ] \(long)\n\n```\n\(long)\n```",
            ] {
                for width: Int32 in [360, 700, 1200] {
                    let view = MessageBodyView()
                    view.show(MessageMarkup.body(markdown: markdown), sender: "Ann")
                    let bubble = Box(.vertical)
                    gtk_widget_set_halign(bubble.cast(), GTK_ALIGN_START)
                    bubble.append(view.widget)
                    let row = Box(.vertical)
                    row.append(bubble)
                    let window = TestWindow(row, width: width, height: 600)
                    for text in view.texts {
                        XCTAssertTrue(MainLoop.pump { text.widget.height > 0 })
                        let place = text.widget.bounds(in: bubble)
                        let needed = text.measure(.vertical, for: text.widget.width).natural
                        XCTAssertGreaterThanOrEqual(text.widget.height, needed, "\(text.text) at \(width)")
                        XCTAssertLessThanOrEqual(
                            (place?.y ?? 0) + (place?.height ?? 0), Double(bubble.height), "\(text.text) at \(width)")
                    }
                    window.close()
                }
            }
        }
    }

    func testDeeplyNestedBlocksAreDrawn() {
        onMain {
            let bench = Bench(MessageMarkup.body(html: String(repeating: "<blockquote><ul><li>", count: 40) + "deep"))
            XCTAssertEqual(bench.view.selectableText, "deep")
            bench.window.close()
        }
    }

    func testBodyViewIsFinalizedWithItsTexts() {
        onMain {
            var gone = 0
            do {
                let bench = Bench(markdown: "a [b](https://a.example)\n\n```swift\nlet x\n```\n\n> ||c||")
                for text in bench.view.texts { text.widget.onFinalize { gone += 1 } }
                XCTAssertEqual(bench.view.texts.count, 3)
                bench.window.close()
            }
            XCTAssertTrue(MainLoop.pump { gone == 3 })
        }
    }
}

/// Checks before a link is opened.
final class LinkOpenerTests: GtkTestCase {
    @MainActor
    private final class Bench {
        let opener = LinkOpener()
        let window = TestWindow(Label("x"))
        var launched: [String] = []

        init() {
            opener.launch = { [weak self] address, _ in self?.launched.append(address) }
        }

        func open(_ address: String, shownAs text: String) {
            guard let target = LinkTarget(address) else { return XCTFail("not an address: \(address)") }
            opener.open(BodyLink(to: target, shownAs: text), from: window.window)
        }
    }

    func testLinkWithMatchingTextOpensDirectly() {
        onMain {
            let bench = Bench()
            bench.open("https://a.example/x", shownAs: "a.example/x")
            XCTAssertEqual(bench.launched, ["https://a.example/x"])
            XCTAssertNil(bench.opener.dialog)
            bench.window.close()
        }
    }

    func testLinkWithMisleadingTextNeedsConfirmation() {
        onMain {
            let bench = Bench()
            bench.open("https://evil.example", shownAs: "https://bank.example")
            guard let dialog = bench.opener.dialog else { return XCTFail("no question") }
            XCTAssertEqual(bench.launched, [])
            dialog.respond("open")
            XCTAssertEqual(bench.launched, ["https://evil.example"])
            XCTAssertNil(bench.opener.dialog)
            bench.open("https://a.example", shownAs: "here")
            guard let second = bench.opener.dialog else { return XCTFail("no question") }
            second.respond("cancel")
            XCTAssertEqual(bench.launched, ["https://evil.example"])
            bench.window.close()
        }
    }

    func testConfirmationExplainsSuspiciousLinks() {
        onMain {
            let explain: @MainActor (String, String) -> String = { address, text in
                LinkTarget(address).map {
                    LinkConfirmation(BodyLink(to: $0, shownAs: text))
                        .body(.untranslated, asciiHost: { HostName.ascii($0) ?? $0 })
                } ?? ""
            }
            XCTAssertTrue(explain("https://аpple.example/", "x").contains("xn--pple-43d.example"))
            XCTAssertTrue(explain("https://bank.example@evil.example/", "x").contains("opens evil.example"))
            XCTAssertTrue(explain("https://a.example", "b.example").contains("a different address"))
            XCTAssertEqual(explain("https://a.example/y", "x"), "https://a.example/y")
        }
    }
}
