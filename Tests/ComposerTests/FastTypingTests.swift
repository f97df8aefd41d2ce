import Composer
import Testing

/// Return within the pause between two queries (HKW-47): the rows still answer what was written before.
struct FastTypingTests {
    /// Rows for "@", what was typed since, and the text that Return leaves.
    @Test(arguments: [
        (["Ann", "Bob"], "bo", "@Bob "), (["Ann", "Bob"], "a", "@Ann "), (["Ann", "Bob"], "", "@Ann "),
        (["Ann", "Bobby Ewing"], "ew", "@Bobby Ewing "),
    ])
    func theRowThatFitsIsTaken(rows: [String], typed: String, text: String) {
        var script = ComposerScript()
        script.type("@")
        script.answer(rows)
        script.type(typed)
        script.press("Return")
        #expect(script.text == text)
    }

    /// Nobody is named that was not meant: the query is asked at once, and the next Return takes what it finds.
    @Test func noRowThatDoesNotFitIsTaken() {
        var script = ComposerScript()
        script.type("@")
        script.answer(["Ann"])
        script.type("zo")
        script.press("Return")
        #expect(script.text == "@zo" && script.sent.isEmpty)
        #expect(script.queries.map(\.text) == ["zo"])
        script.answer(["Zoë"])
        script.press("Return")
        #expect(script.text == "@Zoë ")
    }

    /// A row that the user went to is what Return takes, whatever is written meanwhile.
    @Test func theChosenRowIsTaken() {
        var script = ComposerScript()
        script.type("@")
        script.answer(["Ann", "Bob"])
        script.press("Down")
        script.type("a")
        script.press("Return")
        #expect(script.text == "@Bob ")
    }
}
