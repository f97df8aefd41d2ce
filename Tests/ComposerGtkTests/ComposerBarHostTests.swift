import CGtk
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// Host customization of the bar: style sheets, its own text view, its own accessory widgets.
final class ComposerBarHostTests: GtkTestCase {
    /// MCV-18: text and send in three lines of code.
    func testMinimalSetupSendsText() throws {
        try onMain {
            try ComposerBar.register()
            var sent: [String] = []
            let widget = ComposerBar.make()
            ComposerBar.of(widget)?.session.onSend = { sent.append($0.text.source) }
            let window = TestWindow(widget)
            try RealInput.activate(window.window)
            ComposerBar.of(widget)?.grabFocus()
            try RealInput.type("hello")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { sent == ["hello"] }, "MCV-18")
            window.close()
        }
    }

    /// SLK-62: the host may supply any GtkTextView as the editor; other widgets are rejected.
    func testHostCanSupplyItsOwnTextView() throws {
        try onMain {
            try ComposerBar.register()
            let own = Widget(sinking: gtk_text_view_new())
            ComposerBar.makeEditor = { own }
            defer { ComposerBar.makeEditor = nil }
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            XCTAssertEqual(bar.textWidget.pointer, own.pointer, "SLK-62")
            ComposerBar.makeEditor = { Label("no text view") }
            let plain = ComposerBar.make()
            XCTAssertNotNil(ComposerBar.of(plain).flatMap { ComposerTextView.of($0.textWidget) })
            var sent: [String] = []
            bar.session.onSend = { sent.append($0.text.source) }
            let window = TestWindow(widget)
            bar.session.handle(.load(WrittenText("Ann", mentioning: [Mention(.custom("1"), text: "Ann")])))
            try RealInput.activate(window.window)
            bar.grabFocus()
            try RealInput.type("!")
            XCTAssertTrue(MainLoop.pump { bar.text == "Ann!" })
            var iter = GtkTextIter()
            gtk_text_buffer_get_start_iter(gtk_text_view_get_buffer(own.cast()), &iter)
            let tags = gtk_text_iter_get_tags(&iter)
            let isMarked = (0..<g_slist_length(tags)).contains { index in
                guard let tag = g_slist_nth_data(tags, index) else { return false }
                return Object(borrowing: tag).integer("background-set") != 0
            }
            g_slist_free(tags)
            XCTAssertTrue(isMarked, "a mention is seen there, too")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { sent == ["Ann!"] })
            window.close()
        }
    }

    /// MIB-16: Alt+arrow is the keyboard equivalent of a swipe.
    func testSwipesHaveKeyboardEquivalents() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            var received: [String] = []
            bar.items.set(
                [ComposerItem(id: "a").onSwipe { _, direction in received.append("item \(direction)") }], in: .start)
            widget.connect("swiped") { received.append("bar \($0.string(0))") }
            let window = TestWindow(widget)
            try RealInput.activate(window.window)
            bar.grabFocus()
            try RealInput.press("alt+Left", "alt+Right")
            XCTAssertTrue(MainLoop.pump { received.count == 4 }, "\(received)")
            XCTAssertEqual(received, ["item left", "bar left", "item right", "bar right"], "MIB-16: items first")
            window.close()
        }
    }

    /// MIB-16: the keys are the window's where nobody listens to swipes.
    func testSwipeKeysAreTheWindowsWithoutListeners() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            var received: [String] = []
            let box = Box(.vertical)
            box.append(widget)
            let keys = KeyController()
            keys.onPress { key in
                if key.key == GDK_KEY_Left { received.append("window") }
                return false
            }
            box.addController(keys)
            let window = TestWindow(box)
            try RealInput.activate(window.window)
            bar.grabFocus()
            XCTAssertTrue(MainLoop.pump { bar.textWidget.hasFocus })
            try RealInput.press("alt+Left")
            XCTAssertTrue(MainLoop.pump { received == ["window"] }, "MIB-16: \(received)")
            let connection = widget.connect("swiped") { received.append($0.string(0)) }
            try RealInput.press("alt+Left")
            XCTAssertTrue(MainLoop.pump { received == ["window", "left"] }, "MIB-16: \(received)")
            connection.disconnect()
            try RealInput.press("alt+Left")
            XCTAssertTrue(MainLoop.pump { received == ["window", "left", "window"] }, "MIB-16: \(received)")
            bar.items.set([ComposerItem(id: "a").onSwipe { _, _ in received.append("item") }], in: .start)
            try RealInput.press("alt+Left")
            XCTAssertTrue(MainLoop.pump { received == ["window", "left", "window", "item"] }, "MIB-16: \(received)")
            window.close()
        }
    }

    /// HKW-23: only one accessory at a time; it follows the bar, also into another window.
    func testAccessoryFollowsTheBar() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let (badge, other) = (Label("!"), Label("?"))
            gtk_widget_set_halign(badge.cast(), GTK_ALIGN_END)
            XCTAssertTrue(bar.attachAccessory(badge))
            XCTAssertFalse(bar.attachAccessory(other), "HKW-23: there is one")
            let box = Box(.vertical)
            box.append(widget)
            let window = TestWindow(box, width: 400)
            let end = { () -> Double in badge.bounds(in: bar.textWidget).map { $0.x + $0.width } ?? 0 }
            let isAtTheEnd = { badge.isMapped && abs(end() - Double(bar.textWidget.width)) < 12 }
            XCTAssertTrue(MainLoop.pump(until: isAtTheEnd), "\(end()) of \(bar.textWidget.width)")
            gtk_window_set_default_size(window.window.cast(), 700, 200)
            XCTAssertTrue(MainLoop.pump { bar.textWidget.width > 500 && isAtTheEnd() }, "HKW-23: it goes along")
            box.remove(widget)
            let second = TestWindow(widget, width: 400)
            XCTAssertTrue(MainLoop.pump(until: isAtTheEnd), "HKW-23: ⚠ it was lost")
            bar.detachAccessory(other)
            XCTAssertTrue(badge.isMapped)
            bar.detachAccessory(badge)
            XCTAssertNil(gtk_widget_get_parent(badge.cast()))
            XCTAssertTrue(bar.attachAccessory(other))
            second.close()
            window.close()
        }
    }

    /// HKW-25: only sending or an explicit request ends a preedit.
    func testPreeditEndsOnlyOnRequest() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let window = TestWindow(widget)
            try RealInput.activate(window.window)
            bar.text = "12"
            bar.grabFocus()
            XCTAssertTrue(MainLoop.pump { bar.textWidget.hasFocus })
            try RealInput.press("ctrl+End", "Left")
            XCTAssertTrue(MainLoop.pump { bar.session.composer.selection == .caret(1) })
            // Use GTK's built-in input method, whichever others are installed: Ctrl+Shift+U enters a code point.
            bar.textWidget.setProperty("im-module", "gtk-im-context-simple")
            try RealInput.press("ctrl+shift+u", "4", "1")
            let preedit = { bar.session.composer.preedit }
            XCTAssertTrue(MainLoop.pump { preedit().hasSuffix("41") }, preedit())
            var seen: [ComposerObservation] = []
            bar.session.observe(as: "ear") { observation, _ in seen.append(observation) }
            for event in [ComposerEvent.cancelCompletion, .expand(true), .expand(false), .reply(nil), .focus(true)] {
                bar.session.handle(event)
            }
            bar.showsFormatting = true
            XCTAssertTrue(preedit().hasSuffix("41"), "HKW-25: \(preedit())")
            XCTAssertEqual(bar.text, "12", "HKW-25: and nothing of it is text")
            seen = []
            bar.commitPreedit()
            XCTAssertTrue(MainLoop.pump { preedit().isEmpty }, "HKW-25: asked for it is ended")
            XCTAssertFalse(seen.contains(.unfocused), "HKW-25: ⚠ the focus went and came back: \(seen)")
            XCTAssertTrue(bar.textWidget.hasFocus)
            let committed = bar.text.count - 2
            XCTAssertEqual(bar.session.composer.selection, .caret(1 + committed), "HKW-25: the caret is behind it")
            try RealInput.type("x")
            XCTAssertTrue(
                MainLoop.pump { bar.text.hasPrefix("1") && bar.text.hasSuffix("x2") }, "HKW-25: writing goes on there")
            window.close()
        }
    }

    /// SLK-8: an empty start area has no width; any widget may be placed in it.
    func testStartAreaIsAsWideAsItsItems() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let window = TestWindow(widget, width: 400)
            let start = { bar.textWidget.bounds(in: widget)?.x ?? 0 }
            let bare = start()
            bar.itemAppearances["a"] = ItemAppearance(icon: "mail-attachment-symbolic", label: "Attach")
            let item = ComposerItem(id: "a")
            bar.items.set([item], in: .start)
            XCTAssertTrue(MainLoop.pump { start() > bare + 30 }, "SLK-8")
            item.isVisible = false
            XCTAssertTrue(MainLoop.pump { start() <= bare + 8 }, "SLK-8: \(start()), was \(bare)")
            let menu = Widget(sinking: gtk_menu_button_new())
            menu.tooltip = "Attach"
            bar.append(menu, to: .start)
            XCTAssertTrue(MainLoop.pump { menu.isMapped && start() > bare + 20 }, "SLK-8: with a menu")
            window.close()
        }
    }

    /// MIB-43, MCV-17, SLK-13: a host's style sheet overrides the bar's style.
    func testHostStyleSheetOverridesTheStyle() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            widget.addStyle("test-look")
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let box = Box(.vertical)
            box.append(widget)
            let window = TestWindow(box, width: 400)
            bar.text = "x"
            let button = bar.widgets.sendButton
            XCTAssertTrue(MainLoop.pump { button.isMapped && button.width > 0 })
            let height = widget.height
            XCTAssertLessThan(button.width, 60)
            let provider = gtk_css_provider_new()
            let style = """
                .test-look .composer-field { padding: 15px 0; }
                .test-look button.parlance-send { min-width: 90px; }
                """
            shim_load_css(provider, style)
            gtk_style_context_add_provider_for_display(
                gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_USER))
            defer {
                gtk_style_context_remove_provider_for_display(gdk_display_get_default(), OpaquePointer(provider))
                g_object_unref(provider)
            }
            XCTAssertTrue(MainLoop.pump { widget.height >= height + 20 }, "MIB-43: \(widget.height), was \(height)")
            XCTAssertTrue(MainLoop.pump { button.width >= 90 }, "MCV-17: \(button.width)")
            window.close()
        }
    }

    /// MIB-46, SLK-6: the bar has no hard-coded colors: text is light in a dark theme.
    func testColorsFollowTheTheme() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let window = TestWindow(widget)
            let manager = adw_style_manager_get_default()
            defer { adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_DEFAULT) }
            for (scheme, isLight) in [(ADW_COLOR_SCHEME_FORCE_LIGHT, false), (ADW_COLOR_SCHEME_FORCE_DARK, true)] {
                adw_style_manager_set_color_scheme(manager, scheme)
                for part in [bar.textWidget, bar.widgets.placeholder, bar.widgets.editQuote] {
                    let isSo = { () -> Bool in
                        var color = GdkRGBA()
                        shim_widget_color(part.pointer, &color)
                        return (color.red + color.green + color.blue > 1.5) == isLight
                    }
                    XCTAssertTrue(MainLoop.pump(until: isSo), "MIB-46: \(part)")
                }
            }
            window.close()
        }
    }

    /// MIB-47: in right-to-left locales the start area is on the right; a paragraph's direction follows its own text.
    func testRightToLeftMirrorsTheBar() throws {
        try onMain {
            gtk_widget_set_default_direction(GTK_TEXT_DIR_RTL)
            defer { gtk_widget_set_default_direction(GTK_TEXT_DIR_LTR) }
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            bar.itemAppearances["a"] = ItemAppearance(icon: "mail-attachment-symbolic", label: "Attach")
            bar.items.set([ComposerItem(id: "a")], in: .start)
            let window = TestWindow(widget, width: 400)
            bar.text = "שלום\nhello"
            XCTAssertTrue(MainLoop.pump { bar.widgets.sendButton.isMapped && bar.widgets.sendButton.width > 0 })
            let attach = try XCTUnwrap(widget.descendants.first { $0.tooltip == "Attach" })
            let x = { (part: Widget) -> Double in part.bounds(in: widget)?.x ?? -1 }
            XCTAssertTrue(
                MainLoop.pump { x(attach) > x(bar.textWidget) && x(bar.textWidget) > x(bar.widgets.sendButton) },
                "MIB-47: \(x(attach)), \(x(bar.textWidget)), \(x(bar.widgets.sendButton))")
            let editor = try XCTUnwrap(bar.binding?.editor)
            let middle = Int32(bar.textWidget.width / 2)
            XCTAssertTrue(
                MainLoop.pump {
                    editor.rectangle(at: 0, in: bar.textWidget).x > middle
                        && editor.rectangle(at: 5, in: bar.textWidget).x < middle
                }, "MIB-47: each paragraph by its own letters")
            window.close()
        }
    }

    /// MIB-44: a floating bar lets pointer events beside it through to the content.
    func testPointerEventsBesideAFloatingBarReachTheContent() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let content = Button(sinking: gtk_button_new_with_label("content"))
            let overlay = Widget(sinking: gtk_overlay_new())
            gtk_overlay_set_child(overlay.cast(), content.cast())
            gtk_widget_set_valign(widget.cast(), GTK_ALIGN_END)
            gtk_widget_set_margin_start(widget.cast(), 60)
            gtk_widget_set_margin_end(widget.cast(), 60)
            gtk_overlay_add_overlay(overlay.cast(), widget.cast())
            let window = TestWindow(overlay, width: 400, height: 300)
            let place = try XCTUnwrap(widget.bounds(in: overlay))
            let hit = { (x: Double) -> Bool in
                guard let picked = gtk_widget_pick(overlay.cast(), x, place.y + place.height / 2, GTK_PICK_DEFAULT)
                else {
                    return false
                }
                return picked == widget.cast() || gtk_widget_is_ancestor(picked, widget.cast()) != 0
            }
            XCTAssertTrue(hit(200), "the bar is there")
            XCTAssertFalse(hit(20), "MIB-44")
            XCTAssertFalse(hit(380), "MIB-44")
            window.close()
        }
    }
}
