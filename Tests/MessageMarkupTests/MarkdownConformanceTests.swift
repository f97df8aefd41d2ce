import MessageMarkup
import Testing

/// CommonMark and GFM conformance, section by section.
struct MarkdownConformanceTests {
    @Test(arguments: MarkdownCases.all.map(\.section))
    func bodiesMatchTheSpecification(section: String) {
        let cases = MarkdownCases.all.first { $0.section == section }?.cases ?? []
        #expect(!cases.isEmpty)
        for (markdown, body) in cases {
            #expect(sketch(MessageMarkup.body(markdown: markdown)) == body, "\(markdown.debugDescription)")
        }
    }
}
