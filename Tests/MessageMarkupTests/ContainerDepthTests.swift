import Testing

@testable import MessageMarkup

/// The depth of lists and quotes estimated from line beginnings; it never underestimates the real depth.
struct ContainerDepthTests {
    @Test(arguments: [
        "- ", "+ ", "* ", "1. ", "123456789) ", ">", "> ", "> - ", "-\t", "  - ",
    ])
    func deepNestingInOneLineIsRejected(mark: String) {
        #expect(!ContainerDepth.isBearable(String(repeating: mark, count: 300) + "x"))
        #expect(ContainerDepth.isBearable(String(repeating: mark, count: 20) + "x"))
    }

    /// Open containers continue across blank lines, lazy continuation lines, and indented lines.
    @Test(arguments: ["\n", "\r\n", "\r"], ["", "b"])
    func depthAccumulatesOverLines(lineBreak: String, between: String) {
        let many = String(repeating: "- ", count: 150)
        let indent = String(repeating: " ", count: 300)
        #expect(ContainerDepth.isBearable(many + "a"))
        #expect(!ContainerDepth.isBearable(many + "a" + lineBreak + between + lineBreak + indent + many + "c"))
    }

    @Test(arguments: [
        String(repeating: "- a\n", count: 1000), String(repeating: "> a\n> - b\n\n", count: 1000),
        String(repeating: "-", count: 1000), "- a\n" + String(repeating: " ", count: 1000) + "b",
        (0..<80).map { String(repeating: "  ", count: $0) + "- a\n" }.joined(),
        String(repeating: "- - - - - - - - a\n\nb\n\n", count: 100),
    ])
    func realisticNestingIsAccepted(text: String) {
        #expect(ContainerDepth.isBearable(text))
    }
}
