import Fuzzing
import Testing

/// For any input, the output is allowed HTML, and parsing it again changes nothing. `make fuzz` runs longer.
struct FuzzTests {
    @Test(arguments: 0..<8)
    func randomMessagesAreSafe(seed: Int) {
        let result = MarkupFuzzRun.run(SeededBytes(seed: UInt64(seed)), steps: 500)
        #expect(result.violation == nil)
        #expect(result.steps == 500)
    }

    /// The checker itself rejects forbidden HTML.
    @Test(arguments: [
        "<script>", "<b", "<b>", "</b>", "<b></i>", "<b onclick=\"x\"></b>", "<a href=\"javascript:x\"></a>", "a > b",
        "<a href=x></a>", "<img src=\"https://a.example\">", "<span data-mx-color=\"red\"></span>", "<B></B>",
        "<code class=\"x\"></code>",
    ])
    func validatorDetectsForbiddenHTML(html: String) {
        #expect(SafeHTML.violation(of: html) != nil)
    }
}
