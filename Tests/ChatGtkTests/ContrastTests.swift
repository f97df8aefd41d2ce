import CGtk
import Composer
import ComposerSessions
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// The rendered contrast of small text is at least 4.5 : 1 (WCAG 2.1, success criterion 1.4.3).
final class ContrastTests: GtkTestCase {
    /// A text with the style classes of a view.
    private struct Sample {
        let name: String
        /// The style classes of the text's containers, outermost first; `row` is a row of the room list.
        var containers: [String]
        let classes: String
        /// Whether the text has a background of its own.
        var isFilled = false
    }

    private static let bubbles = [
        "parlance-conversation/message-row/message-bubble", "parlance-conversation/message-row own/message-bubble",
    ]
    private static let samples: [Sample] =
        [
            Sample(
                name: "typing line", containers: ["parlance-conversation", "parlance-typing"],
                classes: "caption dim-label"),
            Sample(name: "day", containers: ["parlance-conversation", "day-divider"], classes: ""),
            Sample(name: "event", containers: ["parlance-conversation", "event-row"], classes: ""),
            Sample(name: "unread line", containers: ["parlance-conversation", "unread-line"], classes: ""),
            Sample(
                name: "placeholder", containers: ["parlance-conversation", "parlance-composer"], classes: "dim-label"),
            Sample(
                name: "attachment", containers: ["parlance-conversation", "parlance-composer", "attachment-cell"],
                classes: "caption dim-label"),
            Sample(
                name: "failed attachment",
                containers: ["parlance-conversation", "parlance-composer", "attachment-cell failed"],
                classes: "caption dim-label"),
            Sample(
                name: "completion", containers: ["parlance-completions", "completion-row selected"],
                classes: "dim-label caption"),
        ]
        + ["row", "row selected"].flatMap { row in
            [
                ("preview", "caption dim-label room-preview"), ("time", "caption dim-label numeric"),
                ("draft", "caption preview-prefix draft"), ("failure", "caption preview-prefix error"),
                ("badge", "unread-badge numeric"),
            ].map {
                Sample(
                    name: "\($0.0), \(row)", containers: ["parlance-sidebar", row, "room-row"], classes: $0.1,
                    isFilled: $0.0 == "badge")
            }
        }
        + bubbles.flatMap { bubble in
            let containers = bubble.split(separator: "/").map(String.init)
            return [
                Sample(name: "time in \(containers[1])", containers: containers, classes: "message-meta"),
                Sample(
                    name: "sender of a quote in \(containers[1])", containers: containers + ["message-quote"],
                    classes: "quote-sender"),
                Sample(name: "list mark in \(containers[1])", containers: containers, classes: "message-list-mark"),
                Sample(
                    name: "file in \(containers[1])", containers: containers + ["message-file"],
                    classes: "caption dim-label"),
            ]
        }

    func testSmallTextIsLegible() throws {
        try onMain {
            try Self.inBothStyles { style in
                for sample in Self.samples {
                    let contrast = try Self.contrast(of: sample)
                    XCTAssertGreaterThanOrEqual(contrast, 4.5, "\(sample.name), \(style)")
                }
                let contrast = try Self.contrastOfSubtitle()
                XCTAssertGreaterThanOrEqual(contrast, 4.5, "subtitle, \(style)")
            }
        }
    }

    /// With the high-contrast style sheets, the contrast is at least 7 : 1 (success criterion 1.4.6).
    func testHighContrastFadesNothing() throws {
        try onMain {
            try Resource.load()
            try ComposerBar.register()
            let prefix = "/io/github/parlance_chat/Parlance/style/"
            let sheets = try ["high-contrast.css", "composer-high-contrast.css"].map {
                try XCTUnwrap(Resources.text(prefix + $0))
            }
            StyleSheet.setOverrides(sheets.joined(separator: "\n"))
            defer { StyleSheet.setOverrides("") }
            try Self.inBothStyles { style in
                for sample in Self.samples where !sample.isFilled && !sample.name.hasPrefix("failed") {
                    let contrast = try Self.contrast(of: sample)
                    XCTAssertGreaterThanOrEqual(contrast, 7, "\(sample.name), \(style)")
                }
            }
        }
    }

    // MARK: Measuring

    @MainActor
    private static func inBothStyles(_ body: (String) throws -> Void) throws {
        try Resource.load()
        Resource.loadStyle()
        try ComposerBar.register()
        defer { StyleManager.setColorScheme(.desktop) }
        for (scheme, name) in [(StyleManager.ColorScheme.light, "light"), (.dark, "dark")] {
            StyleManager.setColorScheme(scheme)
            try body(name)
        }
    }

    @MainActor
    private static func contrast(of sample: Sample) throws -> Double {
        let label = Label("████")
        label.setStyles(sample.classes)
        for side in [gtk_widget_set_margin_start, gtk_widget_set_margin_top] where !sample.isFilled {
            label.withPointer { side($0, 12) }
        }
        label.halign = .start
        var content: Widget = label
        for classes in sample.containers.reversed() {
            guard !classes.hasPrefix("row") else {
                let list = Widget(sinking: gtk_list_box_new())
                list.addStyle("navigation-sidebar")
                list.withPointer { gtk_list_box_append($0, content.cast()) }
                if classes == "row" { list.withPointer { gtk_list_box_set_selection_mode($0, GTK_SELECTION_NONE) } }
                if classes != "row" {
                    list.withPointer { gtk_list_box_select_row($0, gtk_list_box_get_row_at_index($0, 0)) }
                }
                content = list
                continue
            }
            let box = Box(.vertical)
            box.append(content)
            box.setStyles(classes)
            content = box
        }
        return try contrast(of: label, in: content, isFilled: sample.isFilled)
    }

    @MainActor
    private static func contrastOfSubtitle() throws -> Double {
        let title = WindowTitle("Title")
        title.setSubtitle("████")
        let label = try XCTUnwrap(
            title.descendants.first {
                $0.isInstance(of: gtk_label_get_type()) && $0.withRawPointer { Label(borrowing: $0).text } == "████"
            })
        return try contrast(of: label, in: title, isFilled: false)
    }

    /// The contrast between a label's text, which consists of full blocks, and the background to its left.
    @MainActor
    private static func contrast(of label: Widget, in content: Widget, isFilled: Bool) throws -> Double {
        let box = Box(.vertical)
        box.addStyle("background")
        box.append(content)
        let window = TestWindow(box, width: 240, height: 120)
        defer { window.close() }
        XCTAssertTrue(MainLoop.pump { label.isMapped && label.width > 0 })
        let frame = try XCTUnwrap(label.bounds(in: box))
        let drawn = try DrawnPixels(of: box)
        let text = try drawn.color(x: Int(frame.x + frame.width / 2), y: Int(frame.y + frame.height / 2))
        // The text of a label that fills the width is centered.
        let start = Int(frame.x) + (isFilled ? 4 : -3)
        let before = try drawn.color(x: max(start, 1), y: Int(frame.y + frame.height / 2))
        return text.contrast(with: before)
    }
}

extension Widget {
    /// - Parameter classes: Separated by spaces.
    fileprivate func setStyles(_ classes: String) {
        for name in classes.split(separator: " ") { addStyle(String(name)) }
    }
}
