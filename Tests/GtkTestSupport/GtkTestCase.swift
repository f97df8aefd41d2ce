import CGtk
public import GtkKit
public import XCTest

/// A test on real GTK. Its methods are nonisolated and enter the main actor by ``onMain(_:)``: corelibs XCTest
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

    /// Whether a widget that was not painted in a frame is a failure. Where anything may happen it is only told.
    open var isPaintingTested: Bool { true }

    open override func tearDownWithError() throws {
        let missed = onMain { LayoutWarnings.take() }
        guard isPaintingTested else { return missed.forEach { print("not painted in a frame: \($0)") } }
        XCTAssertEqual(missed, [], "widgets that were not painted")
    }

    /// Says where the display can be seen as it was when the test first failed: what raced does not come back for a look.
    open override func recordFailure(
        withDescription description: String, inFile filePath: String, atLine lineNumber: Int, expected: Bool
    ) {
        super.recordFailure(
            withDescription: description, inFile: filePath, atLine: lineNumber, expected: expected)
        guard testRun?.totalFailureCount == 1 else { return }
        DisplayPicture.take(named: name)
    }

    public func onMain<R: Sendable>(_ body: @MainActor () throws -> R) rethrows -> R {
        try MainActor.assumeIsolated(body)
    }

    /// A missing display is a failure, not a reason to skip: the Makefile provides one.
    public struct NoDisplay: Error {}
}

/// A window for tests that is shown until it is closed.
@MainActor
public final class TestWindow {
    public let window: Widget

    public init(_ child: Widget, width: Int32 = 300, height: Int32 = 200) {
        window = Widget(sinking: gtk_window_new())
        gtk_window_set_default_size(window.cast(), width, height)
        gtk_window_set_child(window.cast(), child.cast())
        gtk_window_present(window.cast())
        _ = MainLoop.pump { child.isMapped && child.width > 0 }
    }

    public func close() {
        // A text's blinking cursor stops while its window still has a clock: GTK 4.8 does it too late, with criticals.
        gtk_window_set_focus(window.cast(), nil)
        gtk_window_destroy(window.cast())
    }
}

/// Runs main-actor work to its end while GLib is pumped.
@MainActor
public func finish<R: Sendable>(_ work: @escaping @MainActor () async throws -> R) throws -> R {
    let outcome = Outcome<R>()
    Task { @MainActor in
        do { outcome.result = .success(try await work()) } catch { outcome.result = .failure(error) }
    }
    guard MainLoop.pump(forAtMost: 30, until: { outcome.result != nil }), let result = outcome.result else {
        throw Unfinished()
    }
    return try result.get()
}

/// Work that was not done within half a minute.
public struct Unfinished: Error {
    public init() {}
}

@MainActor
private final class Outcome<R: Sendable> {
    var result: Result<R, any Error>?
}
