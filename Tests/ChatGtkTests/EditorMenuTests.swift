import CGtk
import ChatViewModels
import Composer
import GtkTestSupport
import ToolSupport
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// Context menu, formatting and live Markdown in a room's composer.
final class EditorMenuTests: GtkTestCase {
    func testMenuKeysOpenTheMenuAtTheCaret() throws {
        try onMain {
            let bench = try ComposerBench()
            let binding = try XCTUnwrap(bench.view.bar.binding)
            try RealInput.activate(bench.window.window)
            bench.view.grabFocus()
            for keys in ["Menu", "shift+F10"] {
                try RealInput.press(keys)
                XCTAssertTrue(MainLoop.pump { binding.menu.isOpen }, keys)
                try RealInput.press("Escape")
                XCTAssertTrue(
                    MainLoop.pump { !binding.menu.isOpen && bench.textView.hasFocus }, "\(keys): focus returns")
            }
            XCTAssertFalse(bench.textView.isEnabled("composer.copy"), "nothing is selected")
            bench.type("one two")
            bench.select(0, 3)
            try RealInput.press("Menu")
            XCTAssertTrue(MainLoop.pump { binding.menu.isOpen })
            XCTAssertTrue(bench.textView.isEnabled("composer.copy"))
            XCTAssertTrue(bench.textView.isEnabled("composer.undo"))
            XCTAssertFalse(bench.textView.isEnabled("composer.redo"))
            try RealInput.press("Escape")
            XCTAssertTrue(MainLoop.pump { !binding.menu.isOpen })
            XCTAssertTrue(bench.textView.activateAction("composer.format", "Bold"))
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "**one** two" }, bench.displayedText)
            try bench.close()
        }
    }

    func testMenuOffersToCollapseAnExpandedField() throws {
        try onMain {
            let bench = try ComposerBench()
            let binding = try XCTUnwrap(bench.view.bar.binding)
            try RealInput.activate(bench.window.window)
            bench.view.grabFocus()
            bench.type("one")
            let items = ["Expand Message Field", "Collapse Message Field"]
            for isExpanded in [false, true, false] {
                bench.viewModel.handle(.expand(isExpanded))
                try RealInput.press("Menu")
                XCTAssertTrue(MainLoop.pump { binding.menu.isOpen })
                let shown = { bench.window.window.visibleTexts.filter(items.contains) }
                XCTAssertTrue(MainLoop.pump { shown() == [items[isExpanded ? 1 : 0]] }, "\(shown())")
                try RealInput.press("Escape")
                XCTAssertTrue(MainLoop.pump { !binding.menu.isOpen && bench.textView.hasFocus })
            }
            try bench.close()
        }
    }

    /// SLK-28, SLK-29: formatting by shortcuts and by the selection toolbar.
    func testFormattingByShortcutsAndToolbar() throws {
        try onMain {
            let bench = try ComposerBench(width: 700)
            let binding = try XCTUnwrap(bench.view.bar.binding)
            try RealInput.activate(bench.window.window)
            bench.view.grabFocus()
            try RealInput.type("word")
            try RealInput.press("ctrl+a", "ctrl+b")
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "**word**" }, bench.displayedText)
            XCTAssertTrue(MainLoop.pump { binding.selectionToolbar.isOpen }, "the toolbar comes with the selection")
            try RealInput.press("ctrl+b", "ctrl+shift+x")
            XCTAssertTrue(MainLoop.pump { bench.displayedText == "~~word~~" }, bench.displayedText)
            try RealInput.press("Right")
            XCTAssertTrue(MainLoop.pump { !binding.selectionToolbar.isOpen })
            XCTAssertTrue(bench.textView.hasFocus)
            try bench.close()
        }
    }

    func testMarkdownIsStyledWhileTyping() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.type("a **b** c\n```\nlet x\n\n```\nend")
            XCTAssertTrue(bench.isBold(at: 4))
            XCTAssertFalse(bench.isBold(at: 0))
            XCTAssertEqual(bench.family(at: 15), "monospace", "in the block")
            XCTAssertNil(bench.family(at: 26), "behind it")
            bench.select(10, 13)
            bench.type("x")
            XCTAssertNil(bench.family(at: 13), "the fence is gone, and with it the look of what it enclosed")
            XCTAssertEqual(bench.displayedText, "a **b** c\nx\nlet x\n\n```\nend", "the text is never changed")
            XCTAssertEqual(bench.family(at: 24), "monospace", "the other fence opens now")
            bench.viewModel.handle(.undo)
            XCTAssertNil(bench.family(at: 26))
            bench.view.bar.stylesMarkdown = false
            XCTAssertFalse(bench.isBold(at: 4))
            bench.view.bar.stylesMarkdown = true
            XCTAssertTrue(bench.isBold(at: 4))
            try bench.close()
        }
    }

    /// Incremental styling gives the same result as styling the whole text.
    func testIncrementalStylingEqualsFullStyling() throws {
        try onMain {
            let bench = try ComposerBench()
            var random = SeededGenerator(seed: 5)
            let fragments = ["**", "_", "`", "```\n", "\n", "word ", "> ", "é👍🏽", "~~"]
            for step in 0..<150 {
                let length = bench.displayedText.unicodeScalars.count
                let place = Int.random(in: 0..<(length + 1), using: &random)
                bench.select(
                    place,
                    min(
                        length,
                        place + (Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<6, using: &random) : 0)
                    ))
                if Int.random(in: 0..<4, using: &random) == 0 {
                    bench.emit("backspace")
                } else {
                    bench.type(fragments[Int.random(in: 0..<fragments.count, using: &random)])
                }
                let stepwise = bench.looks
                bench.view.bar.stylesMarkdown = false
                bench.view.bar.stylesMarkdown = true
                guard stepwise == bench.looks else {
                    return XCTFail("step \(step): \(bench.displayedText.debugDescription)")
                }
            }
            try bench.close()
        }
    }

    func testReplyAndEditBarsShowTheirMessage() throws {
        try onMain {
            let bench = try ComposerBench()
            bench.viewModel.send(
                .startReply(ReplyTarget(messageID: "m", sender: "Ann", preview: .text("Shall we?\nTomorrow"))))
            let parts = bench.view.bar.widgets
            XCTAssertTrue(MainLoop.pump { parts.reply.isRevealed })
            XCTAssertEqual(parts.replyTitle.text, "Replying to Ann")
            XCTAssertEqual(parts.replyQuote.text, "Shall we?")
            bench.viewModel.send(.composer(.startEdit(id: "e", WrittenText("old words"))))
            XCTAssertTrue(MainLoop.pump { parts.edit.isRevealed })
            XCTAssertEqual(parts.editQuote.text, "old words")
            XCTAssertTrue(MainLoop.pump { parts.save.isSensitive })
            XCTAssertTrue(MainLoop.pump { !parts.send.isRevealed }, "Save stands in the bar (SLK-16)")
            XCTAssertTrue(MainLoop.pump { parts.cancelEdit.isMapped })
            parts.cancelEdit.click()
            XCTAssertTrue(MainLoop.pump { !parts.edit.isRevealed && bench.displayedText.isEmpty })
            XCTAssertTrue(MainLoop.pump { parts.cancelReply.isMapped })
            parts.cancelReply.click()
            XCTAssertTrue(MainLoop.pump { !parts.reply.isRevealed })
            try bench.close()
        }
    }
}

extension Button {
    fileprivate func click() { gtk_widget_activate(cast()) }
}

extension Widget {
    /// Returns whether an action resolved from this widget is enabled.
    func isEnabled(_ action: String) -> Bool {
        let button = Button(sinking: gtk_button_new())
        gtk_widget_set_parent(button.cast(), cast())
        gtk_actionable_set_action_name(button.cast(), action)
        defer { gtk_widget_unparent(button.cast()) }
        return button.isSensitive
    }
}

extension ComposerBench {
    /// The tags of each character, as sorted addresses: equal tags give equal arrays.
    fileprivate var looks: [[String]] {
        (0..<displayedText.unicodeScalars.count).map { offset in tags(at: offset).map { "\($0)" }.sorted() }
    }

    private func tags(at offset: Int) -> [UnsafeMutableRawPointer] {
        var iter = GtkTextIter()
        gtk_text_buffer_get_iter_at_offset(buffer, &iter, Int32(offset))
        let list = gtk_text_iter_get_tags(&iter)
        defer { g_slist_free(list) }
        var (tags, next) = ([UnsafeMutableRawPointer](), list)
        while let item = next {
            if let data = item.pointee.data { tags.append(data) }
            next = item.pointee.next
        }
        return tags
    }

    fileprivate func isBold(at offset: Int) -> Bool {
        tags(at: offset).contains { tag in
            var value = GValue()
            g_value_init(&value, shim_type_int())
            defer { g_value_unset(&value) }
            g_object_get_property(tag.assumingMemoryBound(to: GObject.self), "weight", &value)
            return g_value_get_int(&value) == PANGO_WEIGHT_BOLD.rawValue
        }
    }

    fileprivate func family(at offset: Int) -> String? {
        for tag in tags(at: offset) {
            var value = GValue()
            g_value_init(&value, shim_type_string())
            defer { g_value_unset(&value) }
            g_object_get_property(tag.assumingMemoryBound(to: GObject.self), "family", &value)
            if let family = g_value_get_string(&value) { return String(cString: family) }
        }
        return nil
    }
}
