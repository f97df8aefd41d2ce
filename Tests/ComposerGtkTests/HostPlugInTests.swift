import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// Interceptors, observers and policies of a host, driven by real keys and checked in the text view.
final class HostPlugInTests: GtkTestCase {
    /// HKW-4, HKW-32: interceptors run in order until one objects; a denied change leaves text and caret unchanged
    /// and is reported.
    func testInterceptorsRunInOrderBeforeTextChanges() throws {
        try onMain {
            let bench = try HostBench()
            var asked: [String] = []
            bench.session.intercept(as: "no digits") { change, _, _ in
                asked.append("first \(change.replacement)")
                return change.replacement.contains(where: \.isNumber) ? .deny : .allow
            }
            bench.session.intercept(as: "emoji") { change, _, _ in
                asked.append("second \(change.replacement)")
                guard change.replacement == "x" else { return .allow }
                // The interceptor makes the change itself, with an event that follows this one.
                bench.session.handle(.edit(change.range, replacement: "✗", origin: .code))
                return .handled
            }
            try RealInput.type("a1xb")
            XCTAssertTrue(bench.waits(for: "a✗b"), "HKW-4: \(bench.displayedText)")
            XCTAssertEqual(
                asked, ["first a", "second a", "first 1", "first x", "second x", "first b", "second b"], "HKW-4")
            XCTAssertEqual(bench.rejections, [.denied(by: "no digits")], "HKW-32: the user is told")
            try RealInput.press("Left")
            XCTAssertTrue(MainLoop.pump { bench.caret == 2 })
            try RealInput.type("7")
            XCTAssertTrue(MainLoop.pump { bench.rejections.count == 2 })
            XCTAssertEqual(bench.displayedText, "a✗b", "HKW-32")
            XCTAssertEqual(bench.caret, 2, "HKW-32: the caret, too")
            bench.session.removeInterceptor(named: "no digits")
            try RealInput.type("7")
            XCTAssertTrue(bench.waits(for: "a✗7b"))
            bench.close()
        }
    }

    /// HKW-5, HKW-30: observers get each change once, with its origin; duplicate names are rejected, removed observers
    /// silent.
    func testObserversReceiveEachChangeWithItsOrigin() throws {
        try onMain {
            let bench = try HostBench()
            var received: [String] = []
            var seen: [ComposerObservation] = []
            let note: @MainActor (TextEvent) -> Void = { event in
                received.append("\(event.kind.rawValue) \(event.removed)>\(event.inserted) \(event.origin.rawValue)")
            }
            bench.session.observe(as: "log", { observation, _ in seen.append(observation) }, textChanged: note)
            bench.session.observe(as: "log", textChanged: note)
            try RealInput.type("ab")
            try RealInput.press("BackSpace", "ctrl+a")
            XCTAssertTrue(MainLoop.pump { !bench.state.selection.isEmpty })
            try RealInput.type("c")
            XCTAssertTrue(bench.waits(for: "c"))
            try RealInput.press("ctrl+a", "ctrl+c", "End", "ctrl+v")
            XCTAssertTrue(bench.waits(for: "cc"))
            try RealInput.press("ctrl+z")
            XCTAssertTrue(bench.waits(for: "c"))
            bench.bar.text = "by code"
            XCTAssertTrue(bench.waits(for: "by code"))
            XCTAssertEqual(
                received,
                [
                    "inserted >a typed", "inserted >b typed", "deleted b> typed", "replaced a>c typed",
                    "inserted >c paste", "deleted c> undo", "replaced c>by code code",
                ], "HKW-30")
            for observation in [ComposerObservation.textChanged, .selectionChanged, .copied, .pasted, .undone, .loaded]
            {
                XCTAssertTrue(seen.contains(observation), "HKW-5: \(observation)")
            }
            bench.session.removeObserver(named: "log")
            let count = received.count
            try RealInput.type("x")
            XCTAssertTrue(bench.waits(for: "by codex"))
            XCTAssertEqual(received.count, count, "HKW-5")
            bench.close()
        }
    }

    /// HKW-30, HKW-31: a preedit is no change; its commit is one.
    func testInputMethodCommitIsOneChange() throws {
        try onMain {
            let bench = try HostBench()
            var received: [String] = []
            bench.session.observe(
                as: "log", textChanged: { received.append("\($0.kind.rawValue) \($0.inserted) \($0.origin.rawValue)") })
            bench.text.setProperty("im-module", "gtk-im-context-simple")
            try RealInput.press("ctrl+shift+u", "4", "1")
            XCTAssertTrue(MainLoop.pump { bench.state.preedit.hasSuffix("41") })
            XCTAssertEqual(received, [], "HKW-31")
            try RealInput.press("space")
            XCTAssertTrue(bench.waits(for: "A"), bench.displayedText)
            XCTAssertEqual(received, ["inserted A inputMethod"], "HKW-30")
            bench.close()
        }
    }

    /// A plug-in may query the session and send it events: it sees the state before the change; its events run after
    /// it.
    func testObserverCanQueryTheSessionAndSendEvents() throws {
        try onMain {
            let bench = try HostBench()
            var seen: [String] = []
            bench.session.observe(
                as: "shout",
                textChanged: { event in
                    seen.append(bench.bar.text)
                    guard event.origin == .typed else { return }
                    bench.session.transform(TextRange(location: 0, length: 1000)) { $0.uppercased() }
                })
            try RealInput.type("hey")
            XCTAssertTrue(bench.waits(for: "HEY"), bench.displayedText)
            XCTAssertEqual(seen.first, "", "before the change")
            XCTAssertEqual(bench.caret, 3)
            bench.close()
        }
    }

    /// HKW-8, HKW-9: a button transforms the selection in one undo step and keeps the caret at its characters.
    func testButtonTransformsTheSelection() throws {
        try onMain {
            let bench = try HostBench { bar in
                bar.itemAppearances["upper"] = ItemAppearance(label: "Upper Case")
                bar.items.set(
                    [
                        ComposerItem(id: "upper").on(.pressed) { [weak bar] _ in
                            bar?.session.transform { $0.uppercased() }
                        }
                    ], in: .bottom)
            }
            try RealInput.type("one two three")
            try RealInput.press("ctrl+shift+Left", "ctrl+shift+Left")
            XCTAssertTrue(MainLoop.pump { bench.state.selection == TextRange(location: 4, length: 9) })
            try bench.click(try XCTUnwrap(bench.item("Upper Case")))
            XCTAssertTrue(bench.waits(for: "one TWO THREE"), "HKW-9: \(bench.displayedText)")
            // Check the end only: on X11 GTK collapses a selection whose whole text is replaced.
            XCTAssertEqual(bench.state.selection.end, 13, "HKW-9")
            XCTAssertTrue(MainLoop.pump { bench.text.hasFocus })
            try RealInput.press("ctrl+z")
            XCTAssertTrue(bench.waits(for: "one two three"), "HKW-8: one step")
            try RealInput.press("ctrl+Home", "Right", "Right")
            XCTAssertTrue(MainLoop.pump { bench.caret == 2 })
            bench.session.transform(TextRange(location: 4, length: 3)) { _ in "a long number" }
            XCTAssertTrue(bench.waits(for: "one a long number three"), "HKW-8")
            XCTAssertEqual(bench.caret, 2, "HKW-8: the caret stays before it")
            bench.session.transform(TextRange(location: 0, length: 4)) { _ in nil }
            XCTAssertTrue(bench.waits(for: "a long number three"), "HKW-8: nil deletes")
            bench.session.transform(TextRange(location: 900, length: 1)) { _ in "x" }
            XCTAssertEqual(bench.displayedText, "a long number three", "HKW-8: nothing is beyond the end")
            bench.close()
        }
    }

    /// HKW-33: while changes are ignored, observers hear nothing and lists do not continue; the end reports one change.
    func testSuspendedObservationReportsOneChange() throws {
        try onMain {
            let bench = try HostBench()
            var received: [String] = []
            bench.session.observe(as: "log", textChanged: { received.append("\($0.inserted) \($0.origin.rawValue)") })
            bench.session.suspendObservation()
            bench.session.suspendObservation()
            try RealInput.type("- a")
            try RealInput.press("shift+Return")
            bench.session.resumeObservation()
            try RealInput.type("b")
            XCTAssertTrue(bench.waits(for: "- a\nb"), "HKW-33: no list goes on: \(bench.displayedText)")
            XCTAssertEqual(received, [], "HKW-33")
            bench.session.resumeObservation()
            XCTAssertEqual(received, ["- a\nb code"], "HKW-33")
            bench.session.ignoreNextSingleDeletion()
            try RealInput.press("BackSpace")
            XCTAssertTrue(MainLoop.pump { bench.rejections == [.deletionIgnored] }, "HKW-33")
            XCTAssertEqual(bench.displayedText, "- a\nb", "HKW-33: once")
            try RealInput.press("BackSpace")
            XCTAssertTrue(bench.waits(for: "- a\n"), "HKW-33: and no more")
            bench.close()
        }
    }

    /// MIB-32: the policy is consulted once each for opening, showing the list and accepting an entity.
    func testCompletionPolicyIsConsultedOncePerStep() throws {
        try onMain {
            let bench = try HostBench()
            bench.session.completionSources = [NameSource("@", ["Ann", "Bob"]), NameSource("#", ["hidden"])]
            let policy = Policy()
            bench.session.setCompletionPolicy(policy)
            let popup = try XCTUnwrap(bench.bar.binding?.completion)
            try RealInput.type("code @a")
            XCTAssertTrue(bench.waits(for: "code @a"))
            XCTAssertNil(bench.state.completion, "MIB-32: not behind that word")
            XCTAssertEqual(policy.asked, ["open @"], "MIB-32: once, not at each key")
            try RealInput.press("ctrl+a", "BackSpace")
            try RealInput.type("#h")
            XCTAssertTrue(MainLoop.pump { policy.asked.contains("show #h") }, "\(policy.asked)")
            XCTAssertFalse(popup.isOpen, "MIB-32: found and not shown")
            try RealInput.press("ctrl+a", "BackSpace")
            try RealInput.type("@")
            XCTAssertTrue(MainLoop.pump { popup.isOpen && bench.state.completion?.items.count == 2 })
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { bench.rejections.contains(.denied(by: "policy")) }, "MIB-32: not Ann")
            XCTAssertEqual(bench.displayedText, "@")
            try RealInput.press("Down", "Return")
            XCTAssertTrue(bench.waits(for: "@Bob "), bench.displayedText)
            bench.session.setCompletionPolicy(nil)
            XCTAssertEqual(policy.asked.last, "detached")
            bench.close()
        }
    }

    private final class Policy: CompletionPolicy, @unchecked Sendable {
        let name = "policy"
        var asked: [String] = []

        func detached() { asked.append("detached") }
        func mayOpen(_ prefix: String, query: String, over range: TextRange, kind: CompletionKind) -> Bool {
            asked.append("open \(prefix)")
            return range.location == 0
        }
        func mayShow(_ completion: CompletionState) -> Bool {
            asked.append("show \(completion.prefix)\(completion.query)")
            return completion.prefix != "#"
        }
        func mayAccept(_ entity: CompletionEntity, for prefix: String) -> Bool { entity.name != "Ann" }
    }

    /// SLK-45: each Escape closes one layer; with none left, the host handles it.
    func testUnhandledEscapeReachesTheHost() throws {
        try onMain {
            let button = Widget(sinking: gtk_menu_button_new())
            let popover = Widget(sinking: gtk_popover_new())
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            bar.session.completionSources = [NameSource("@", ["Ann"])]
            gtk_widget_set_size_request(widget.cast(), 300, -1)
            gtk_popover_set_child(popover.cast(), widget.cast())
            gtk_menu_button_set_popover(button.cast(), popover.cast())
            let window = TestWindow(button, width: 360, height: 300)
            try RealInput.activate(window.window)
            gtk_menu_button_popup(button.cast())
            XCTAssertTrue(MainLoop.pump { widget.isMapped && widget.width > 0 })
            bar.grabFocus()
            XCTAssertTrue(MainLoop.pump { bar.session.composer.isFocused })
            bar.session.handle(.startEdit(id: "m", WrittenText("old ")))
            try RealInput.type("@")
            XCTAssertTrue(MainLoop.pump { bar.session.composer.completion?.isVisible == true })
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { bar.session.composer.completion == nil })
            XCTAssertEqual(bar.session.composer.editing, "m", "SLK-45: completion alone")
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { bar.session.composer.editing == nil }, "SLK-45: then the edit")
            XCTAssertTrue(popover.isVisible)
            var asked = 0
            bar.onEscape = {
                asked += 1
                return asked == 1
            }
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { asked == 1 }, "SLK-45: the host is asked")
            XCTAssertTrue(popover.isVisible, "SLK-45: and took it")
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { asked == 2 && !popover.isVisible }, "SLK-45: what is around the bar gets it")
            window.close()
        }
    }

    /// SLK-15: an edit that fails to be stored is reopened as written; the current draft is restored after it.
    func testFailedEditIsReopened() throws {
        try onMain {
            let bench = try HostBench()
            var saved: [String] = []
            var fails = true
            bench.session.onEdit = { id, message in
                saved.append("\(id) \(message.text.source) \(message.mentions.count)")
                if fails { throw TimedOut() }
            }
            bench.bar.text = "a draft"
            let mention = WrittenText.Mark(.mention(.member("ann")), over: TextRange(location: 0, length: 3))
            let stored = try XCTUnwrap(WrittenText("Ann said", marks: [mention]))
            bench.session.handle(.startEdit(id: "m", stored))
            XCTAssertTrue(bench.waits(for: "Ann said"))
            try RealInput.type(" so")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { saved == ["m Ann said so 1"] }, "\(saved)")
            XCTAssertTrue(
                MainLoop.pump { bench.state.editing == "m" && bench.displayedText == "Ann said so" }, "it is back")
            XCTAssertEqual(bench.session.document.mentions.count, 1, "with its mention")
            XCTAssertTrue(MainLoop.pump { bench.bar.widgets.edit.isRevealed })
            fails = false
            try RealInput.press("Return")
            XCTAssertTrue(
                MainLoop.pump { saved.count == 2 && bench.displayedText == "a draft" }, "the draft comes last")
            XCTAssertNil(bench.state.editing)
            bench.close()
        }
    }
}
