import CMD4C
import ChatCore
import ChatTestSupport
import MessageMarkup
import Testing
import ToolSupport

@testable import ChatArchive

/// Exports as another CommonMark renderer reads them: they contain no raw HTML.
@Suite(.timeLimit(.minutes(10))) struct MarkdownSafetyTests {
    private static let script = "\n<script>alert(1)</script>"

    static let hostile = [
        "<script>", "```\n   ```", "```\n```\u{A0}\n```", "```\u{301}\n```", "```\n```\u{301}\n```", "```\u{301}\na",
        "   ```\na\n```", "- ```\na\n```", "- a\n  ```\n```", "> ```\na\n```", "> ```\n> a",
        "1. x\n   ```\n   a\n   ```",
        "- ~~~\n- ~~~", "- - ```\n  ```", "~~~\n  ~~~", "~~~ `\na\n~~~", "```a`\n```", "```` x\n```\n`````",
        "````\n````` \t", "```\n\t```", "```\n> ```", "~~~\n```\n~~~~", "~~~~\n~~~", "\t```\na\n```", "    ```\n```",
        "`\\", "\\", "\\\\", "`` ` ``", "\u{600}", "<\u{600}", "- [ ] ```\n```", "| a |\n|---|\n| ``` |\n```",
        "[a]: /b '\n```\n'", "``\n`\n```\n``", "```\r   ```", "```\u{2028}   ```", "```\u{85}```",
        "<!--\n```\n-->\n```",
        "<pre>\n```\n</pre>\n```", "a\n===\n```\n ~~~\n ```",
    ]

    /// The number of raw HTML blocks and inline tags that CommonMark finds in the text.
    private static func rawHTML(in text: String) -> Int {
        struct Count {
            var found = 0
            var isInBlock = false
        }
        var parser = MD_PARSER()
        parser.enter_block = { type, _, count in
            let count = count!.assumingMemoryBound(to: Count.self)
            count.pointee.isInBlock = type == MD_BLOCK_HTML
            if type == MD_BLOCK_HTML { count.pointee.found += 1 }
            return 0
        }
        parser.leave_block = { _, _, _ in 0 }
        parser.enter_span = { _, _, _ in 0 }
        parser.leave_span = { _, _, _ in 0 }
        parser.text = { type, _, _, count in
            let count = count!.assumingMemoryBound(to: Count.self)
            if type == MD_TEXT_HTML, !count.pointee.isInBlock { count.pointee.found += 1 }
            return 0
        }
        var count = Count()
        let isRead = text.withCString { md_parse($0, MD_SIZE(text.utf8.count), &parser, &count) == 0 }
        return isRead ? count.found : -1
    }

    private static func exported(_ text: String, as kind: Message.Kind = .text, by name: String = "Robin") -> String {
        var message = Fixtures.message(1, text: text)
        message.kind = kind
        return exported(message, by: name)
    }

    private static func exported(_ message: Message, by name: String) -> String {
        var export = MarkdownExport(times: ExportTimes(zone: ArchiveFixture.zone))
        return export.text(
            of: ExportedMessage(message: message, senderName: name, isOwn: true, reactions: [], files: []))
    }

    /// The destinations of the links and images that CommonMark finds in the text.
    private static func destinations(in text: String) -> [String] {
        struct Found {
            var destinations: [String] = []
        }
        var parser = MD_PARSER()
        parser.enter_block = { _, _, _ in 0 }
        parser.leave_block = { _, _, _ in 0 }
        parser.enter_span = { type, detail, found in
            guard type == MD_SPAN_A || type == MD_SPAN_IMG, let detail else { return 0 }
            // The details of both begin with the destination.
            let destination = MarkdownSafetyTests.text(of: detail.load(as: MD_SPAN_A_DETAIL.self).href)
            found!.assumingMemoryBound(to: Found.self).pointee.destinations.append(destination)
            return 0
        }
        parser.leave_span = { _, _, _ in 0 }
        parser.text = { _, _, _, _ in 0 }
        var found = Found()
        let isRead = withUnsafeMutablePointer(to: &found) { found in
            text.withCString { md_parse($0, MD_SIZE(text.utf8.count), &parser, found) == 0 }
        }
        return isRead ? found.destinations : ["an error"]
    }

    /// The text of an attribute, with numeric character references decoded.
    private static func text(of attribute: MD_ATTRIBUTE) -> String {
        guard attribute.size > 0, let text = UnsafeRawPointer(attribute.text) else { return "" }
        var result = ""
        var (index, start) = (0, 0)
        while start < attribute.size {
            let end = Int(attribute.substr_offsets[index + 1])
            let part = String(
                decoding: UnsafeRawBufferPointer(start: text + start, count: end - start), as: UTF8.self)
            let isReference = attribute.substr_types[index] == MD_TEXT_ENTITY && part.hasPrefix("&#")
            let number = isReference ? UInt32(part.dropFirst(2).dropLast()) : nil
            if let scalar = number.flatMap({ Unicode.Scalar($0) }) {
                result.unicodeScalars.append(scalar)
            } else {
                result += part
            }
            (index, start) = (index + 1, end)
        }
        return result
    }

    private static let addressParts = [
        "a", "a", " ", "(", ")", "(", ")", "<", ">", "\\", "\\", "\n", "\r", "\t", "`", "`", "|", "&", "&amp;", "&#32;",
        "&#", "38", ";", "[", "]", "![", "*", "_", "\"", "'", "~", "#", "%20", "://", "\u{A0}", "\u{2028}", "\u{85}",
        "é", "\u{301}", "\u{7F}", "\u{1}",
    ]

    private static func randomAddress(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...12, using: &random)).map { _ in addressParts.randomElement(using: &random)! }.joined()
    }

    @Test("A link destination is read as what was written, whatever that is")
    func destinationsAreReadBack() {
        #expect(MarkdownDestination.written("").isEmpty)
        var random = SeededGenerator(seed: 11)
        for _ in 0..<1_000 {
            let address = Self.randomAddress(&random)
            let written = MarkdownDestination.written(address)
            for text in ["[x](\(written))", "> a ` [x](\(written)) b", "![x](\(written) \"t\")"] {
                let found = Self.destinations(in: text).map { Array($0.unicodeScalars) }
                #expect(found == [Array(address.unicodeScalars)], "\(address.debugDescription): \(text)")
            }
            #expect(MarkdownExport.safeLines("[x](\(written))") == ["[x](\(written))"], "an export leaves it as it is")
        }
    }

    @Test("An exported link leads where the link leads that was typed in angle brackets")
    func bracketedDestinationsAreReadBack() {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<1_000 {
            let address = "https://a.example/" + Self.randomAddress(&random)
            // A line break ends the destination, and square brackets are a test of MD4C.
            if address.unicodeScalars.contains(where: { "\n\r[]".unicodeScalars.contains($0) }) { continue }
            let content = address.unicodeScalars.map { scalar in
                "\\<>".unicodeScalars.contains(scalar) ? "\\" + String(scalar) : String(scalar)
            }.joined()
            let typed = "see [x](<\(content)>), y"
            let message = ExportedMessage(
                message: Fixtures.message(1, text: typed), senderName: "Robin", isOwn: true, reactions: [], files: [])
            let exported = MarkdownExport.safeLines(message.markdown).joined(separator: "\n")
            #expect(!exported.contains("](\\<"), "\(exported)")
            #expect(
                MessageMarkup.body(markdown: exported) == MessageMarkup.body(markdown: typed),
                "\(typed.debugDescription): \(exported)")
        }
    }

    @Test(
        "A link of another program keeps its destination",
        arguments: [
            "https://a.example/\\", "https://a.example/\\(", "https://a.example/?a&copy;b", "https://a.example/(x&y",
        ])
    func importedDestinationsAreReadBack(_ address: String) {
        #expect(Self.destinations(in: MarkdownFormatter.link("x", address)) == [address])
    }

    @Test func rawHTMLScannerFindsTags() {
        #expect(Self.rawHTML(in: "> ```\n>    ```\n> <script>alert(1)</script>\n") == 1)
        #expect(Self.rawHTML(in: "> a <b> c") == 1)
    }

    @Test(arguments: hostile) func messagesNeverProduceRawHTML(_ text: String) {
        for text in [
            text + Self.script, text + "<b>", text + "\n\n```\n<b>\n```" + Self.script, "\n" + text + Self.script,
        ] {
            for kind in [Message.Kind.text, .emote] {
                let markdown = Self.exported(text, as: kind)
                #expect(Self.rawHTML(in: markdown) == 0, "\(markdown)")
            }
        }
    }

    /// The text of other clients without HTML, which is no Markdown, and as a paragraph, a code block and an item.
    @Test(arguments: hostile) func messagesOfOtherClientsNeverProduceRawHTML(_ text: String) {
        let text = text + Self.script
        let html = HTMLExport.escaped(text)
        let code = "<pre><code>\(html)</code></pre>"
        let forms: [String?] = [nil, html, code + html, "<ul><li>\(html)\(code)</li></ul>" + html]
        for formattedText in forms {
            for kind in [Message.Kind.text, .emote] {
                let message = Message(
                    id: MessageID("m"), roomID: RoomID("room"), sender: MemberID("@ann:a.example"), text: text,
                    sentAt: Fixtures.date, position: 1, kind: kind, formattedText: formattedText)
                let markdown = Self.exported(message, by: "Ann")
                #expect(Self.rawHTML(in: markdown) == 0, "\(markdown)")
            }
        }
    }

    @Test func namesNeverProduceRawHTML() {
        for name in ["<b>", "\u{600}<b>", "```\n<b>", "\\<b>", "\u{600}`\n<b>"] {
            #expect(Self.rawHTML(in: Self.exported("```\na\n```", as: .emote, by: name)) == 0)
        }
    }

    @Test func randomMessagesNeverProduceRawHTML() {
        let parts = [
            "```", "```", "~~~", "`", "~", "<b>", "<b>", "<!--", "\n", "\n", "\n", " ", "  ", "    ", "\t", "- ", "> ",
            "1. ", "\\", "a", "\u{301}", "\u{A0}", "\u{600}", "\r", "\u{2028}", "[a]: ", "|",
        ]
        var random = SeededGenerator(seed: 7)
        for _ in 0..<5_000 {
            let text = (0..<Int.random(in: 1...24, using: &random)).map { _ in parts.randomElement(using: &random)! }
                .joined()
            let markdown = Self.exported(text, as: Bool.random(using: &random) ? .text : .emote)
            #expect(Self.rawHTML(in: markdown) == 0, "\(text.debugDescription)")
        }
    }

    @Test func closedCodeBlocksAreExportedUnescaped() {
        #expect(Self.exported("```swift\nArray<Int>\n```").contains("> ```swift\n> Array<Int>\n> ```\n"))
        #expect(Self.exported("~~~~\n~~~\na<b\n~~~~~").contains("> a<b\n"))
    }
}
