import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// Completion as a host customizes it: opened by buttons, shown in its own widgets, prefetched.
final class HostCompletionTests: GtkTestCase {
    /// SLK-25, MIB-35: inserts the prefix at the caret, after a space if needed, and focuses the text.
    func testButtonStartsCompletion() throws {
        try onMain {
            let bench = try HostBench { bar in
                bar.itemAppearances["at"] = ItemAppearance(label: "Mention Someone")
                bar.items.set(
                    [ComposerItem(id: "at").on(.pressed) { [weak bar] _ in bar?.startCompletion("@") }], in: .bottom)
            }
            bench.session.completionSources = [NameSource("@", ["Ann", "Bob"])]
            let popup = try XCTUnwrap(bench.bar.binding?.completion)
            try RealInput.type("hello world")
            try RealInput.press("ctrl+Left", "Left")
            XCTAssertTrue(MainLoop.pump { bench.caret == 5 })
            bench.bar.releaseFocus()
            XCTAssertTrue(MainLoop.pump { !bench.state.isFocused })
            let button = try XCTUnwrap(bench.item("Mention Someone"))
            try bench.click(button)
            XCTAssertTrue(MainLoop.pump { popup.isOpen && bench.text.hasFocus }, "SLK-25: the list, and the focus")
            XCTAssertTrue(
                bench.waits(for: "hello @ world"), "MIB-35: at the caret, not at the end: \(bench.displayedText)")
            try RealInput.type("b")
            try RealInput.press("Return")
            XCTAssertTrue(bench.waits(for: "hello @Bob world"), bench.displayedText)
            XCTAssertEqual(bench.session.document.mentions.count, 1)
            try RealInput.press("ctrl+End")
            try RealInput.type(" @")
            XCTAssertTrue(MainLoop.pump { popup.isOpen })
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { !popup.isOpen })
            try bench.click(button)
            XCTAssertTrue(MainLoop.pump { popup.isOpen }, "SLK-25: opened again")
            XCTAssertEqual(bench.displayedText, "hello @Bob world @", "SLK-25: and nothing written twice")
            bench.bar.startCompletion("§")
            XCTAssertEqual(bench.rejections, [.completion("§")], "SLK-25: nothing is registered for it")
            bench.close()
        }
    }

    /// HKW-51: a custom chooser replaces the list, in the popover and docked, by keys and pointer; the list can return.
    func testCustomChooserReplacesTheList() throws {
        try onMain {
            let chooser = Chips()
            let bench = try HostBench(width: 700) { $0.chooser = chooser }
            bench.session.completionSources = [NameSource("@", ["Ann", "Anton", "Bob"])]
            let popup = try XCTUnwrap(bench.bar.binding?.completion)
            try RealInput.type("@an")
            XCTAssertTrue(MainLoop.pump { chooser.names == ["Ann", "Anton"] && chooser.widget.isMapped }, "HKW-51")
            XCTAssertEqual(popup.listWidget.pointer, chooser.widget.pointer)
            XCTAssertTrue(bench.text.hasFocus, "the focus stays in the text")
            try RealInput.press("Down")
            XCTAssertTrue(MainLoop.pump { chooser.selected == 1 }, "HKW-51: the keys are the composer's")
            try bench.click(chooser.buttons[0])
            XCTAssertTrue(bench.waits(for: "@Ann "), "HKW-51: a click is the chooser's, \(bench.displayedText)")
            XCTAssertTrue(MainLoop.pump { chooser.names.isEmpty && !popup.isOpen }, "HKW-51: reset and hidden")
            gtk_window_set_default_size(bench.window.window.cast(), 360, 500)
            XCTAssertTrue(MainLoop.pump { bench.window.window.width == 360 })
            try RealInput.type("@b")
            XCTAssertTrue(MainLoop.pump { chooser.names == ["Bob"] && chooser.widget.isMapped }, "HKW-51: docked")
            XCTAssertTrue(MainLoop.pump { (chooser.widget.bounds(in: bench.widget)?.y ?? -1) == 0 })
            bench.bar.chooser = nil
            XCTAssertTrue(MainLoop.pump { popup.row(at: 0)?.isMapped == true }, "the list is back where it was")
            XCTAssertFalse(chooser.widget.isMapped)
            XCTAssertNil(chooser.onAccept)
            try RealInput.press("Tab")
            XCTAssertTrue(bench.waits(for: "@Ann @Bob "))
            bench.close()
        }
    }

    /// A chooser that is a row of buttons.
    @MainActor private final class Chips: CompletionChooser {
        let widget: Widget = Box(.horizontal, spacing: 6)
        var onAccept: ((Int) -> Void)?
        var onRetry: (() -> Void)?
        private(set) var names: [String] = []
        private(set) var selected: Int?
        var buttons: [Widget] { widget.children }

        func show(_ completion: CompletionState) {
            selected = completion.selected
            guard completion.items.map(\.name) != names else { return }
            clear()
            names = completion.items.map(\.name)
            for (index, name) in names.enumerated() {
                let button = Button(sinking: gtk_button_new_with_label(name))
                gtk_widget_set_focus_on_click(button.cast(), 0)
                button.onClick { [weak self] in self?.onAccept?(index) }
                gtk_box_append(widget.cast(), button.cast())
            }
        }

        func clear() {
            names = []
            for child in widget.children { gtk_box_remove(widget.cast(), child.cast()) }
        }
    }

    /// HKW-70: the host renders the completion state itself; keys still choose, and so do clicks in its own view.
    func testHostRendersItsOwnList() throws {
        try onMain {
            let side = Box(.vertical)
            let bench = try HostBench { $0.showsCompletions = false }
            bench.column.append(side)
            let session = bench.session
            session.completionSources = [NameSource("@", ["Ann", "Anton"])]
            let rendering = Rendering({ session.composer.completion?.items.map(\.name) ?? [] }) { names in
                for child in side.children { side.remove(child) }
                for name in names { side.append(Label(name)) }
            }
            defer { withExtendedLifetime(rendering) {} }
            try RealInput.type("@an")
            XCTAssertTrue(MainLoop.pump { side.visibleTexts == ["Ann", "Anton"] }, "HKW-70: \(side.visibleTexts)")
            XCTAssertFalse(bench.bar.binding?.completion.isOpen ?? true, "HKW-70: the bar shows none")
            try RealInput.press("Down", "Return")
            XCTAssertTrue(bench.waits(for: "@Anton "), bench.displayedText)
            XCTAssertTrue(MainLoop.pump { side.children.isEmpty })
            try RealInput.type("@")
            XCTAssertTrue(MainLoop.pump { side.children.count == 2 })
            session.handle(.acceptEntity(CompletionEntity(id: "zoe", name: "Zoe")))
            XCTAssertTrue(bench.waits(for: "@Anton @Zoe "), "HKW-70: whom the host found elsewhere")
            XCTAssertEqual(session.document.mentions.compactMap(\.mention?.text), ["@Anton", "@Zoe"])
            bench.close()
        }
    }

    /// HKW-50: prefetches once, at the first focus, without opening the list.
    func testSourcesPrefetchOnceAtFirstFocus() throws {
        try onMain {
            let (source, other) = (NameSource("@", ["Ann"]), NameSource("#", ["room"]))
            let bench = try HostBench { bar in
                bar.prefetchesCompletion = true
                bar.session.completionSources = [source, other]
            }
            XCTAssertEqual([source.prefetches, other.prefetches], [1, 1], "HKW-50")
            XCTAssertEqual(source.queries, [], "HKW-50: nobody is asked anything")
            XCTAssertFalse(bench.bar.binding?.completion.isOpen ?? true)
            bench.bar.releaseFocus()
            XCTAssertTrue(MainLoop.pump { !bench.state.isFocused })
            bench.bar.grabFocus()
            XCTAssertTrue(MainLoop.pump { bench.state.isFocused })
            XCTAssertEqual(source.prefetches, 1, "HKW-50: once")
            bench.close()
            let plain = NameSource("@", ["Ann"])
            let second = try HostBench { $0.session.completionSources = [plain] }
            XCTAssertEqual(plain.prefetches, 0, "only where the host wants it")
            second.close()
        }
    }

    /// HKW-38: a word without a prefix is looked up after a minimum number of letters; Return still sends.
    func testUnprefixedCompletionNeedsAMinimumLengthAndLetsReturnSend() throws {
        try onMain {
            let source = NameSource("", ["Barbara Liskov", "Bart"])
            let bench = try HostBench { bar in
                bar.implicitLength = 3
                bar.session.completionSources = [source]
            }
            var sent: [String] = []
            bench.session.onSend = { sent.append("\($0.text.source) \($0.mentions.count)") }
            let popup = try XCTUnwrap(bench.bar.binding?.completion)
            try RealInput.type("ba")
            XCTAssertTrue(bench.waits(for: "ba"))
            XCTAssertEqual(source.queries, [], "HKW-38: not before the third letter")
            try RealInput.type("r")
            XCTAssertTrue(MainLoop.pump { popup.isOpen }, "HKW-38")
            XCTAssertNil(bench.state.completion?.selected, "nothing is chosen unasked")
            try RealInput.press("Down", "Return")
            XCTAssertTrue(bench.waits(for: "Barbara Liskov "), bench.displayedText)
            XCTAssertEqual(bench.session.document.mentions.first?.mention?.entityID, "barbara liskov")
            try RealInput.type("bar")
            XCTAssertTrue(MainLoop.pump { popup.isOpen })
            try RealInput.press("Return")
            XCTAssertTrue(
                MainLoop.pump { sent == ["Barbara Liskov bar 1"] }, "HKW-38: Return is not the list's: \(sent)")
            bench.close()
        }
    }

    /// HKW-36, MIB-29: the source's metadata is sent with the message; adjacent mentions keep their own.
    func testEntityMetadataIsSentWithTheMessage() throws {
        try onMain {
            var ann = CompletionEntity(id: "1", name: "Ann")
            ann.metadata = ["team": "press"]
            var other = CompletionEntity(id: "2", name: "Ann", detail: "another")
            other.metadata = ["team": "print"]
            let bench = try HostBench()
            var teams: [String?] = []
            bench.session.completionSources = [NameSource("@", entities: [ann, other])]
            bench.session.configuration.completion.afterAccept = .nothing
            bench.session.onSend = { [weak session = bench.session] message in
                teams = message.mentions.map { mark in
                    mark.mention.flatMap { session?.entity(of: $0) }?.metadata["team"]
                }
            }
            try RealInput.type("@an")
            XCTAssertTrue(MainLoop.pump { bench.state.completion?.items.count == 2 })
            try RealInput.press("Return")
            XCTAssertTrue(bench.waits(for: "@Ann"))
            try RealInput.type(" @an")
            XCTAssertTrue(MainLoop.pump { bench.state.completion?.items.count == 2 })
            try RealInput.press("Down", "Return")
            XCTAssertTrue(bench.waits(for: "@Ann @Ann"))
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { teams == ["press", "print"] }, "HKW-36: \(teams)")
            bench.close()
        }
    }
}
