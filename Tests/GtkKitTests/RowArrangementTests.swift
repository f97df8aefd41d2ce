import GtkKit
import GtkTestSupport
import XCTest

/// The focus in a list whose rows change.
final class RowArrangementTests: GtkTestCase {
    @MainActor
    private struct Row: ArrangedRow {
        let id: String
        let widget: ListBoxRow
        let button: Button

        init(_ id: String) {
            self.id = id
            button = Button()
            button.label = id
            widget = ListBoxRow(button)
        }

        func grabFocus() { button.grabFocus() }
    }

    /// Each letter is a row, an uppercase one a row that is made anew.
    func testFocusFollowsItsRowOrGoesToTheNext() {
        onMain {
            let cases: [(former: String, focused: String, new: String, expected: String)] = [
                ("abc", "b", "abc", "b"), ("abc", "b", "xabc", "b"), ("abc", "b", "bca", "b"), ("abc", "c", "ca", "c"),
                ("abc", "b", "aBc", "b"), ("abc", "a", "cBA", "a"),
                ("abc", "b", "ac", "c"), ("abc", "c", "ab", "b"), ("abcd", "b", "cd", "c"), ("abc", "b", "cx", "c"),
                ("abc", "b", "xyz", "y"), ("abc", "c", "xy", "y"), ("abc", "b", "", "other"),
            ]
            for (former, focused, new, expected) in cases {
                let (list, other) = (ListBox(), Button())
                let box = Box(.vertical, spacing: 0)
                box.append(list)
                box.append(other)
                let window = TestWindow(box)
                let rows = former.map { Row(String($0)) }
                list.arrange(rows, replacing: [])
                XCTAssertTrue(MainLoop.pump { rows.allSatisfy { $0.widget.isMapped } })
                rows.first { $0.id == focused }?.grabFocus()
                XCTAssertTrue(rows.contains { $0.id == focused && $0.button.isFocus })
                let arranged = new.map { letter in
                    let id = letter.lowercased()
                    return letter.isLowercase ? rows.first { $0.id == id } ?? Row(id) : Row(id)
                }
                list.arrange(arranged, replacing: rows, or: other)
                let message = "\(former) → \(new)"
                let listed = list.children.map { child in arranged.first { $0.widget.isSame(as: child) }?.id ?? "?" }
                XCTAssertEqual(listed.joined(), new.lowercased(), message)
                let hasFocus = arranged.first { $0.button.isFocus }?.id ?? (other.isFocus ? "other" : "nothing")
                XCTAssertEqual(hasFocus, expected, message)
                window.close()
            }
        }
    }
}
