import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import LocalBackend
import Synchronization
import Testing

@testable import ChatArchive

@Suite(.timeLimit(.minutes(10))) struct ExportTests {
    private static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "</article></main><iframe src=//evil>",
        "[x](javascript:alert(1))", "<a href=\"javascript:alert(1)\">x</a>", "&lt;script&gt;", "a\u{1}b",
        "\u{202E}gnp.exe",
        "```\n<script>fence", "~~~\n</div>", "> quote\n# heading\n- list", "   ```\n<script>x",
        "1. x\n   ```\n<script>y",
        "\\<script>", "\\\\<script>", "---\n===", "<!-- comment", "]]> & \u{2028} \u{1F600}", "</style><style>*{}",
        "`<b>`", "![x](http://evil/track.png)", "<svg/onload=alert(1)>", "{{7*7}} ${x}", "e\u{301} 東京 👩‍👩‍👧",
    ]

    /// Returns a room with hostile names and texts.
    private func fixture() async throws -> (ArchiveFixture, RoomID) {
        let fixture = try await ArchiveFixture()
        let room = Room(id: RoomID("room"), name: "../<b>evil</b>/\"name\"", kind: .group)
        let own = Member(id: MemberID("own"), displayName: "Robin", kind: .own)
        let other = Member(id: MemberID("x\"><script>"), displayName: "<script>name</script>**", kind: .person)
        try await fixture.store.createRoom(NewRoom(room: room, members: [own, other], createdAt: Fixtures.date))
        for (number, text) in Self.hostile.enumerated() {
            let new = NewMessage(
                id: MessageID("m\(number)\"'<"), sender: number % 2 == 0 ? own.id : other.id, text: text,
                sentAt: Fixtures.date.addingTimeInterval(Double(number) * 7200),
                replyTo: number == 5 ? MessageID("m0\"'<") : nil)
            _ = try await fixture.store.append(new, to: room.id)
        }
        _ = try await fixture.store.setReaction(
            "<b>👍</b>", isAdded: true, to: MessageID("m1\"'<"), in: room.id, by: other.id, at: Fixtures.date)
        _ = try await fixture.store.delete(MessageID("m2\"'<"), in: room.id, by: own.id)
        return (fixture, room.id)
    }

    private func export(
        _ room: RoomID, _ format: ExportFormat, in fixture: ArchiveFixture, named name: String = "Room"
    ) async throws -> (ExportReport, String) {
        let report = try await fixture.archive.export(
            room, named: name, as: format, into: fixture.folder.path("."), progress: { _ in })
        let file = report.folder.appending(path: "messages.\(format.fileExtension)")
        return (report, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    @Test("A sealed message is exported with its reason", arguments: ExportFormat.allCases)
    func sealedMessage(_ format: ExportFormat) async throws {
        let fixture = try await ArchiveFixture()
        let own = Member(id: MemberID("own"), displayName: "Robin", kind: .own)
        let room = Room(id: RoomID("room"), name: "Room", kind: .group)
        try await fixture.store.createRoom(NewRoom(room: room, members: [own], createdAt: Fixtures.date))
        var sealed = NewMessage(
            id: MessageID("m"), sender: own.id, content: Message.Content(sealed: .noKey), sentAt: Fixtures.date)
        sealed.ciphertext = Ciphertext(of: sealed.id, reason: .noKey, session: "s", data: "{}")
        _ = try await fixture.store.append(sealed, to: room.id)
        let (_, text) = try await export(room.id, format, in: fixture)
        #expect(text.contains(format == .json ? "\"sealed\":\"noKey\"" : "Not readable: its key has not come."))
    }

    @Test func htmlExportEscapesUserContent() async throws {
        let (fixture, room) = try await fixture()
        let (report, page) = try await export(room, .html, in: fixture, named: "<b>evil</b>")
        // Remove the metadata comments that imports read: their JSON contains no character that could end the comment.
        let html = page.replacing(/<!--parlance:\{[^<>&]*\}-->/, with: "")
        #expect(!html.contains("<!--") && !html.contains("-->"))
        #expect(page.components(separatedBy: "<!--").count == Self.hostile.count + 2)
        #expect(!page.contains("\u{202E}") && !page.contains("\0"))
        #expect(report.messages == Self.hostile.count)
        #expect(html.components(separatedBy: "<article ").count - 1 == Self.hostile.count)
        let allowed: Set<String> = [
            "!doctype", "html", "head", "meta", "title", "style", "body", "header", "main", "article", "h1", "h2", "h3",
            "p", "b", "i", "div", "time", "a", "span", "code", "pre", "blockquote", "ul", "ol", "li", "hr", "br",
            "strong", "em", "img", "del",
        ]
        let tags = html.matches(of: /<\/?([!a-zA-Z0-9]+)([^>]*)>/)
        for tag in tags {
            #expect(allowed.contains(tag.1.lowercased()), "\(tag.0)")
            #expect(tag.2.firstMatch(of: /\son[a-z]+\s*=/) == nil, "\(tag.0)")
            #expect(!tag.2.contains("javascript:"), "\(tag.0)")
        }
        let style = html.components(separatedBy: "<style>").count
        #expect(style == 2 && !html.contains("<script") && !html.contains("\u{202E}") && !html.contains("\0"))
        #expect(html.contains("href=\"#\(HTMLExport.anchor(MessageID("m0\"'<")))\""))
        #expect(html.contains("Message deleted") && html.contains("default-src 'none'"))
    }

    @Test func markdownExportQuotesEachMessageSeparately() async throws {
        let (fixture, room) = try await fixture()
        let (_, text) = try await export(room, .markdown, in: fixture)
        let blocks = text.components(separatedBy: "\n\n")
        let quotes = blocks.filter { $0.hasPrefix(">") }
        #expect(quotes.count == Self.hostile.count)
        for quote in quotes {
            #expect(quote.split(separator: "\n").allSatisfy { $0.hasPrefix(">") })
        }
        #expect(text.contains("> \\<script>alert(1)\\</script>"))
        #expect(text.contains("\\<script\\>name\\<\\/script") || text.contains("\\<script\\>name"))
    }

    @Test(arguments: [
        ("a <b", ["a \\<b"]), ("\\<b", ["\\<b"]), ("\\\\<b", ["\\\\\\<b"]),
        ("```\n<b>\n```\n<i>", ["```", "<b>", "```", "\\<i>"]),
        ("```a`\n<b>", ["```a`", "\\<b>"]), ("   ```\n<b>", ["   ```", "\\<b>"]),
        ("~~~ x\n<b>\n~~~~", ["~~~ x", "<b>", "~~~~"]),
        ("````\n```\n<b>", ["````", "```", "<b>"]), ("a\r\nb", ["a", "b"]),
    ])
    func markdownExportEscapesTagsOutsideCode(_ text: String, _ lines: [String]) {
        #expect(MarkdownExport.safeLines(text) == lines)
    }

    /// Returns the quoted lines of a message in a Markdown export, without the delimiters of the quote.
    private static func markdown(
        _ text: String, html: String? = nil, written: WrittenText? = nil, by sender: String = "@ann:a.example"
    ) -> String {
        let message = Message(
            id: MessageID("m"), roomID: RoomID("room"), sender: MemberID(sender), text: text, sentAt: Fixtures.date,
            position: 1, formattedText: html, written: written)
        var export = MarkdownExport(times: ExportTimes(zone: ArchiveFixture.zone))
        let exported = export.text(
            of: ExportedMessage(message: message, senderName: "Ann", isOwn: false, reactions: [], files: []))
        let lines = exported.split(separator: "\n", omittingEmptySubsequences: false).filter { $0.hasPrefix(">") }
        return lines.map { $0.dropFirst(2) }.joined(separator: "\n")
    }

    /// The plain text of other clients lacks what their HTML has.
    @Test(arguments: [
        ("see <a href=\"https://a.example/x\">this</a>", "see [this](https://a.example/x)"),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><b>2</b></td></tr></table>",
            "| a | b |\n| --- | --- |\n| 1 | **2** |"
        ),
        (
            "<pre><code class=\"language-swift\">Array&lt;Int&gt;</code></pre>&lt;b&gt;",
            "```swift\nArray<Int>\n```\n\n\\<b>"
        ),
        (
            "hi <a href=\"https://matrix.to/#/@ann:a.example\">Ann *x*</a>!",
            "hi [Ann \\*x\\*](https://matrix.to/#/@ann:a.example)!"
        ),
        ("<span data-mx-spoiler>a</span> b", "||a|| b"), ("<span data-mx-spoiler=\"why\">a</span>", "(why) ||a||"),
        (
            "<table><tr><th>a</th></tr><tr><td><span data-mx-spoiler>b</span></td></tr></table>",
            "| a |\n| --- |\n| \\|\\|b\\|\\| |"
        ),
        ("2*3*4 <b>x</b>", "2\\*3\\*4 **x**"), ("<mx-reply>b</mx-reply>", "a message"),
    ])
    func markdownExportContainsFormatting(_ html: String, _ markdown: String) {
        #expect(Self.markdown("a message", html: html) == markdown)
    }

    @Test(arguments: [
        ("2*3*4 *x*", "2\\*3\\*4 \\*x\\*"), ("2*3*4", "2\\*3\\*4"), ("# a\n- b\n1. c", "\\# a\n\\- b\n1\\. c"),
        ("`a` <b> &amp;", "\\`a\\` \\<b> \\&amp;"), ("see https://a.example/b_c_d", "see https://a.example/b_c_d"),
    ])
    func markdownExportEscapesPlainText(_ text: String, _ markdown: String) {
        #expect(Self.markdown(text) == markdown)
        #expect(Self.markdown(text, written: WrittenText(text, syntax: .plain), by: "own") == markdown)
    }

    @Test(arguments: ["2*3*4 *x* ||y||", "* a\n* __b__\n\n\n~~~\nc\n~~~"])
    func markdownExportPreservesTypedMarkdown(_ text: String) {
        #expect(Self.markdown(text, by: "own") == text)
        #expect(Self.markdown("", written: WrittenText(text)) == text)
    }

    /// An export escapes each `<`, so destinations lose their brackets where the text then reads the same.
    @Test(arguments: [
        ("[x](<https://a.example/y>) a", "[x](https://a.example/y) a"),
        ("[x](<https://a.example/a b>)", "[x](https://a.example/a&#32;b)"),
        ("[x]( <https://a.example/(\\)>  \"t\")", "[x]( https://a.example/\\(\\)  \"t\")"),
        ("![x](<https://a.example/y\\z>)", "![x](https://a.example/y\\\\z)"),
        ("[a]:\n<https://a.example/x y>\n\n[a]", "[a]:\nhttps://a.example/x&#32;y\n\n[a]"),
        ("[x](<no address>)", "[x](no&#32;address)"), ("[x](<>)", "[x]()"),
        ("`[x](<y>)` and [z](<https://a.example/y z>)", "`[x](\\<y>)` and [z](https://a.example/y%20z)"),
        ("[x](<b", "[x](\\<b"), ("[x](<a\nb>)", "[x](\\<a\nb>)"), ("(<b>)", "(\\<b>)"),
    ])
    func markdownExportPreservesDestinations(_ text: String, _ markdown: String) {
        #expect(Self.markdown(text, by: "own") == markdown)
    }

    /// `/spoiler` marks what `||` cannot enclose: several paragraphs, or a code block, which it makes plain text.
    @Test(arguments: [
        ("a\n\nb", WrittenText.Syntax.markdown, "||a||\n\n||b||"),
        ("- a\n- b", .markdown, "- ||a||\n- ||b||"),
        ("```\na\n```", .plain, "||\\`\\`\\`\na\n\\`\\`\\`||"),
    ])
    func markdownExportMarksSpoilers(_ source: String, _ syntax: WrittenText.Syntax, _ markdown: String) throws {
        let cover = WrittenText.Mark(.style(.spoiler()), over: TextRange(location: 0, length: source.utf16.count))
        let written = try #require(WrittenText(source, syntax: syntax, marks: [cover]))
        #expect(Self.markdown(source, written: written, by: "own") == markdown)
    }

    @Test func jsonExportContainsAllKnownData() async throws {
        let (fixture, room) = try await fixture()
        let (_, text) = try await export(room, .json, in: fixture)
        let root = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        let messages = try #require(root["messages"] as? [[String: Any]])
        var expected = Self.hostile
        expected[2] = ""
        #expect(messages.compactMap { $0["text"] as? String } == expected)
        #expect(messages[5]["replyTo"] as? String == "m0\"'<")
        #expect(messages[2]["isDeleted"] as? Bool == true)
        #expect(messages[0]["sentAt"] as? String == "2026-01-02T03:04:05.678Z")
        #expect((messages[1]["reactions"] as? [[String: Any]])?.first?["text"] as? String == "<b>👍</b>")
        #expect((root["members"] as? [Any])?.count == 2)
        #expect(text.split(separator: "\n").count == Self.hostile.count + 2, "a message a line")
    }

    @Test func exportReadsAllPagesInOrderAndReportsProgress() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await fixture.backend.createRoom(named: "Long")
        let new = (0..<1203).map { number in
            NewMessage(
                id: MessageID("\(number)"), sender: MemberID("own"), text: "text \(number)",
                sentAt: Fixtures.date.addingTimeInterval(Double(number)))
        }
        _ = try await fixture.store.ingest(new, into: room)
        let reported = Mutex<[TransferProgress]>([])
        let report = try await fixture.archive.export(
            room, named: "Long", as: .json, into: fixture.folder.path(".")
        ) { progress in reported.withLock { $0.append(progress) } }
        #expect(report.messages == 1203)
        #expect(reported.withLock { $0.map(\.messages) } == [500, 1000, 1203])
        #expect(reported.withLock { $0.last?.fraction } == 1)
        let text = String(
            decoding: try Data(contentsOf: report.folder.appending(path: "messages.json")), as: UTF8.self)
        let numbers = text.matches(of: /"text":"text ([0-9]+)"/).compactMap { Int($0.1) }
        #expect(numbers == Array(0..<1203))
    }

    @Test func exportIncludesAttachedFiles() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await fixture.backend.createRoom(named: "Room")
        let content = Data("a picture".utf8)
        let media = try await fixture.backend.storeMedia(
            .data(content), named: "../a \"b\".png", type: "image/png", progress: { _ in })
        let gone = MediaReference(uri: "media:0000", name: "gone.txt", type: "text/plain")
        for (number, files) in [[media], [media, gone]].enumerated() {
            let new = NewMessage(
                id: MessageID("\(number)"), sender: MemberID("own"), text: "", sentAt: Fixtures.date, kind: .image,
                attachments: files)
            _ = try await fixture.store.append(new, to: room)
        }
        for format in ExportFormat.allCases {
            let (report, text) = try await export(room, format, in: fixture)
            #expect(report.files == 1 && report.missingFiles == 1)
            let files = try FileManager.default.contentsOfDirectory(atPath: report.folder.path + "/media")
            #expect(files.count == 1)
            let name = try #require(files.first)
            #expect(name.hasPrefix("1-") && !name.contains("/") && !name.contains("\""))
            #expect(try Data(contentsOf: report.folder.appending(path: "media/\(name)")) == content)
            #expect(text.contains(format == .json ? name : HTMLExport.address(name)))
            #expect(text.contains("gone"))
        }
    }

    @Test func exportNeverOverwritesAndCleansUpAfterFailure() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await fixture.backend.createRoom(named: "Room")
        _ = try await fixture.backend.send(Fixtures.outgoing("x"), to: room)
        let names = try await [
            export(room, .html, in: fixture, named: "a/b").0, export(room, .html, in: fixture, named: "a/b").0,
        ].map(\.folder.lastPathComponent)
        #expect(names == ["a_b", "a_b (2)"])
        let before = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path(".").path).sorted()
        await #expect(throws: ChatError.notFound) { _ = try await export(RoomID("none"), .html, in: fixture) }
        let archive = fixture.archive
        let folder = fixture.folder.path(".")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await archive.export(room, named: "x", as: .html, into: folder, progress: { _ in })
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: ArchiveError.self) {
            _ = try await archive.export(
                room, named: "x", as: .html, into: folder.appending(path: "none"), progress: { _ in })
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test(arguments: [
        ("Plans", "Plans"), ("", "Room"), ("..", "Room"), (".hidden", "hidden"), ("a/b\\c:d", "a_b_c_d"),
        ("a\u{202E}b\nc", "a_b_c"), ("trailing. ", "trailing"), ("東京", "東京"),
        (String(repeating: "é", count: 200), String(repeating: "é", count: 60)),
    ])
    func exportFolderNamesAreSafe(_ name: String, _ expected: String) {
        #expect(RoomExporter.fileName(name) == expected)
    }
}
