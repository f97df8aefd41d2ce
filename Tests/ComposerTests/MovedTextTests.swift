import Composer
import Testing

/// A part of the text that is dragged to another place in it (HKW-29).
struct MovedTextTests {
    private static let ann = Mention(.custom("u"), text: "Ann")

    private static func script(_ text: String) -> ComposerScript {
        var script = ComposerScript()
        script.send(.load(WrittenText(text, mentioning: [ann])))
        return script
    }

    @Test(
        "A mention that is moved stays one, and one undo moves it back.",
        arguments: [(8, "hi , byeAnn", 8), (0, "Annhi , bye", 0), (5, "hi , Annbye", 5)])
    func mention(caret: Int, text: String, location: Int) {
        var script = Self.script("hi Ann, bye")
        let target = caret > 3 ? caret + 3 : caret
        script.send(.moveText(TextRange(location: 3, length: 3), to: target))
        #expect(script.text == text)
        let moved = TextRange(location: location, length: 3)
        #expect(script.engine.document.mentions.map(\.range) == [moved])
        #expect(script.engine.document.mentions.first?.mention == Self.ann)
        #expect(script.state.selection == moved)
        script.send(.undo)
        #expect(script.text == "hi Ann, bye")
        #expect(script.engine.document.mentions.map(\.range) == [TextRange(location: 3, length: 3)])
        script.send(.redo)
        #expect(script.text == text && script.engine.document.mentions.map(\.range) == [moved])
    }

    @Test("An image that is moved stays one, and one undo moves it back.")
    func image() {
        var script = ComposerScript()
        script.send(.attach(Attachment(type: "image/png", name: "a", bytes: 1, source: "s:a")))
        script.type("text")
        script.send(.placeInText(0))
        script.type("end")
        let before = script.engine.document.written
        script.send(.moveText(TextRange(location: 5, length: 2), to: 0))
        #expect(script.text == "\u{FFFC}\ntext\nend")
        #expect(script.engine.document.images.map(\.range) == [TextRange(location: 0, length: 1)])
        script.send(.undo)
        #expect(script.engine.document.written == before)
    }

    @Test("Nothing moves into itself, to its own edges, or while an input method composes.", arguments: [3, 4, 6])
    func nowhere(target: Int) {
        var script = Self.script("hi Ann, bye")
        script.send(.moveText(TextRange(location: 3, length: 3), to: target))
        #expect(script.text == "hi Ann, bye")
        script.send(.moveText(TextRange(location: 3, length: 0), to: 0))
        script.send(.preedit("字"))
        script.send(.moveText(TextRange(location: 3, length: 3), to: 0))
        #expect(script.text == "hi Ann, bye" && script.state.preedit == "字")
    }

    @Test("An interceptor that denies the insertion leaves the text as it is.")
    func denied() {
        var script = Self.script("hi Ann, bye")
        script.add(interceptor: Rejection(rejected: "Ann"))
        script.send(.moveText(TextRange(location: 3, length: 3), to: 0))
        #expect(script.text == "hi Ann, bye" && script.engine.document.mentions.count == 1)
    }
}
