import CGtk
public import GtkKit
public import XCTest

/// A test on real GTK. Its methods are nonisolated and enter the main actor through ``onMain(_:)``: corelibs XCTest
/// runs them on the main thread.
open class GtkTestCase: XCTestCase {
    open override func setUpWithError() throws {
        try onMain {
            LayoutWarnings.listen
            guard gtk_init_check() != 0 else { throw NoDisplay() }
            adw_init()
            MainLoop.attachDispatchQueue()
        }
    }

    /// Whether a widget that could not be painted in a frame fails the test. Tests of random input only log it.
    open var isPaintingTested: Bool { true }

    open override func tearDownWithError() throws {
        if testRun?.hasSucceeded == false { onMain { Self.destroyWindows() } }
        let missed = onMain { LayoutWarnings.drain() }
        guard isPaintingTested else { return missed.forEach { print("not painted in a frame: \($0)") } }
        XCTAssertEqual(missed, [], "widgets that were not painted")
    }

    /// A modal window that a failed test leaves open would get the input of the tests after it.
    @MainActor
    private static func destroyWindows() {
        // One by one: a window takes its dialogs with it.
        while let window = g_list_model_get_item(gtk_window_get_toplevels(), 0) {
            gtk_window_destroy(window.assumingMemoryBound(to: GtkWindow.self))
            g_object_unref(window)
        }
    }

    /// Saves a screenshot at the first failure, since a race may not reproduce.
    open override func recordFailure(
        withDescription description: String, inFile filePath: String, atLine lineNumber: Int, expected: Bool
    ) {
        super.recordFailure(
            withDescription: description, inFile: filePath, atLine: lineNumber, expected: expected)
        guard testRun?.totalFailureCount == 1 else { return }
        DisplayScreenshot.save(named: name)
    }

    public func onMain<R: Sendable>(_ body: @MainActor () throws -> R) rethrows -> R {
        try MainActor.assumeIsolated(body)
    }

    /// A missing display is a failure, not a reason to skip: the Makefile provides one.
    public struct NoDisplay: Error {}
}

/// A test window that is shown until ``close()``.
@MainActor
public final class TestWindow {
    public let window: Widget

    public init(_ child: Widget, width: Int32 = 300, height: Int32 = 200) {
        window = Widget(sinking: gtk_window_new())
        window.withPointer { gtk_window_set_default_size($0, width, height) }
        window.withPointer { first in child.withPointer { second in gtk_window_set_child(first, second) } }
        window.withPointer { gtk_window_present($0) }
        _ = MainLoop.pump { child.isMapped && child.width > 0 }
    }

    public func close() {
        // Clear the focus first: GTK 4.8 stops a blinking text cursor only after the window has lost its frame clock,
        // and logs criticals.
        window.withPointer { gtk_window_set_focus($0, nil) }
        window.withPointer { gtk_window_destroy($0) }
    }
}

/// Runs main-actor work to completion while iterating the GLib main loop.
@MainActor
public func finish<R: Sendable>(_ work: @escaping @MainActor () async throws -> R) throws -> R {
    let outcome = Outcome<R>()
    Task { @MainActor in
        do { outcome.result = .success(try await work()) } catch { outcome.result = .failure(error) }
    }
    guard MainLoop.pump(forAtMost: 30, until: { outcome.result != nil }), let result = outcome.result else {
        throw TimedOut()
    }
    return try result.get()
}

/// Work that did not finish within 30 seconds.
public struct TimedOut: Error {
    public init() {}
}

@MainActor
private final class Outcome<R: Sendable> {
    var result: Result<R, any Error>?
}
