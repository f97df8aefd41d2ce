import CGtk
import ChatCore
import ChatStore
import ChatViewModels
import Composer
import Foundation
import GtkTestSupport
import ToolSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// Clicks, types and opens menus at random; afterwards every control still responds.
///
/// `PARLANCE_CLICKS` sets the number of actions, with a random seed (`make soak`: 10,000); `PARLANCE_SEED` replays the
/// choices of a run. Without them the run is short and deterministic.
final class RandomUseTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.RandomUse")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    /// Off: GTK 4.8 occasionally omits a widget from a frame while windows open, close and resize at the same time.
    override var isPaintingTested: Bool { false }

    private static func number(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

    func testRandomUseLeavesAllControlsResponsive() throws {
        try onMain {
            let asked = Self.number("PARLANCE_CLICKS")
            let count = asked ?? 200
            let seed = Self.number("PARLANCE_SEED") ?? asked.map { _ in Int.random(in: 0..<1_000_000) } ?? 2026
            // Standard output is buffered, and lost in a crash.
            FileHandle.standardError.write(
                Data("RandomUseTests: PARLANCE_SEED=\(seed) PARLANCE_CLICKS=\(count)\n".utf8))
            let use = try RandomUse(Self.application, seed: UInt64(seed))
            for step in 0..<count {
                try use.act()
                guard step % 200 == 199 || step == count - 1 else { continue }
                if let silent = try use.unresponsiveControl() {
                    let actions = use.lastActions.joined(separator: ", ")
                    XCTFail("\(silent) does not answer after \(actions); seed \(seed)")
                    break
                }
            }
            try use.close()
        }
    }
}

/// A window with a few rooms, and the actions in it.
@MainActor
private final class RandomUse {
    private let fixture: ChatFixture
    private let main: MainWindow
    private var random: SeededGenerator
    private(set) var lastActions: [String] = []
    private let xdotool: XdotoolSession
    /// The window's ID for xdotool.
    private let window: String

    init(_ application: Application, seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        fixture = try ConversationBench.makeRoom(80, unread: 0)
        fixture.coordinator.start(opening: ConversationBench.room)
        for name in ["Plans", "Garden"] { fixture.coordinator.rooms.send(.create(name: name)) }
        let rooms = fixture.coordinator.rooms
        guard MainLoop.pump(until: { rooms.state.rows.count >= 5 }) else { throw TimedOut() }
        main = MainWindow(application: application, coordinator: fixture.coordinator, settings: nil)
        main.present()
        // No close button: a random click would hit it.
        gtk_window_set_deletable(main.window.cast(), 0)
        gtk_window_set_default_size(main.window.cast(), 900, 640)
        let shown = main.window
        guard MainLoop.pump(until: { shown.isMapped && shown.width > 0 }) else { throw TimedOut() }
        try RealInput.activate(shown)
        window = try RealInput.activeWindow()
        xdotool = try XdotoolSession()
    }

    // MARK: Random actions

    func act() throws {
        let (name, arguments) = next()
        lastActions = (lastActions + [name]).suffix(8)
        try xdotool.run(arguments)
        // Act sometimes at full speed, sometimes after the window is idle.
        waitForFrames(below(3) == 0 ? 4 : 1)
        try stayInside()
    }

    private func next() -> (String, [String]) {
        let (x, y) = place()
        // Move the window back first: drags of its title bar eventually push it off the screen, out of the pointer's
        // reach.
        let place = ["windowmove", window, "20", "20", "mousemove", "--window", window, "\(x)", "\(y)"]
        // xdotool waits 100 ms after each click by default.
        let click = ["click", "--delay", "15"]
        switch below(12) {
        case 0, 1, 2, 3: return ("click at \(x) \(y)", place + click + ["1"])
        case 4, 5: return ("secondary click at \(x) \(y)", place + click + ["3"])
        case 6: return ("double click", place + ["click", "--repeat", "2", "--delay", "40", "1"])
        case 7: return ("wheel", place + click + ["--repeat", "3", below(2) == 0 ? "4" : "5"])
        case 8:
            return (
                "drag",
                place + [
                    "mousedown", "1", "mousemove_relative", "--", "\(below(200) - 100)", "\(below(100) - 50)",
                    "sleep", "0.05", "mouseup", "1",
                ]
            )
        case 9: return ("type", ["type", "--delay", "5", pick(["tide", "@", ":sm", "/m", "#"])])
        default:
            let key = pick(Self.keys)
            return (key, ["key", RealInput.keycode(key)])
        }
    }

    /// Returns a point within the window: a click or scroll outside reaches the window manager, which opens its own
    /// menu or switches the desktop, and the application gets no more events.
    private func place() -> (Int, Int) {
        var (x, y) = (0.0, 0.0)
        gtk_native_get_surface_transform(main.window.cast(), &x, &y)
        return (Int(x) + below(max(1, main.window.width)), Int(y) + below(max(1, main.window.height)))
    }

    /// Keys for menus, regions and rooms; none that quits or opens a file chooser.
    private static let keys = [
        "F10", "Menu", "shift+F10", "Escape", "Escape", "Tab", "shift+Tab", "Up", "Down", "Left", "Right", "Return",
        "space", "F6", "shift+F6", "alt+Down", "alt+Up", "ctrl+f", "ctrl+shift+f", "ctrl+j", "Home", "End", "Prior",
        "Next", "BackSpace", "ctrl+question", "ctrl+n", "alt+Return", "ctrl+a",
    ]

    /// Closes native dialogs, such as file choosers, and occasionally secondary windows.
    private func stayInside() throws {
        // The title bar's menu may have minimized the window; a minimized window draws no frames.
        if let surface: OpaquePointer = gtk_native_get_surface(main.window.cast()),
            gdk_toplevel_get_state(surface).rawValue & GDK_TOPLEVEL_STATE_MINIMIZED.rawValue != 0
        {
            try RealInput.activate(main.window)
        }
        let others = Widget.windows.filter { $0.isMapped && !$0.isSame(as: main.window) }
        guard others.count > 2 || !(others.isEmpty && OpenDialogs.all.isEmpty) && below(6) == 0 else { return }
        // A menu of GTK's file chooser outlives the chooser, with its grab: close it first, as a user has to.
        for _ in 0..<2 { try xdotool.run(["key", "Escape"]) }
        for other in others { gtk_window_close(other.cast()) }
        OpenDialogs.closeAll()
        waitForFrames(6)
        if gtk_window_is_active(main.window.cast()) == 0, Widget.windows.count(where: \.isMapped) == 1 {
            try RealInput.activate(main.window)
        }
    }

    private func pick(_ choices: [String]) -> String { choices[below(choices.count)] }
    private func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    // MARK: Responsive controls

    /// Closes whatever is open as a user would, then tries each control with one click or key.
    /// - Returns: the first control that does not respond, or `nil`.
    func unresponsiveControl() throws -> String? {
        if Widget.windows.contains(where: { $0.isMapped && !$0.isSame(as: main.window) }) {
            for _ in 0..<2 { try xdotool.run(["key", "Escape"]) }
        }
        for other in Widget.windows where other.isMapped && !other.isSame(as: main.window) {
            gtk_window_destroy(other.cast())
        }
        try RealInput.activate(main.window)
        try xdotool.run(["windowmove", window, "20", "20"])
        for _ in 0..<4 {
            try xdotool.run(["key", "Escape"])
            waitForFrames(4)
        }
        let rooms = fixture.coordinator.rooms
        // Each of two rooms opens with one click.
        for name in ["Plans", "Garden"] {
            guard let row = rooms.state.rows.first(where: { $0.name == name }) else { continue }
            guard let label = label(name) else { continue }
            try RealInput.point(at: label)
            try RealInput.click()
            guard MainLoop.pump(until: { rooms.state.selection == row.id }) else {
                return "the row of \(name)"
            }
        }
        waitForFrames(10)
        // Typing reaches the composer.
        guard let composer = fixture.coordinator.conversation?.composer else { return "the room" }
        main.content.conversationView?.focusComposer()
        let before = composer.document.text
        try RealInput.type("x")
        guard MainLoop.pump(until: { composer.document.text != before }) else { return "the composer" }
        try RealInput.press("BackSpace")
        // Each menu opens with one click, and closes with one outside it.
        for button in menuButtons {
            try RealInput.point(at: button)
            try RealInput.click()
            func isOpen() -> Bool {
                gtk_menu_button_get_popover(button.cast()).map {
                    Widget(borrowing: UnsafeMutableRawPointer($0)).isVisible
                } ?? false
            }
            guard MainLoop.pump(until: { isOpen() }) else {
                return "the menu of \(button.tooltip ?? "a button")"
            }
            try xdotool.run(["key", "Escape"])
            guard MainLoop.pump(until: { !isOpen() }) else { return "Escape in a menu" }
        }
        return nil
    }

    private func label(_ text: String) -> Widget? {
        main.sidebar.rooms.descendants.first {
            $0.isMapped && shim_is_a($0.pointer, gtk_label_get_type()) != 0
                && String(cString: gtk_label_get_text($0.cast())) == text
        }
    }

    private var menuButtons: [Widget] {
        main.window.descendants.filter {
            $0.isMapped && $0.isSensitive && shim_is_a($0.pointer, gtk_menu_button_get_type()) != 0
                && gtk_menu_button_get_menu_model($0.cast()) != nil
        }
    }

    // MARK: Helpers

    private func waitForFrames(_ count: Int) {
        var frames = 0
        main.window.addTick {
            frames += 1
            return frames < count
        }
        _ = MainLoop.pump(forAtMost: 2) { frames >= count }
    }

    func close() throws {
        try xdotool.close()
        for other in Widget.windows where !other.isSame(as: main.window) { gtk_window_destroy(other.cast()) }
        try main.finishClosing()
        try finish { [fixture] in await fixture.coordinator.flushDrafts() }
        try fixture.close()
    }
}
