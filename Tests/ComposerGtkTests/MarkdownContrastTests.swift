import CGtk
import Composer
import ComposerSessions
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// Markdown symbols are dimmed, but their contrast is at least 4.5 : 1 (WCAG 2.1, success criterion 1.4.3).
final class MarkdownContrastTests: GtkTestCase {
    func testMarkdownSymbolsAreLegible() throws {
        try onMain {
            try Self.inBothStyles { style in
                // Only strokes several pixels wide are rendered in the full color.
                StyleSheet.setOverrides("textview { font-size: 48px; }")
                defer { StyleSheet.setOverrides("") }
                let bench = try HostBench(width: 400)
                defer { bench.close() }
                bench.bar.session.handle(.load(WrittenText("**b**")))
                let editor = try XCTUnwrap(bench.bar.binding?.editor)
                bench.column.addStyle("background")
                // Laid out with the large font.
                XCTAssertTrue(
                    MainLoop.pump {
                        editor.rectangle(at: 2, in: bench.column).x - editor.rectangle(at: 0, in: bench.column).x > 30
                    })
                try RealInput.waitForFrames(5, of: bench.text)
                let (first, last) = (
                    editor.rectangle(at: 0, in: bench.column), editor.rectangle(at: 2, in: bench.column)
                )
                let drawn = try DrawnPixels(of: bench.column)
                let background = try drawn.color(x: Int(first.x) + 1, y: Int(first.y + first.height) - 3)
                var contrast = 1.0
                for y in Int(first.y)..<Int(first.y + first.height) {
                    for x in Int(first.x) + 3..<Int(last.x) - 1 {
                        contrast = max(contrast, try drawn.color(x: x, y: y).contrast(with: background))
                    }
                }
                XCTAssertGreaterThanOrEqual(contrast, 4.5, style)
                XCTAssertLessThan(contrast, 11, "\(style): they recede")
            }
        }
    }

    @MainActor
    private static func inBothStyles(_ body: (String) throws -> Void) throws {
        try ComposerBar.register()
        defer { StyleManager.setColorScheme(.desktop) }
        for (scheme, name) in [(StyleManager.ColorScheme.light, "light"), (.dark, "dark")] {
            StyleManager.setColorScheme(scheme)
            try body(name)
        }
    }
}
