import ChatCore
import ChatGtk
import DequeModule
import GtkKit
import MessageMarkup
import TimelineGtk
import ToolSupport

/// Realistic messages: plain text, and every third with some markup.
final class MixedList: OurList {
    private final class BodyRow: TimelineListRow {
        let body = MessageBodyView()
        var widget: Widget { body.widget }
    }

    private static let formattedBodies = [
        "Look at **this**, *please*: ~~no~~ `yes`, https://a.example/path and ||a surprise||.",
        "> What did you say?\n\nThat it *works*.",
        "```swift\nfunc greet(_ name: String) -> String {\n    \"Hello, \\(name)!\"\n}\n```",
        "1. first\n2. second\n   - nested\n   - twice\n3. third",
        "| name | age |\n|:-----|----:|\n| Ann | 42 |\n| Bob | 7 |",
        "👍🎉",
        "# A heading\n\nand text below it\n\n---\n\nand more",
    ].map { MessageMarkup.body(markdown: $0) }

    override func makeRow(kind: Int) -> any TimelineListRow { BodyRow() }

    override func bind(_ row: any TimelineListRow, at index: Int) {
        let key = keys[index]
        let body =
            key.isMultiple(of: 3)
            ? Self.formattedBodies[key / 3 % Self.formattedBodies.count] : MessageBody(plain: texts.text(of: key))
        (row as? BodyRow)?.body.show(body, sender: "Ann")
    }
}

/// The cost of scrolling through a room with all kinds of messages.
enum MixedBenchmarks {
    /// The frame budget at 60 Hz, in milliseconds.
    private static let frame = 1000.0 / 60

    static func rows() -> [BenchmarkRow] {
        let meter = Meter<MixedList>(.short, 10_000)
        defer { meter.close() }
        let before = meter.list.list.statistics.bindings
        let start = Meter<MixedList>.cpu
        let costs = meter.scroll(Array(repeating: -78.84, count: 600))
        let seconds = (Meter<MixedList>.cpu - start) / 1000
        let bound = Double(meter.list.list.statistics.bindings - before)
        return [
            BenchmarkRow(name: "timeline: mixed bodies, rows bound", value: bound / seconds, unit: "a second of CPU"),
            BenchmarkRow(name: "timeline: mixed bodies, wheel frame, median", value: costs.median, unit: "ms CPU"),
            BenchmarkRow(
                name: "timeline: mixed bodies, wheel frame, 99th percentile", value: costs.percentile(0.99),
                unit: "ms CPU"),
            BenchmarkRow(
                name: "timeline: mixed bodies, of 600 wheel frames over 16.7 ms",
                value: Double(costs.count { $0 > frame }), unit: "frames"),
        ]
    }
}
