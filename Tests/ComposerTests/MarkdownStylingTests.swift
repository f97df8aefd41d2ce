import Composer
import Testing

/// Markdown styling while typing.
@Suite struct MarkdownStylingTests {
    private static let styling = MarkdownStyling(rules: MarkdownRule.commonMark)

    /// Describes the runs: style and covered text.
    private func described(_ paragraph: String, isInFence: Bool = false) -> [String] {
        let text = Array(paragraph.utf16)
        return Self.styling.runs(in: paragraph, isInFence: isInFence).runs.filter { $0.style != .marker }.map { run in
            "\(run.style) \(String(decoding: text[run.range.location..<run.range.end], as: UTF16.self))"
        }
    }

    @Test(arguments: [
        ("plain words", []),
        ("a **b** c", ["bold b"]), ("a __b__ c", ["bold b"]), ("_b_", ["italic b"]), ("*b*", ["italic b"]),
        ("~~b~~", ["strike b"]), ("`b`", ["code b"]), ("**a _b_ c**", ["italic b", "bold a _b_ c"]),
        ("`**b**`", ["code **b**"]), ("snake_case_name", []), ("2 * 3 * 4", []), ("** b **", []), ("****", []),
        ("**open", []), ("\\**b**", []), ("a *b", []), ("``", []), ("👨‍👩‍👧 **é**", ["bold é"]),
        ("> quoted **b**", ["quote quoted **b**", "bold b"]), ("- item", []),
        ("[words](http://x_y_z)", ["link words"]), ("[**b**](u)", ["link **b**", "bold b"]), ("[a] (b)", []),
        ("[a](b", []), ("*a **b* c**", ["italic a **b"]),
    ])
    func inlineStylesAreFound(_ text: String, _ expected: [String]) {
        #expect(described(text) == expected)
    }

    @Test func fencesOpenAndClose() {
        let opened = Self.styling.runs(in: "```swift", isInFence: false)
        #expect(opened.isInFence)
        #expect(opened.runs == [.init(.marker, TextRange(location: 0, length: 8))])
        #expect(described("let **a** = 1", isInFence: true) == ["codeBlock let **a** = 1"])
        #expect(Self.styling.runs(in: "", isInFence: true).isInFence)
        #expect(!Self.styling.runs(in: "```", isInFence: true).isInFence)
    }

    @Test func markersCoverTheDelimiters() {
        let runs = Self.styling.runs(in: "a **b** [c](d)", isInFence: false).runs.filter { $0.style == .marker }
        #expect(runs.map(\.range.location) == [2, 5, 8, 10])
        #expect(runs.map(\.range.length) == [2, 2, 1, 4])
    }

    @Test func slackHasItsOwnDelimiters() {
        let slack = MarkdownStyling(rules: MarkdownRule.slack)
        #expect(slack.runs(in: "*b*", isInFence: false).runs.contains { $0.style == .bold })
        #expect(slack.runs(in: "**b**", isInFence: false).runs.allSatisfy { $0.range.end <= 5 })
    }

    /// For any input, runs lie within the paragraph; a paragraph full of delimiters does not take quadratic time.
    @Test func runsStayWithinTheParagraph() {
        var random = SystemRandomNumberGenerator()
        let fragments = ["*", "_", "**", "`", "~~", "[", "](", ")", "> ", "- ", "a", " ", "é", "👍🏽", "\\", "```"]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in fragments.randomElement()! }.joined()
            let length = text.utf16.count
            for run in Self.styling.runs(in: text, isInFence: false).runs {
                #expect(run.range.location >= 0 && run.range.length > 0 && run.range.end <= length, "\(text)")
            }
        }
        for symbol in ["*", "_", "`", "[", "[a](b)", "**a", "`a"] {
            let text = String(repeating: symbol, count: MarkdownStyling.limit / symbol.count)
            _ = Self.styling.runs(in: text, isInFence: false)
        }
    }
}
