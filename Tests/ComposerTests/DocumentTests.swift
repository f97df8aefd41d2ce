import Composer
import Testing

struct DocumentTests {
    /// SLK-18: text, offset, range of the word.
    static let words: [(String, Int, TextRange?)] = [
        ("", 0, nil),
        ("hello", 0, TextRange(location: 0, length: 5)),
        ("hello", 3, TextRange(location: 0, length: 5)),
        ("hello", 5, TextRange(location: 0, length: 5)),
        ("hello", 6, nil),
        ("hello", -1, nil),
        ("a bc d", 2, TextRange(location: 2, length: 2)),
        ("a bc d", 4, TextRange(location: 2, length: 2)),
        ("a  b", 2, TextRange(location: 2, length: 0)),
        ("a\nbc", 2, TextRange(location: 2, length: 2)),
        ("@jo-e#x,y", 4, TextRange(location: 0, length: 9)),
        ("a 👩‍💻b c", 4, TextRange(location: 2, length: 6)),
    ]

    @Test(arguments: words)
    func findsTheWordAtAnOffset(text: String, offset: Int, range: TextRange?) {
        #expect(ComposerDocument(text).word(at: offset)?.range == range)
    }

    /// HKW-17: ⚠ a delimiter at index 0 was ignored.
    static let wordsBefore: [(String, Int, Bool, String?)] = [
        (" abc", 4, false, "abc"), ("abc", 2, false, "ab"), ("abc", 2, true, "abc"), ("abc", 0, false, nil),
        ("abc ", 4, false, nil), ("abc", 9, false, nil),
    ]

    @Test(arguments: wordsBefore)
    func findsTheWordBeforeAnOffset(text: String, offset: Int, toEnd: Bool, word: String?) {
        #expect(ComposerDocument(text).word(before: offset, toEnd: toEnd)?.text == word)
    }

    /// HKW-18: whole characters, never half of a surrogate pair.
    @Test func findsTheCharacterBeforeAnOffset() {
        let document = ComposerDocument("a👍🏽b")
        #expect(document.character(before: 0) == nil)
        #expect(document.character(before: 5) == "👍🏽")
        #expect(document.character(before: 6) == "b")
        #expect(document.character(at: 6) == nil)
    }

    @Test func offsetsConvertBetweenEncodings() {
        let document = ComposerDocument(String(repeating: "a👍é中\n", count: 500))
        var utf16 = 0
        var scalars = 0
        for scalar in document.text.unicodeScalars {
            #expect(document.scalarOffset(ofUTF16: utf16) == scalars)
            #expect(document.utf16Offset(ofScalar: scalars) == utf16)
            utf16 += scalar.utf16.count
            scalars += 1
        }
        #expect(document.scalarOffset(ofUTF16: utf16) == scalars)
        #expect(document.utf16Offset(ofScalar: scalars + 9) == utf16)
    }

    /// The same grapheme boundaries as `String`, in texts whose clusters depend on long context.
    @Test(arguments: [
        "👨‍👩‍👧‍👦🇩🇪🇫🇷🇦", "e\u{301}\u{302}a\r\n\r\n\n", "क्षि नि", "한글각", "\u{600}a\u{1F3FD}", "🇩\u{301}🇪🇫",
        "a\u{200D}b", "👩\u{200D}\u{200D}💻", "\u{E0067}\u{E007F}x", "❤️‍🔥", "ก็ำ", "\u{0}\u{202E}א",
    ])
    func clusterBoundariesMatchString(text: String) {
        let document = ComposerDocument(text)
        let plain = document.text
        var boundaries = [0]
        for character in plain { boundaries.append(boundaries.last! + character.utf16.count) }
        for offset in 0...document.length {
            #expect(document.clusterStart(at: offset) == boundaries.last { $0 <= offset })
            #expect(document.clusterEnd(at: offset) == boundaries.first { $0 >= offset })
            #expect(document.clusterBoundary(before: offset) == boundaries.last { $0 < offset } ?? 0)
            #expect(document.clusterBoundary(after: offset) == boundaries.first { $0 > offset } ?? document.length)
        }
    }

    @Test func outOfBoundsRangesAreClamped() {
        let document = ComposerDocument("hello")
        for range in [
            TextRange(location: .max, length: .max), TextRange(location: .min, length: .max),
            TextRange(location: -1, length: -1), TextRange(location: 2, length: .max),
        ] {
            #expect(document.contains(document.clamped(range)))
            #expect(!document.contains(range))
        }
        #expect(document.text(in: TextRange(location: 2, length: .max)) == "llo")
    }

    /// CR LF is a single line break, also when an edit splits or joins it.
    @Test func linesAreCountedThroughEdits() {
        var script = ComposerScript()
        script.load("a\r\nb\u{2028}c")
        #expect(script.engine.document.hardLineCount == 3)
        script.send(.edit(TextRange(location: 0, length: 1), replacement: "\r", origin: .paste))
        #expect(script.engine.document.hardLineCount == 4)
        script.send(.undo)
        #expect(script.engine.document.hardLineCount == 3)
    }

    @Test func longTextsAreEdited() {
        let text = String(repeating: "line of text é\n", count: 5000)
        var document = ComposerScript()
        document.load(text)
        #expect(document.engine.document.length == text.utf16.count)
        document.send(.edit(TextRange(location: 30_000, length: 40_000), replacement: "x", origin: .typed))
        #expect(document.engine.document.length == text.utf16.count - 39_999)
        document.send(.undo)
        #expect(document.text == text)
    }
}
