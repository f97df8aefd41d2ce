import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk
@testable import TimelineGtk

/// Link preview cards in messages.
final class LinkPreviewTests: GtkTestCase {
    @MainActor
    private final class Asked {
        var opened: [String] = []
        var outputs: MessageRow.Outputs {
            .ignoring(linkActivated: { link, _ in self.opened.append(link.target.address) })
        }
    }

    /// Has a preview and counts the requests.
    private final class Pages: RoomCapabilityService {
        let asked = Counter()
        var capabilities: BackendCapabilities { [.linkPreviews] }
        func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview? {
            await asked.count()
            guard address == "https://example.org/roses" else { return nil }
            return LinkPreview(
                title: "All about \u{202E}roses", summary: "How they grow, and where.", site: "Example", picture: nil)
        }
    }

    /// Has a preview of every page, but responds only once `gate` finishes.
    private final class SlowPages: RoomCapabilityService {
        let gate = AsyncStream.makeStream(of: Void.self)
        var capabilities: BackendCapabilities { [.linkPreviews] }
        func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview? {
            for await _ in gate.stream {}
            return LinkPreview(title: "A page", summary: "What is on it", site: "Example", picture: nil)
        }
    }

    /// Message rows, one of them with a link.
    private final class Rows: TimelineListSource {
        let media: MediaPresenter
        let outputs: MessageRow.Outputs
        let linkPreviews: () -> LinkPreviews?
        let items: [TimelineItem]
        var shown: [MessageRow] = []
        static let linked = 34

        init(
            _ media: MediaPresenter, _ outputs: MessageRow.Outputs, linkPreviews: @escaping () -> LinkPreviews?
        ) throws {
            self.media = media
            self.outputs = outputs
            self.linkPreviews = linkPreviews
            items = try (0..<40).map { index in
                let linked = try LinkPreviewTests.item("https://example.org/roses")
                guard index != Self.linked, case .message(var item) = linked else { return linked }
                item.body = MessageBody(plain: "Number \(index)")
                return .message(item)
            }
        }

        var count: Int { items.count }
        func key(at index: Int) -> AnyHashable { index }
        func index(of key: AnyHashable) -> Int? { key.base as? Int }
        func kind(at index: Int) -> Int { 0 }
        func makeRow(kind: Int) -> any TimelineListRow {
            shown.append(MessageRow(isOwn: false, media: media, linkPreviews: linkPreviews, outputs: outputs))
            return shown[shown.count - 1]
        }
        func bind(_ row: any TimelineListRow, at index: Int) {
            (row as? MessageRow)?.show(items[index], selected: nil)
        }
    }

    /// A card that appears above the scroll anchor does not move the rows below it.
    func testAppearingLinkPreviewMovesNoRowsBelow() throws {
        try onMain {
            let fixture = try ChatFixture()
            let (asked, pages) = (Asked(), SlowPages())
            let media = MediaPresenter(service: fixture.backend)
            let previews = try XCTUnwrap(LinkPreviews(room: RoomID("r"), service: pages))
            let rows = try Rows(media, asked.outputs) { previews }
            let (widget, list) = TimelineList.create()
            list.source = rows
            let scroller = ScrolledWindow(sinking: gtk_scrolled_window_new())
            scroller.setChild(widget)
            let window = TestWindow(scroller, width: 480, height: 400)
            XCTAssertTrue(MainLoop.pump { list.row(for: 39)?.widget.isMapped == true && !list.isBusy })
            // Scroll slightly up, so that the list is not anchored at its end.
            let end = try XCTUnwrap(list.row(for: 37)?.widget.bounds(in: scroller))
            list.scroll(by: -40)
            XCTAssertTrue(MainLoop.pump { list.row(for: 37)?.widget.bounds(in: scroller)?.y == end.y + 40 })
            let read = try XCTUnwrap(list.row(for: 37)?.widget.bounds(in: scroller))
            let linked = try XCTUnwrap(list.row(for: Rows.linked) as? MessageRow)
            let height = linked.widget.height
            XCTAssertFalse(linked.preview.widget.isVisible)
            pages.gate.continuation.finish()
            XCTAssertTrue(MainLoop.pump { linked.preview.widget.isMapped && linked.widget.height > height })
            XCTAssertTrue(MainLoop.pump { !list.isBusy })
            let now = try XCTUnwrap(list.row(for: 37)?.widget.bounds(in: scroller))
            XCTAssertEqual(now.y, read.y, accuracy: 1)
            window.close()
            try fixture.close()
        }
    }

    private actor Counter {
        private(set) var value = 0
        func count() { value += 1 }
    }

    fileprivate static func item(_ address: String, spoiler: Bool = false) throws -> TimelineItem {
        let link = BodyLink(to: try XCTUnwrap(LinkTarget(address)), shownAs: address)
        let run = InlineRun(address, link: link, spoiler: spoiler ? Spoiler() : nil)
        return .message(
            MessageItem(
                message: Fixtures.message(1, by: Fixtures.other, text: address),
                body: MessageBody(blocks: [.text(InlineText([run]))]), senderName: "Ann", isOwn: false,
                startsGroup: true, endsGroup: true))
    }

    func testLinkPreviewAppearsWhenLoadedAndOpensItsLink() throws {
        try onMain {
            let fixture = try ChatFixture()
            let (asked, pages) = (Asked(), Pages())
            let media = MediaPresenter(service: fixture.backend)
            let previews = try XCTUnwrap(LinkPreviews(room: RoomID("r"), service: pages))
            var isOn = false
            let row = MessageRow(
                isOwn: false, media: media, linkPreviews: { isOn ? previews : nil }, outputs: asked.outputs)
            let window = TestWindow(row.widget, width: 480, height: 300)
            row.show(try Self.item("https://example.org/roses"), selected: nil)
            XCTAssertNil(
                previews.cachedPreview(of: "https://example.org/roses") as Any?, "nothing is asked unless it is wanted")
            isOn = true
            row.show(try Self.item("https://example.org/roses"), selected: nil)
            XCTAssertFalse(row.preview.widget.isVisible)
            XCTAssertTrue(MainLoop.pump { row.preview.widget.isMapped && row.preview.widget.width > 100 })
            gtk_widget_activate(row.preview.widget.cast())
            XCTAssertTrue(MainLoop.pump { asked.opened == ["https://example.org/roses"] })
            row.show(try Self.item("https://example.org/roses", spoiler: true), selected: nil)
            XCTAssertFalse(row.preview.widget.isVisible, "not of what is hidden")
            row.show(try Self.item("https://example.org/roses"), selected: nil)
            XCTAssertTrue(row.preview.widget.isVisible, "at once: it is known")
            row.show(try Self.item("https://example.org/nothing"), selected: nil)
            XCTAssertTrue(MainLoop.pump { previews.cachedPreview(of: "https://example.org/nothing") != nil })
            XCTAssertFalse(row.preview.widget.isVisible)
            isOn = false
            row.show(try Self.item("https://example.org/roses"), selected: nil)
            XCTAssertFalse(row.preview.widget.isVisible, "when it is wanted no more")
            XCTAssertEqual(try finish { await pages.asked.value }, 2, "each once")
            window.close()
            try fixture.close()
        }
    }
}
