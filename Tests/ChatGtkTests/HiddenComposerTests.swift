import ChatCore
import Composer
import ComposerSessions
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import ComposerGtk
@testable import GtkKit

/// A room that accepts no messages, and hides its composer: the draft in it does not change.
final class HiddenComposerTests: GtkTestCase {
    func testRepliesEditsAndFilesDoNotReachAHiddenComposer() throws {
        try onMain {
            let bench = try ConversationBench(30)
            let composer = bench.conversation.composer
            let session = bench.fixture.coordinator.environment.session
            let files = try XCTUnwrap(bench.view.composer.bar.files?.attachmentController)
            XCTAssertTrue(files.acceptsDrop(of: ["text/uri-list"]))
            bench.conversation.noteEncrypted()
            session.encryption = .off(.missing)
            XCTAssertTrue(
                MainLoop.pump { !bench.view.composer.widget.isMapped && bench.model.lastEditable == nil })
            XCTAssertFalse(files.acceptsDrop(of: ["text/uri-list"]))
            let windows = Widget.windows.count
            bench.view.addFiles()
            XCTAssertEqual(Widget.windows.count, windows, "no file chooser")
            bench.timeline.grabFocus()
            try bench.press("Up", "r", "Up", "e")
            XCTAssertNil(composer.state.composer.reply)
            XCTAssertNil(composer.state.composer.editing)
            XCTAssertEqual(composer.document.text, "")
            session.encryption = .on
            XCTAssertTrue(MainLoop.pump { bench.view.composer.widget.isMapped && bench.model.lastEditable != nil })
            XCTAssertTrue(files.acceptsDrop(of: ["text/uri-list"]))
            bench.timeline.grabFocus()
            try bench.press("Up", "r")
            XCTAssertTrue(bench.wait { composer.state.composer.reply != nil })
            try bench.close()
        }
    }

    /// That nothing can be sent is known late: by then the user may be elsewhere.
    func testFocusStaysWhereTheUserIs() throws {
        try onMain {
            let bench = try ConversationBench(30)
            let session = bench.fixture.coordinator.environment.session
            bench.conversation.noteEncrypted()
            bench.view.openSearch()
            XCTAssertTrue(bench.wait { bench.view.searchBar.field.hasFocus })
            session.encryption = .off(.missing)
            XCTAssertTrue(bench.wait { !bench.view.composer.widget.isMapped })
            XCTAssertTrue(bench.view.searchBar.field.hasFocus)
            bench.view.focusComposer()
            XCTAssertTrue(bench.wait { bench.view.focusedRegion == .timeline }, "the composer is hidden")
            session.encryption = .on
            XCTAssertTrue(bench.wait { bench.view.composer.widget.isMapped })
            bench.view.focusComposer()
            XCTAssertTrue(bench.wait { bench.view.focusedRegion == .composer })
            session.encryption = .off(.missing)
            XCTAssertTrue(bench.wait { bench.view.focusedRegion == .timeline }, "with the composer that had it")
            try bench.close()
        }
    }

    func testDraftIsShownAndCopied() throws {
        try onMain {
            let bench = try ConversationBench(2)
            let (bar, session) = (bench.view.hiddenDraftBar, bench.fixture.coordinator.environment.session)
            bench.conversation.composer.handle(.insert("Half a thought\nand more", origin: .paste))
            XCTAssertFalse(bar.widget.isMapped)
            bench.conversation.noteEncrypted()
            session.encryption = .off(.missing)
            XCTAssertTrue(bench.wait { bar.widget.isMapped })
            XCTAssertEqual(bar.preview, "Draft: Half a thought")
            XCTAssertTrue(bar.copy.grabFocus())
            try bench.press("space")
            // GTK clicks a button a quarter of a second after its key.
            XCTAssertTrue(bench.wait { (try? bench.clipboardText()) == "Half a thought\nand more" })
            session.encryption = .on
            XCTAssertTrue(bench.wait { !bar.widget.isMapped })
            XCTAssertEqual(bench.conversation.composer.document.text, "Half a thought\nand more")
            var moved = 0
            bar.onMove = { moved += 1 }
            bar.show(HiddenDraft(text: "", files: ["plan.pdf"], canBeMoved: true))
            XCTAssertEqual(bar.preview, "Draft: plan.pdf")
            XCTAssertTrue(bench.wait { bar.move.isMapped && !bar.copy.isMapped })
            XCTAssertTrue(bar.move.grabFocus())
            try bench.press("space")
            XCTAssertTrue(MainLoop.pump { moved == 1 })
            try bench.close()
        }
    }
}
