import CGtk
import Composer
import ComposerSessions
import Foundation
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// MIB-48: reproduces each sample's bar with an appearance, items and hooks, and checks its distinctive features.
final class BarAppearanceTests: GtkTestCase {
    @MainActor private static let looks = [
        "photo": ItemAppearance(icon: "camera-photo-symbolic", label: "Photo"), "at": ItemAppearance(label: "Mention"),
    ]

    @MainActor
    private static func bench(
        _ look: BarAppearance, width: Int32 = 500, _ items: [ItemSlot: [ComposerItem]] = [:]
    ) throws -> HostBench {
        try HostBench(width: width) { bar in
            bar.appearance = look.rawValue
            bar.bounces = false
            bar.itemAppearances = looks
            for (slot, items) in items { bar.items.set(items, in: slot) }
        }
    }

    @MainActor
    private static func frame(_ part: Widget, in bench: HostBench) throws -> (
        x: Double, y: Double, width: Double, height: Double
    ) {
        XCTAssertTrue(MainLoop.pump { part.isMapped && part.width > 0 })
        return try XCTUnwrap(part.bounds(in: bench.widget))
    }

    /// The text takes the remaining width; Return and the round button send.
    func testDefaultAppearance() throws {
        try onMain {
            let bench = try Self.bench(.parlance)
            var sent: [String] = []
            bench.session.onSend = { sent.append($0.text.source) }
            let send = bench.bar.widgets.sendButton
            let before = try Self.frame(send, in: bench)
            XCTAssertFalse(send.isSensitive, "SLK-10: there without a text, and at rest")
            try RealInput.type("hello")
            XCTAssertTrue(MainLoop.pump { send.isSensitive })
            let place = try Self.frame(send, in: bench)
            XCTAssertEqual(place.x, before.x, "SLK-10: nothing moves with the first letter")
            XCTAssertEqual(place.width, place.height, "MIB-48: round")
            try bench.click(send)
            XCTAssertTrue(MainLoop.pump { sent == ["hello"] })
            XCTAssertEqual(bench.bar.appearance, "parlance")
            bench.bar.appearance = "no such look"
            XCTAssertEqual(bench.bar.appearance, "parlance")
            bench.close()
        }
    }

    /// A round send button inside the rounded text frame.
    func testIMessageAppearance() throws {
        try onMain {
            let bench = try Self.bench(.iMessage, [.start: [ComposerItem(id: "photo")]])
            try RealInput.type("hello")
            let send = try Self.frame(bench.bar.widgets.sendButton, in: bench)
            let frame = try Self.frame(bench.bar.widgets.content, in: bench)
            let text = try Self.frame(bench.text, in: bench)
            XCTAssertEqual(send.width, send.height, "MIB-48: round")
            XCTAssertGreaterThanOrEqual(send.x, text.x + text.width, "MIB-48: behind the text")
            let end = { () -> Double in
                bench.bar.widgets.sendButton.bounds(in: bench.widget).map { $0.x + $0.width } ?? .infinity
            }
            XCTAssertTrue(
                MainLoop.pump { end() <= frame.x + frame.width }, "MIB-48: within the frame, once it is there")
            XCTAssertLessThanOrEqual(abs((send.y + send.height / 2) - (frame.y + frame.height / 2)), 2)
            bench.close()
        }
    }

    /// A toolbar below the text: a camera disabled while there is text, a mention button, and an always visible send
    /// button at the end; the expand button is at the top.
    func testSlackAppearance() throws {
        try onMain {
            let camera = ComposerItem(id: "photo").onTextChanged { $0.isEnabled = $1.isEmpty }
            let at = ComposerItem(id: "at")
            let bench = try Self.bench(.slack, [.bottom: [camera, at]])
            at.on(.pressed) { [weak bar = bench.bar] _ in bar?.startCompletion("@") }
            bench.session.completionSources = [NameSource("@", ["Ann"])]
            let send = bench.bar.widgets.sendButton
            let place = try Self.frame(send, in: bench)
            XCTAssertGreaterThanOrEqual(place.width, 52, "MIB-48")
            XCTAssertGreaterThanOrEqual(place.height, 30, "MIB-48")
            let text = try Self.frame(bench.text, in: bench)
            XCTAssertGreaterThan(place.y, text.y + text.height, "MIB-48: below")
            XCTAssertFalse(send.isSensitive, "MIB-48: there without a text, and at rest")
            let photo = try XCTUnwrap(bench.item("Photo"))
            XCTAssertTrue(photo.isSensitive)
            try bench.click(try XCTUnwrap(bench.item("Mention")))
            XCTAssertTrue(
                MainLoop.pump { bench.bar.binding?.completion.isOpen == true }, "MIB-48: the list of its button")
            try RealInput.press("Return")
            XCTAssertTrue(bench.waits(for: "@Ann "))
            XCTAssertTrue(MainLoop.pump { !photo.isSensitive && send.isSensitive }, "MIB-48: the camera rests")
            try RealInput.press("shift+Return", "shift+Return", "shift+Return")
            let expand = try Self.frame(bench.bar.widgets.expand, in: bench)
            XCTAssertLessThan(expand.y, text.y + 40, "MIB-48: at the top")
            XCTAssertGreaterThan(expand.x, 400, "MIB-48: at the end")
            bench.close()
        }
    }

    /// Swiping over the text hides and shows the items before it.
    func testMessengerAppearance() throws {
        try onMain {
            let photo = ComposerItem(id: "photo")
            let bench = try Self.bench(.messenger, [.start: [photo]])
            photo.onSwipe { [weak bar = bench.bar] _, direction in bar?.showsStart = direction == .right }
            let button = try XCTUnwrap(bench.item("Photo"))
            _ = try Self.frame(button, in: bench)
            let wide = { bench.bar.widgets.start.width }
            let before = wide()
            XCTAssertGreaterThanOrEqual(before, 34, "MIB-48")
            try RealInput.press("alt+Left")
            XCTAssertTrue(MainLoop.pump { wide() == 0 }, "MIB-48: \(wide())")
            try RealInput.press("alt+Right")
            XCTAssertTrue(MainLoop.pump { wide() == before }, "MIB-48")
            bench.close()
        }
    }

    /// A large, always visible send icon above a scrollable row of buttons.
    func testGitHawkAppearance() throws {
        try onMain {
            let items = (0..<20).map { ComposerItem(id: "item \($0)") }
            let bench = try Self.bench(.gitHawk, width: 360, [.bottom: items])
            let send = try Self.frame(bench.bar.widgets.sendButton, in: bench)
            XCTAssertEqual([send.width, send.height], [36, 36], "MIB-48")
            XCTAssertEqual(bench.window.window.width, 360, "MIB-48: however many buttons there are")
            let scroll = bench.bar.widgets.bottomScroller.horizontalAdjustment
            XCTAssertGreaterThan(scroll.upper, scroll.pageSize, "MIB-48: they scroll")
            let last = try XCTUnwrap(bench.item("item 19"))
            last.grabFocus()
            XCTAssertTrue(MainLoop.pump { scroll.value > 0 }, "MIB-48: each is reached by keys")
            bench.close()
        }
    }

    /// The content behind the bar shows through.
    func testGlassAppearanceIsTranslucent() throws {
        try onMain {
            let color = { (look: BarAppearance) -> (Double, Double) in
                try ComposerBar.register()
                let widget = ComposerBar.make()
                ComposerBar.of(widget)?.appearance = look.rawValue
                let overlay = Widget(sinking: gtk_overlay_new())
                overlay.addStyle("test-red")
                let empty = Label("")
                gtk_overlay_set_child(overlay.cast(), empty.cast())
                gtk_widget_set_valign(widget.cast(), GTK_ALIGN_END)
                gtk_overlay_add_overlay(overlay.cast(), widget.cast())
                let window = TestWindow(overlay, width: 300, height: 120)
                defer { window.close() }
                XCTAssertTrue(MainLoop.pump { widget.isMapped && widget.height > 20 })
                let drawn = try DrawnPixels(of: overlay).color(x: 150, y: 120 - 40)
                return (drawn.red, drawn.green)
            }
            let manager = adw_style_manager_get_default()
            adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_FORCE_LIGHT)
            defer { adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_DEFAULT) }
            let provider = gtk_css_provider_new()
            shim_load_css(provider, ".test-red { background-color: #ff0000; }")
            gtk_style_context_add_provider_for_display(
                gdk_display_get_default(), OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_USER))
            defer {
                gtk_style_context_remove_provider_for_display(gdk_display_get_default(), OpaquePointer(provider))
                g_object_unref(provider)
            }
            let (red, green) = try color(.glass)
            XCTAssertGreaterThan(red, green + 0.15, "MIB-48: red shows through")
            XCTAssertGreaterThan(green, 0.4, "MIB-48: and the bar is there")
            let (opaqueRed, opaqueGreen) = try color(.gitHawk)
            XCTAssertEqual(opaqueRed, opaqueGreen, accuracy: 0.02, "others are as the theme is")
        }
    }

    /// A button replaces the text; clicking it restores the text.
    func testButtonCanReplaceTheTextView() throws {
        try onMain {
            let bench = try Self.bench(.parlance)
            let join = Button(sinking: gtk_button_new_with_label("Join Chat"))
            bench.bar.replaceMiddle(by: join)
            join.onClick { [weak bar = bench.bar] in
                bar?.replaceMiddle(by: nil)
                bar?.grabFocus()
            }
            XCTAssertTrue(MainLoop.pump { join.isMapped && !bench.text.isMapped && !bench.bar.widgets.send.isRevealed })
            try bench.click(join)
            XCTAssertTrue(MainLoop.pump { bench.text.isMapped && bench.text.hasFocus }, "MIB-48")
            try RealInput.type("hello")
            XCTAssertTrue(bench.waits(for: "hello"))
            bench.close()
        }
    }
}
