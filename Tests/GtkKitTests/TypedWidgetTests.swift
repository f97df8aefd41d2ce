import CGtk
import Foundation
import GtkKit
import GtkTestSupport
import XCTest

/// Widgets and other wrappers that need no C pointers from their users.
final class TypedWidgetTests: GtkTestCase {
    func testAListReportsTheIndexOfTheActivatedRow() {
        onMain {
            let list = ListBox()
            for name in ["a", "b", "c"] { list.append(ListBoxRow(Label(name))) }
            var activated: [Int] = []
            list.onRowActivated { activated.append($0) }
            list.children[1].withPointer { (row: UnsafeMutablePointer<GtkWidget>) in _ = gtk_widget_activate(row) }
            XCTAssertEqual(activated, [1])
            list.removeAll()
            XCTAssertEqual(list.children.count, 0)
        }
    }

    func testAStatusPageGetsItsIconWhenShown() {
        onMain {
            let stack = Stack()
            let page = StatusPage(title: "No Rooms", iconName: "one")
            page.setIconWhenShown("two")
            stack.add(Label("Rooms"))
            stack.add(page)
            let window = TestWindow(stack)
            XCTAssertTrue(MainLoop.pump { stack.height > 0 })
            XCTAssertEqual(page.iconName, "one", "measured, but hidden")
            stack.show(page)
            XCTAssertEqual(page.iconName, "two")
            window.close()
        }
    }

    func testATooltipLeavesAWidgetVisible() {
        onMain {
            let (shown, hidden) = (Label("a"), Label("b"))
            hidden.isVisible = false
            for label in [shown, hidden] {
                label.tooltip = "Reply"
                XCTAssertEqual(label.tooltip, "Reply")
            }
            XCTAssertTrue(shown.isVisible)
            XCTAssertFalse(hidden.isVisible)
            shown.tooltip = nil
            XCTAssertNil(shown.tooltip)
            XCTAssertFalse(shown.hasTooltip)
        }
    }

    func testTitlesOfRowsAreNoMarkup() {
        onMain {
            let row = ActionRow("<b>A & B</b>")
            row.setSubtitle("1 < 2")
            XCTAssertEqual(row.text(ofProperty: "title"), "&lt;b&gt;A &amp; B&lt;/b&gt;")
            // The property returns the text without its markup in libadwaita 1.2: ask the label.
            let texts = row.descendants.compactMap { $0.wrapped(as: Label.self, gtk_label_get_type())?.text }
            XCTAssertTrue(texts.contains("1 < 2"), "\(texts)")
            XCTAssertEqual(Toast("A & B").text(ofProperty: "title"), "A &amp; B")
        }
    }

    func testOneCheckButtonOfAGroupIsActive() {
        onMain {
            let (first, second) = (CheckButton("1"), CheckButton("2"))
            second.join(first)
            first.isActive = true
            second.isActive = true
            XCTAssertFalse(first.isActive)
        }
    }

    func testACalendarMovesItsSelectionAcrossMonths() {
        onMain {
            let calendar = MonthCalendar()
            let date = DateComponents(calendar: .current, year: 2024, month: 1, day: 31, hour: 15).date ?? Date()
            XCTAssertTrue(calendar.select(date))
            XCTAssertEqual(calendar.selectedDay, Calendar.current.startOfDay(for: date))
            var selections = 0
            calendar.onSelect { selections += 1 }
            calendar.moveSelection(months: 1)
            XCTAssertEqual(calendar.selectedDay?.formatted(pattern: "%Y-%m-%d"), "2024-02-29")
            calendar.moveSelection(days: 1)
            XCTAssertEqual(calendar.selectedDay?.formatted(pattern: "%Y-%m-%d"), "2024-03-01")
            XCTAssertGreaterThanOrEqual(selections, 2)
        }
    }

    func testLayoutReportsLinesAndPositions() throws {
        try onMain {
            let label = Label()
            let layout = TextLayout("one two three", in: label)
            let whole = layout.size
            XCTAssertEqual(layout.position(atX: 0, y: 0).offset, 0)
            XCTAssertFalse(layout.position(atX: Double(whole.width) + 50, y: 0).isInside)
            layout.setWidth(whole.width / 2)
            var lines: [TextLayout.Line] = []
            layout.forEachLine {
                lines.append($0)
                return true
            }
            XCTAssertGreaterThan(lines.count, 1)
            XCTAssertGreaterThan(layout.size.height, whole.height)
            let last = try XCTUnwrap(lines.last)
            XCTAssertEqual(last.start + last.length, 13)
            let extents = try XCTUnwrap(lines.first?.extents(of: 0..<3).first)
            XCTAssertGreaterThan(extents.right, extents.left)
            let plain = TextLayout("one two three", in: label)
            let attributes = TextAttributes()
            attributes.add(.scaled(2), to: 0..<3)
            plain.setAttributes(attributes)
            XCTAssertGreaterThan(plain.size.width, whole.width)
        }
    }

    func testThePunctuationOfAValueStaysInPlaceInARightToLeftSentence() throws {
        try onMain {
            let text = translated("دعوة من {name} إلى الغرفة", ["name": "@ann:example.org"])
            XCTAssertLessThan(try Self.left(of: "@", in: text), try Self.left(of: "a", in: text))
        }
    }

    func testAValueThatBeginsARightToLeftSentenceIsDrawnAtItsRight() throws {
        try onMain {
            let text = translated("{name} غادر", ["name": "Ann"])
            XCTAssertGreaterThan(try Self.left(of: "A", in: text), try Self.left(of: "غ", in: text))
        }
    }

    /// Returns the left edge of the first such character of a text on one line.
    @MainActor
    private static func left(of character: Character, in text: String) throws -> Double {
        let start = text.prefix(while: { $0 != character }).utf8.count
        let label = Label()
        var edges: [Double] = []
        TextLayout(text, in: label).forEachLine { line in
            edges += line.extents(of: start..<start + character.utf8.count).map { $0.left }
            return false
        }
        return try XCTUnwrap(edges.first)
    }

    func testAnOverlayIsPlacedByItsClosure() {
        onMain {
            let (overlay, label) = (Overlay(), Label("over"))
            overlay.setChild(Box(.horizontal))
            overlay.addOverlay(label) { overlay in
                Allocation(x: overlay.width - 80, y: 20, width: 60, height: 40)
            }
            let window = TestWindow(overlay)
            defer { window.close() }
            XCTAssertTrue(MainLoop.pump { label.bounds(in: overlay)?.y == 20 })
            XCTAssertEqual(label.bounds(in: overlay)?.x, Double(overlay.width - 80))
            XCTAssertEqual(label.height, 40)
        }
    }

    func testAWidgetReportsThatItIsShownAndItsWindow() {
        onMain {
            let label = Label("shown")
            var log: [String] = []
            label.onMap { log.append("map \($0.window != nil)") }
            label.onUnmap { _ in log.append("unmap") }
            XCTAssertNil(label.window)
            let window = TestWindow(label)
            XCTAssertEqual(log, ["map true"])
            window.close()
            XCTAssertEqual(log, ["map true", "unmap"])
        }
    }

    func testTheScriptOfATextIsThatOfItsFirstLetter() {
        XCTAssertTrue("1. שלום abc".startsRightToLeft)
        XCTAssertFalse("abc שלום".startsRightToLeft)
        XCTAssertFalse("123".startsRightToLeft)
    }

    func testAnInternationalizedHostHasAnASCIIForm() {
        XCTAssertEqual(HostName.ascii("bücher.example"), "xn--bcher-kva.example")
    }
}
