import Composer
import Testing

/// Inline images, if enabled (MIB-19), and the message parts they are sent as (MIB-20).
struct InlineImageTests {
    private static func picture(_ name: String) -> Composer.Attachment {
        Attachment(type: "image/png", name: name, bytes: 1, source: "s:\(name)")
    }

    private func script(_ names: String...) -> ComposerScript {
        var script = ComposerScript()
        for name in names { script.send(.attach(Self.picture(name))) }
        return script
    }

    /// MIB-19: text, caret, resulting text, resulting caret.
    static let places: [(String, Int, String, Int)] = [
        ("", 0, "\u{FFFC}\n", 2), ("ab", 2, "ab\n\u{FFFC}\n", 5), ("ab", 1, "a\n\u{FFFC}\nb", 4),
        ("a\n", 2, "a\n\u{FFFC}\n", 4),
    ]

    @Test(arguments: places)
    func imageIsPlacedOnItsOwnLine(text: String, caret: Int, result: String, after: Int) {
        var script = script("a")
        script.load(text, select: .caret(caret))
        script.send(.placeInText(0))
        #expect(script.text == result && script.state.selection == .caret(after))
        #expect(script.engine.document.images.map(\.imageSource) == ["s:a"])
        #expect(script.state.attachments.map(\.name) == ["a"], "the file stays in the tray")
        script.send(.undo)
        #expect(script.text == text && script.engine.document.images.isEmpty, "one step")
        script.send(.redo)
        #expect(script.engine.document.images.count == 1)
    }

    /// MIB-19: only if enabled; attachments that are not images, not ready, or unknown stay in the tray.
    @Test func onlyReadyImagesCanBePlaced() {
        var script = ComposerScript()
        script.send(.attach(Attachment(type: "text/plain", name: "t", bytes: 1, source: "t")))
        script.send(.attach(Attachment(type: "image/png", name: "u", bytes: 1, source: "u", upload: .running(0.5))))
        for place in -1...2 { script.send(.placeInText(place)) }
        #expect(script.text.isEmpty)
        script.send(.startEdit(id: "m", WrittenText("old")))
        script.send(.placeInText(0))
        #expect(script.text == "old")
    }

    @Test func placingAnImageAgainMovesIt() {
        var script = script("a")
        script.send(.placeInText(0))
        script.type("end")
        script.send(.placeInText(0))
        #expect(script.text == "\nend\n\u{FFFC}\n")
        #expect(script.engine.document.images.count == 1)
        #expect(script.state.selection == .caret(script.state.length))
    }

    @Test func removingTheFileRemovesItsPlace() {
        var script = script("a", "b")
        script.send(.placeInText(1))
        script.send(.detach(0))
        #expect(script.engine.document.images.count == 1)
        script.send(.detach(0))
        #expect(script.text == "\n" && script.engine.document.images.isEmpty)
        script.send(.undo)
        script.send(.send)
        #expect(script.effects.contains(.rejected(.empty)), "nothing is left of it to send")
    }

    private func scriptWithEqualFiles() -> ComposerScript {
        var script = ComposerScript()
        for name in ["a", "b"] {
            script.send(.attach(Attachment(type: "image/png", name: name, bytes: 1, source: "same")))
        }
        return script
    }

    /// Files with equal content share their source, and their descriptions may differ.
    @Test func placedOneOfEqualFilesIsTheOneInTheText() {
        var script = scriptWithEqualFiles()
        script.type("x")
        script.send(.placeInText(1))
        script.send(.send)
        #expect(script.sent.first?.attachments.map(\.name) == ["b", "a"])
    }

    @Test func removingTheOtherOfEqualFilesKeepsThePlace() {
        var script = scriptWithEqualFiles()
        script.send(.placeInText(0))
        script.send(.detach(1))
        #expect(script.engine.document.images.count == 1 && script.state.attachments.map(\.name) == ["a"])
        script.send(.detach(0))
        #expect(script.engine.document.images.isEmpty)
    }

    /// MIB-20: text and images in document order, without empty text; attachments without a position come last.
    @Test func partsAreInDocumentOrder() {
        var script = script("a", "b", "c")
        script.type("first ")
        script.send(.placeInText(1))
        script.send(.placeInText(0))
        script.type("last")
        script.send(.send)
        let message = script.sent.first
        let parts: [ComposedMessage.Part] = [
            .text(WrittenText("first")), .attachment(Self.picture("b")), .attachment(Self.picture("a")),
            .text(WrittenText("last")),
            .attachment(Self.picture("c")),
        ]
        #expect(message?.parts == parts)
        #expect(message?.attachments.map(\.name) == ["b", "a", "c"])
        #expect(message?.text.source == "first \nlast", "for hosts that know nothing of parts")
        #expect(script.text.isEmpty && script.state.attachments.isEmpty)
    }

    /// MIB-20: ⚠ a single character after the last image was lost.
    @Test func singleCharacterAfterAnImageIsSent() {
        var script = script("a")
        script.send(.placeInText(0))
        script.type("x")
        script.send(.send)
        #expect(script.sent.first?.parts == [.attachment(Self.picture("a")), .text(WrittenText("x"))])
    }

    @Test func failedMessageIsRestoredWithItsImages() {
        var script = script("a")
        script.type("text")
        script.send(.placeInText(0))
        script.send(.send)
        script.send(.sendFailed(script.sent.first?.id ?? ""))
        #expect(script.engine.document.images.map(\.imageSource) == ["s:a"])
    }

    /// HKW-29: cut and paste moves the image; copying, or pasting into another composer, yields the text alone.
    @Test func cutAndPasteMovesAnImage() {
        var script = script("a")
        script.type("text")
        script.send(.placeInText(0))
        let fragment = script.engine.document.fragment(in: TextRange(location: 0, length: script.state.length))
        script.send(.select(TextRange(location: 0, length: script.state.length)))
        script.send(.cut)
        script.send(.pasteInternalClipboard)
        #expect(script.engine.document.images.count == 1)
        script.send(.pasteInternalClipboard)
        #expect(script.engine.document.images.count == 1)
        #expect(script.text == "text\n\u{FFFC}\ntext\n")
        var other = ComposerScript()
        other.send(.paste([.fragment(fragment)]))
        #expect(other.text == "text\n")
    }

    @Test func draftsKeepImages() throws {
        var script = script("a")
        script.send(.placeInText(0))
        let data = try script.engine.makeDraft().encoded()
        var engine = ComposerEngine()
        _ = engine.restore(encoded: data)
        #expect(engine.document.images.map(\.imageSource) == ["s:a"])
    }
}
