import CGtk
import ChatCore
import ChatStore
import ChatViewModels
import Composer
import Foundation
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import GtkKit
@testable import MediaGtk
@testable import TimelineGtk

/// The header of a room, very long messages, and editing one's own.
final class ConversationHeaderTests: GtkTestCase {
    @MainActor
    private static func append(_ texts: [String], by sender: MemberID, to fixture: ChatFixture) throws {
        try finish { [store = fixture.store, fixture] in
            for (number, text) in texts.enumerated() {
                _ = try await store.append(
                    NewMessage(
                        id: MessageID("more\(number)"), sender: sender, text: text,
                        sentAt: Date(timeIntervalSince1970: 1_768_000_000 + Double(number))),
                    to: ConversationBench.room)
            }
            // Mark everything read: the room then opens at its end.
            try await fixture.backend.markRead(MessageID("more\(texts.count - 1)"), in: ConversationBench.room)
        }
    }

    /// Up edits the user's newest message, which may be above the viewport.
    func testUpScrollsToTheMessageItEdits() throws {
        try onMain {
            let fixture = try ConversationBench.makeRoom(30, unread: 0)
            try Self.append((0..<40).map { "Answer \($0)" }, by: ConversationBench.other, to: fixture)
            let bench = try ConversationBench(in: fixture)
            XCTAssertTrue(bench.wait { bench.list.isAtEnd })
            let isInView = { @MainActor in
                bench.list.bounds(of: bench.id(29)).map {
                    $0.top >= 0 && $0.top + $0.height <= Double(bench.list.widget.height) + 0.5
                } ?? false
            }
            XCTAssertFalse(isInView())
            bench.view.focusComposer()
            try bench.press("Up")
            XCTAssertTrue(bench.wait { bench.conversation.composer.state.composer.editing == "m29" })
            XCTAssertTrue(bench.wait(isInView))
            XCTAssertTrue(bench.view.composerHasFocus)
            try bench.close()
        }
    }

    func testLongMessageCanBeOpenedInFull() throws {
        try onMain {
            let fixture = try ConversationBench.makeRoom(3, unread: 0)
            let long = (0..<3000).map { "Line \($0) <of> many & more" }.joined(separator: "\n")
            try Self.append([long], by: ConversationBench.other, to: fixture)
            let bench = try ConversationBench(in: fixture)
            bench.waitUntilIdle()
            let button = try XCTUnwrap(bench.list.widget.button("Show Full Message"))
            try bench.activate()
            try RealInput.point(at: button)
            try RealInput.click()
            XCTAssertTrue(bench.wait { Self.wholeText == long })
            try RealInput.press("Escape")
            XCTAssertTrue(bench.wait { Self.wholeText == nil })
            try bench.close()
        }
    }

    @MainActor
    private static var wholeText: String? {
        let views = Widget.windows.filter(\.isMapped).flatMap(\.descendants).filter {
            $0.isMapped && shim_is_a($0.pointer, gtk_text_view_get_type()) != 0
                && gtk_text_view_get_editable($0.cast()) == 0
        }
        guard let buffer = views.first.flatMap({ gtk_text_view_get_buffer($0.cast()) }) else { return nil }
        var (start, end) = (GtkTextIter(), GtkTextIter())
        gtk_text_buffer_get_bounds(buffer, &start, &end)
        let text = gtk_text_buffer_get_text(buffer, &start, &end, 1)
        defer { g_free(text) }
        return text.map { String(cString: $0) }
    }

    /// The subtitle is the topic or the member count; a direct chat shows its name once.
    func testHeaderShowsTopicOrMemberCount() throws {
        try onMain {
            let bench = try ConversationBench(3)
            @MainActor func texts() -> [String] {
                let header = bench.view.widget.descendants.first {
                    $0.isMapped && shim_is_a($0.pointer, adw_window_title_get_type()) != 0
                }
                return header?.visibleTexts.filter { !$0.isEmpty } ?? []
            }
            @MainActor func row(_ kind: Room.Kind) -> RoomListViewModel.Row {
                var row = bench.fixture.coordinator.rooms.state.rows[0]
                (row.kind, row.name) = (kind, "Alex")
                return row
            }
            bench.view.show(row(.group), isFolded: false)
            XCTAssertTrue(bench.wait { texts() == ["Alex", "2 members"] }, "\(texts())")
            bench.view.show(row(.direct), isFolded: false)
            XCTAssertTrue(bench.wait { texts() == ["Alex"] }, "\(texts())")
            try finish { [fixture = bench.fixture] in
                try await fixture.backend.setTopic("Tides & tea", of: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { texts() == ["Alex", "Tides & tea"] }, "\(texts())")
            try bench.close()
        }
    }

    /// The title is a button for pointer, keyboard and screen reader.
    func testTitleOpensRoomDetails() throws {
        try onMain {
            let bench = try ConversationBench(3)
            var isOpened = false
            let actions = ActionGroup()
            actions.add("room-details") { isOpened = true }
            bench.view.widget.insertActions(actions, prefix: "win")
            let title = try XCTUnwrap(bench.view.widget.descendants.first { $0.hasStyle("room-title") })
            XCTAssertTrue(bench.wait { title.isSensitive })
            try bench.activate()
            title.grabFocus()
            try bench.press("Return")
            XCTAssertTrue(bench.wait { isOpened })
            isOpened = false
            try RealInput.point(at: title)
            try RealInput.click()
            XCTAssertTrue(bench.wait { isOpened })
            try bench.close()
        }
    }

    func testInitialsIgnoreTheMatrixID() {
        onMain {
            XCTAssertEqual(AvatarView.initialed("Ann (@ann:example.org)"), "Ann")
            XCTAssertEqual(AvatarView.initialed("Ann Lee (@a:b) (@ann:example.org)"), "Ann Lee (@a:b)")
            XCTAssertEqual(AvatarView.initialed("Ann (she)"), "Ann (she)")
        }
    }

    func testDeleteDialogSaysForWhom() throws {
        try onMain {
            let bench = try ConversationBench(30)
            bench.model.send(.message(MessageID("m29"), .requestDeletion))
            @MainActor func dialog(_ part: String) -> Bool {
                Widget.windows.contains { $0.isMapped && $0.visibleTexts.contains { $0.contains(part) } }
            }
            XCTAssertTrue(bench.wait { dialog("for everyone in this room") })
            try RealInput.press("Escape")
            XCTAssertTrue(bench.wait { !dialog("for everyone in this room") })
            try finish { [fixture = bench.fixture] in
                try await fixture.backend.removeMember(ConversationBench.other, from: ConversationBench.room)
            }
            XCTAssertTrue(bench.wait { bench.model.otherMembers.isEmpty })
            bench.model.send(.message(MessageID("m29"), .requestDeletion))
            XCTAssertTrue(bench.wait { dialog("the only member of this room") })
            try RealInput.press("Escape")
            try bench.close()
        }
    }
}
