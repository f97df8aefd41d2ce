import Composer
import Testing

/// Return within the throttling interval (HKW-47), while the rows still belong to an older query.
struct FastTypingTests {
    /// Rows for "@", text typed since, and the text after Return.
    @Test(arguments: [
        (["Ann", "Bob"], "bo", "@Bob "), (["Ann", "Bob"], "a", "@Ann "), (["Ann", "Bob"], "", "@Ann "),
        (["Ann", "Bobby Ewing"], "ew", "@Bobby Ewing "),
    ])
    func returnAcceptsTheFirstMatchingRow(rows: [String], typed: String, text: String) {
        var script = ComposerScript()
        script.type("@")
        script.respond(with: rows)
        script.type(typed)
        script.press("Return")
        #expect(script.text == text)
    }

    /// A row that no longer matches is not accepted: Return issues the query, and the next Return accepts its result.
    @Test func returnDoesNotAcceptANonMatchingRow() {
        var script = ComposerScript()
        script.type("@")
        script.respond(with: ["Ann"])
        script.type("zo")
        script.press("Return")
        #expect(script.text == "@zo" && script.sent.isEmpty)
        #expect(script.queries.map(\.text) == ["zo"])
        script.respond(with: ["Zoë"])
        script.press("Return")
        #expect(script.text == "@Zoë ")
    }

    /// Return accepts a row that the user selected, whatever was typed since.
    @Test func returnAcceptsTheSelectedRow() {
        var script = ComposerScript()
        script.type("@")
        script.respond(with: ["Ann", "Bob"])
        script.press("Down")
        script.type("a")
        script.press("Return")
        #expect(script.text == "@Bob ")
    }
}
