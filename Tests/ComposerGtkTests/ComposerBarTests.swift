import CGtk
import Composer
import ComposerSessions
import Foundation
import GtkKit
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// The composer bar as a third-party application uses it.
final class ComposerBarTests: GtkTestCase {
    private static let interface = """
        <interface>
          <object class="GtkBox" id="root">
            <property name="orientation">vertical</property>
            <child>
              <object class="ParlanceComposerBar" id="bar">
                <property name="placeholder">Say something</property>
                <property name="character-limit">40</property>
                <property name="max-lines">3</property>
                <property name="return-sends">0</property>
                <property name="styles-markdown">0</property>
                <property name="shows-formatting">1</property>
                <property name="hides-send">1</property>
                <property name="text">Hello</property>
                <child type="start"><object class="GtkButton" id="attach"/></child>
                <child type="end"><object class="GtkButton" id="emoji"/></child>
                <child type="top"><object class="GtkLabel" id="banner"/></child>
                <child type="bottom"><object class="GtkLabel" id="footer"/></child>
              </object>
            </child>
          </object>
        </interface>
        """

    /// SLK-2, HKW-2: every property set in a `.ui` file reaches the widget and can be read back.
    func testInterfaceFileSetsEveryProperty() throws {
        try onMain {
            try ComposerBar.register()
            let builder = Builder(text: Self.interface)
            let widget: Widget = builder["bar"]
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            XCTAssertEqual(bar.text, "Hello")
            XCTAssertEqual(bar.placeholder, "Say something")
            XCTAssertEqual(bar.characterLimit, 40)
            XCTAssertEqual(bar.maxLines, 3)
            XCTAssertFalse(bar.returnSends)
            XCTAssertFalse(bar.stylesMarkdown)
            XCTAssertTrue(bar.showsFormatting)
            XCTAssertTrue(bar.hidesSend)
            XCTAssertEqual(bar.session.configuration.sendKey, .ctrlReturn)
            for (id, value) in [("character-limit", 40), ("max-lines", 3)] {
                XCTAssertEqual(widget.number(id), value, id)
            }
            let window = TestWindow(builder["root", Widget.self])
            for id in ["attach", "emoji", "banner", "footer"] {
                XCTAssertTrue(builder[id, Widget.self].isMapped, "\(id) is in its slot")
            }
            window.close()
        }
    }

    /// HKW-2: every property keeps its value, also after the others are set.
    func testEveryPropertyKeepsItsValue() throws {
        try onMain {
            try ComposerBar.register()
            let values: [(String, String)] = [
                ("text", "Hello"), ("placeholder", "Say something"), ("look", "glass"), ("preset", "slack"),
                ("character-limit", "40"),
                ("limit-is-hard", "1"), ("counter-style", "split"), ("max-height", "90"), ("content-inset", "7"),
                ("expanded", "1"), ("return-sends", "0"), ("styles-markdown", "0"), ("shows-formatting", "1"),
                ("shows-expand", "0"), ("shows-start", "0"), ("shows-end", "0"), ("hides-send", "1"), ("bounces", "0"),
                ("locks-scrolling", "1"), ("padding-top", "1"), ("padding-start", "2"), ("padding-bottom", "3"),
                ("padding-end", "4"), ("top-slot-padding", "5"), ("middle-padding", "6"), ("bottom-offset", "8"),
                ("shows-counter", "1"), ("sends-below", "1"), ("shows-completions", "0"), ("implicit-length", "3"),
                ("prefetches-completion", "1"), ("takes-files", "1"), ("keeps-tray", "1"), ("offers-more-files", "0"),
                ("hidden", "1"),
            ]
            let names = Set(ComposerBar.properties.map(\.name))
            XCTAssertEqual(names, Set(values.map(\.0) + ["max-lines"]), "the test knows every property")
            let settings = values.map { "<property name=\"\($0)\">\($1)</property>" }.joined()
            let file = "<interface><object class=\"ParlanceComposerBar\" id=\"bar\">\(settings)</object></interface>"
            let widget: Widget = Builder(text: file)["bar"]
            for (name, value) in values {
                XCTAssertEqual(widget.written(name), value, "HKW-2: \(name)")
            }
            let plain = ComposerBar.make()
            for property in ComposerBar.properties where property.name != "placeholder" {
                XCTAssertEqual(
                    plain.written(property.name), plain.initially(property.name), "SLK-2: \(property.name) at first")
            }
        }
    }

    func testSendInvokesSignalAndClosure() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let window = TestWindow(widget)
            var sent: [String] = []
            var raw = ""
            var changes = 0
            widget.connect("send") {
                sent.append($0.string(0))
                raw = $0.string(1)
            }
            widget.connect("changed") { _ in changes += 1 }
            try RealInput.activate(window.window)
            bar.grabFocus()
            try RealInput.type("hi ")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { sent == ["hi"] })
            XCTAssertEqual(raw, "hi ", "MIB-15: as it stood")
            XCTAssertTrue(MainLoop.pump { bar.text.isEmpty && changes > 0 })
            window.close()
        }
    }

    /// The key of the letter Z.
    private static let keyOfZ: guint = 52

    /// The symbol of the key of the letter Z in the first layout.
    @MainActor
    private static var symbolOfZ: UInt32 {
        var symbol: guint = 0
        let modifiers = GdkModifierType(rawValue: 0)
        _ = gdk_display_translate_key(gdk_display_get_default(), keyOfZ, modifiers, 0, &symbol, nil, nil, nil)
        return symbol
    }

    /// - Returns: whether the display has these keyboard layouts now.
    @MainActor
    private static func setLayouts(_ layouts: String) throws -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["setxkbmap", layouts]
        try process.run()
        return MainLoop.pump { !process.isRunning } && process.terminationStatus == 0
    }

    /// SLK-47: under the layout of another script, keys act by their letters in the user's Latin one.
    func testKeysActUnderALayoutOfAnotherScript() throws {
        try onMain {
            guard try Self.setLayouts("ru,us") else { throw XCTSkip("no setxkbmap here") }
            defer {
                XCTAssertEqual(try Self.setLayouts("us"), true)
                XCTAssertTrue(MainLoop.pump { Self.symbolOfZ == UInt32(GDK_KEY_z) }, "as other tests expect it")
            }
            XCTAssertTrue(MainLoop.pump { Self.symbolOfZ == UInt32(GDK_KEY_Cyrillic_ya) })
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let window = TestWindow(widget)
            try RealInput.activate(window.window)
            bar.grabFocus()
            XCTAssertTrue(MainLoop.pump { bar.textWidget.hasFocus })
            bar.text = "word"
            // The keys of A, B and Z by their numbers: for a letter, xdotool would change to the layout that has it.
            try RealInput.press("ctrl+38", "ctrl+56")
            XCTAssertTrue(MainLoop.pump { bar.text == "**word**" }, "SLK-47: \(bar.text)")
            try RealInput.press("ctrl+\(Self.keyOfZ)")
            XCTAssertTrue(MainLoop.pump { bar.text == "word" }, "SLK-47: \(bar.text)")
            try RealInput.press("ctrl+shift+\(Self.keyOfZ)")
            XCTAssertTrue(MainLoop.pump { bar.text == "**word**" }, "SLK-47: \(bar.text)")
            window.close()
        }
    }

    /// MCV: a message whose handler fails returns to the composer.
    func testFailedSendRestoresTheMessage() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            bar.session.onSend = { _ in throw TimedOut() }
            let window = TestWindow(widget)
            bar.text = "precious"
            bar.session.handle(.send)
            XCTAssertEqual(bar.text, "")
            XCTAssertTrue(MainLoop.pump { bar.text == "precious" })
            window.close()
        }
    }

    func testMultipleBarsAreIndependentAndMovable() throws {
        try onMain {
            try ComposerBar.register()
            let (one, two) = (ComposerBar.make(), ComposerBar.make())
            let (first, second) = (try XCTUnwrap(ComposerBar.of(one)), try XCTUnwrap(ComposerBar.of(two)))
            let box = Box(.vertical)
            box.append(one)
            box.append(two)
            let window = TestWindow(box)
            first.text = "first"
            second.text = "second"
            XCTAssertEqual(first.text, "first")
            box.remove(one)
            let other = Box(.vertical)
            other.append(one)
            let otherWindow = TestWindow(other)
            window.close()
            try RealInput.activate(otherWindow.window)
            first.grabFocus()
            try RealInput.press("End")
            try RealInput.type("!")
            XCTAssertTrue(MainLoop.pump { first.text == "first!" }, first.text)
            otherWindow.close()
        }
    }

    func testClosedBarsAreFinalized() throws {
        try onMain {
            try ComposerBar.register()
            var isGone = false
            do {
                let widget = ComposerBar.make()
                widget.onFinalize { isGone = true }
                let window = TestWindow(widget)
                ComposerBar.of(widget)?.text = "**b** @x"
                window.close()
            }
            XCTAssertTrue(MainLoop.pump { isGone }, "nothing holds a bar that was closed")
        }
    }

    /// SLK-53, MIB-42: a hidden bar takes no space and no focus but keeps its text.
    func testHiddenBarKeepsItsText() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let box = Box(.vertical)
            let filler = Label("timeline")
            gtk_widget_set_vexpand(filler.cast(), 1)
            box.append(filler)
            box.append(widget)
            let window = TestWindow(box)
            bar.text = "kept"
            bar.isHidden = true
            XCTAssertTrue(MainLoop.pump { widget.height < 10 })
            XCTAssertTrue(
                MainLoop.pump {
                    bar.grabFocus()
                    return gtk_window_get_focus(window.window.cast()) == nil
                })
            bar.isHidden = false
            XCTAssertTrue(MainLoop.pump { widget.height > 30 })
            XCTAssertEqual(bar.text, "kept")
            window.close()
        }
    }

    /// MIB-13: an item's hooks work for a real button with real key and pointer events.
    func testItemHooksReceiveKeyAndPointerEvents() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            bar.itemAppearances = ["attach": ItemAppearance(icon: "mail-attachment-symbolic", label: "Attach")]
            var received: [String] = []
            let item = ComposerItem(id: "attach")
                .on(.pressed) { _ in received.append("pressed") }
                .on(.selected) { _ in received.append("selected") }
                .on(.deselected) { _ in received.append("deselected") }
                .on(.editingBegan) { _ in received.append("began") }
                .onTextChanged { item, document in
                    received.append(document.text)
                    item.isEnabled = document.isEmpty
                }
            bar.items.set([item], in: .start)
            let window = TestWindow(widget, width: 500)
            try RealInput.activate(window.window)
            let button = try XCTUnwrap(widget.descendant { $0.tooltip == "Attach" })
            try RealInput.point(at: button)
            try RealInput.click()
            XCTAssertTrue(
                MainLoop.pump {
                    received.suffix(3) == ["selected", "pressed", "deselected"]
                        || received.suffix(3) == ["selected", "deselected", "pressed"]
                }, "\(received)")
            bar.grabFocus()
            XCTAssertTrue(MainLoop.pump { received.last == "began" }, "\(received)")
            try RealInput.type("a")
            XCTAssertTrue(MainLoop.pump { received.last == "a" && !button.isSensitive }, "\(received)")
            window.close()
        }
    }

    /// SLK-60: the bar accepts input and sends in any container.
    func testBarWorksInAnyContainer() throws {
        try onMain {
            try ComposerBar.register()
            let make: [(String, @MainActor (Widget) -> Widget)] = [
                (
                    "paned",
                    { bar in
                        let rooms = Label("rooms")
                        let paned = Widget(sinking: gtk_paned_new(GTK_ORIENTATION_HORIZONTAL))
                        gtk_paned_set_start_child(paned.cast(), rooms.cast())
                        gtk_paned_set_end_child(paned.cast(), bar.cast())
                        return paned
                    }
                ),
                (
                    "stack",
                    { bar in
                        let stack = Widget(sinking: gtk_stack_new())
                        gtk_stack_add_named(stack.cast(), bar.cast(), "page")
                        return stack
                    }
                ),
                (
                    "notebook",
                    { bar in
                        let book = Widget(sinking: gtk_notebook_new())
                        gtk_notebook_append_page(book.cast(), bar.cast(), nil)
                        return book
                    }
                ),
                (
                    "popover",
                    { bar in
                        let button = Widget(sinking: gtk_menu_button_new())
                        let popover = Widget(sinking: gtk_popover_new())
                        gtk_popover_set_child(popover.cast(), bar.cast())
                        gtk_widget_set_size_request(bar.cast(), 300, -1)
                        gtk_menu_button_set_popover(button.cast(), popover.cast())
                        return button
                    }
                ),
            ]
            for (name, container) in make {
                let widget = ComposerBar.make()
                let bar = try XCTUnwrap(ComposerBar.of(widget))
                var sent: [String] = []
                bar.session.onSend = { sent.append($0.text.source) }
                let outer = container(widget)
                let window = TestWindow(outer, width: 360, height: 300)
                try RealInput.activate(window.window)
                if name == "popover" { gtk_menu_button_popup(outer.cast()) }
                XCTAssertTrue(MainLoop.pump { widget.isMapped && widget.width > 0 }, name)
                bar.grabFocus()
                try RealInput.type("in a \(name)")
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { sent == ["in a \(name)"] }, "SLK-60: \(name), \(sent)")
                if name == "popover" {
                    gtk_menu_button_popdown(outer.cast())
                    XCTAssertTrue(MainLoop.pump { !widget.isMapped })
                }
                window.close()
            }
        }
    }

    /// MIB-5: a notice, a button or a recorder can replace the text; sending is disabled meanwhile.
    func testMiddleAreaCanBeReplaced() throws {
        try onMain {
            try ComposerBar.register()
            let widget = ComposerBar.make()
            let bar = try XCTUnwrap(ComposerBar.of(widget))
            let window = TestWindow(widget)
            bar.text = "kept"
            XCTAssertTrue(MainLoop.pump { bar.widgets.send.isRevealed })
            let join = Button(sinking: gtk_button_new_with_label("Join"))
            bar.replaceMiddle(by: join)
            XCTAssertTrue(MainLoop.pump { join.isMapped && !bar.textWidget.isMapped && !bar.widgets.send.isRevealed })
            let notice = Label("You cannot write here")
            bar.replaceMiddle(by: notice)
            XCTAssertTrue(MainLoop.pump { notice.isMapped && !join.isMapped })
            bar.replaceMiddle(by: nil)
            XCTAssertTrue(MainLoop.pump { !notice.isMapped })
            XCTAssertEqual(bar.text, "kept")
            window.close()
        }
    }
}

extension Widget {
    /// Returns the first descendant that meets the condition, depth first.
    fileprivate func descendant(where condition: (Widget) -> Bool) -> Widget? {
        for child in children {
            if condition(child) { return child }
            if let found = child.descendant(where: condition) { return found }
        }
        return nil
    }

    /// Returns a property's value as a `.ui` file spells it.
    fileprivate func written(_ name: String) -> String? {
        withSpecification(name) { _, value in
            g_object_get_property(cast(), name, value)
        }
    }

    /// Returns the default value of a property's `GParamSpec`.
    fileprivate func initially(_ name: String) -> String? {
        withSpecification(name) { specification, value in
            g_param_value_set_default(specification, value)
        }
    }

    private func withSpecification(
        _ name: String, _ read: (UnsafeMutablePointer<GParamSpec>, UnsafeMutablePointer<GValue>) -> Void
    ) -> String? {
        guard
            let specification = g_object_class_find_property(
                shim_instance_class(pointer)?.assumingMemoryBound(to: GObjectClass.self), name)
        else { return nil }
        var value = GValue()
        g_value_init(&value, specification.pointee.value_type)
        defer { g_value_unset(&value) }
        read(specification, &value)
        if g_type_check_value_holds(&value, shim_type_string()) != 0 {
            return g_value_get_string(&value).map { String(cString: $0) } ?? ""
        }
        if g_type_check_value_holds(&value, shim_type_boolean()) != 0 { return "\(g_value_get_boolean(&value))" }
        return "\(g_value_get_int(&value))"
    }

    /// Returns the value of an integer property.
    fileprivate func number(_ name: String) -> Int {
        var value = GValue()
        g_value_init(&value, shim_type_int())
        defer { g_value_unset(&value) }
        g_object_get_property(cast(), name, &value)
        return Int(g_value_get_int(&value))
    }
}
