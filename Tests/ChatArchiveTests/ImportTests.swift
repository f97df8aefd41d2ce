import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import LocalBackend
import Testing

@testable import ChatArchive

/// Imports samples of other applications' formats into a real store.
@Suite(.timeLimit(.minutes(10))) struct ImportTests {
    @Test func importsTelegramChat() async throws {
        let fixture = try await ArchiveFixture()
        let report = try await fixture.importFile("telegram")
        #expect(report.conversations.map(\.name) == ["Bike Club"])
        let room = try #require(report.conversations.first?.room)
        #expect(
            try await fixture.texts(in: room) == [
                "Ann: Hello <b>all</b>",
                "Bob: Meet at **nine** by the [old \\[mill\\]](<https://example.org/mill>) – ``a`b``, ||secret||",
                "Ann: The map", "Bob: voice_message", "Bob: 🚲", "?: A deleted account", "Ann: hostname",
            ])
        #expect(
            report.skippedItems == [
                .event("create_group"): 1, .missingFile: 2, .reaction: 1, .incomplete("date"): 1, .wrongType("text"): 1,
                .unknownKind("message"): 1, .wrongType("message"): 1, .unknownKind("riddle"): 1,
            ])
        let messages = try await fixture.messages(in: room)
        #expect(messages[1].replyTo == messages[0].id)
        #expect(messages[1].editedAt == Date(timeIntervalSince1970: 1_682_928_300))
        #expect(messages[0].sentAt == Date(timeIntervalSince1970: 1_682_928_060))
        // 10:06 at the exporting machine, UTC+1.
        #expect(messages[5].sentAt == Date(timeIntervalSince1970: 1_682_931_960))
        let picture = try #require(messages[2].attachments.first)
        #expect(messages[2].kind == .image && picture.name == "photo_1.png" && picture.width == 1)
        let content = try Data(contentsOf: await fixture.backend.content(of: picture))
        #expect(content.starts(with: [0x89, 0x50, 0x4E, 0x47]))
        #expect(report.files == 1 && messages[6].attachments.isEmpty, "nothing from outside of the export")
        let summary = try #require(try await fixture.store.roomSummaries().first { $0.id == room })
        #expect(summary.unreadCount == 0 && summary.room.name == "Bike Club")
    }

    @Test func telegramVoiceMessagesAreImported() throws {
        let parser = TelegramParser()
        let messages = ["voice_message", "audio_file"].enumerated().map { number, kind in
            #"{"id":\#(number),"type":"message","date_unixtime":"1682928060","from":"Ann","text":"","#
                + #""media_type":"\#(kind)","mime_type":"audio/ogg","file":"files/\#(number).ogg"}"#
        }
        let start = #"{"name":"Club","type":"private_group","messages":["#
        try parser.feed(Data((start + messages.joined(separator: ",") + "]}").utf8))
        let parsed = parser.drainEvents().compactMap { if case .message(let message) = $0 { message } else { nil } }
        let loudness: [[Int]?] = [[], nil]
        #expect(parsed.flatMap(\.files).map(\.media.loudness) == loudness)
    }

    /// The export inside an additional folder, packed or not.
    @Test func importsTelegramExportInsideAnExtraFolder() async throws {
        let fixture = try await ArchiveFixture()
        let folder = TemporaryFolder()
        try FileManager.default.copyItem(
            at: ArchiveFixture.export("telegram"), to: folder.path("ChatExport_2023-05-01"))
        let files = try ["result.json", "photos/photo_1.png"].map { name in
            ("ChatExport_2023-05-01/" + name, try Data(contentsOf: ArchiveFixture.export("telegram/" + name)))
        }
        let zip = try fixture.write(SampleZip.data(of: files), as: "telegram.zip")
        for source in [folder.url, zip] {
            let report = try await fixture.importFile(source) { _ in .newRooms }.report
            let messages = try await fixture.messages(in: try #require(report.conversations.first?.room))
            #expect(report.files == 1 && messages[2].attachments.map(\.name) == ["photo_1.png"])
            #expect(report.skippedItems[.missingFile] == 2, "as many as without the folder")
        }
    }

    @Test func importsTelegramExportOfAllChats() async throws {
        let fixture = try await ArchiveFixture()
        let report = try await fixture.importFile("telegram-all.json")
        #expect(report.conversations.map(\.name) == ["Bob Lee", "Named late", "Old group"])
        #expect(report.skippedItems.isEmpty)
        #expect(
            try await fixture.texts(in: report.conversations[0].room) == [
                "Robin: Happy new year", "Bob Lee: And to you",
            ], "who exported is the user")
    }

    @Test func importsWhatsAppAndroidExport() async throws {
        let fixture = try await ArchiveFixture()
        let report = try await fixture.importFile("WhatsApp Chat with Familie.txt")
        #expect(report.conversations.map(\.name) == ["Familie"])
        let room = try #require(report.conversations.first?.room)
        #expect(
            try await fixture.texts(in: room) == [
                "Anna Groß: Guten Rutsch!\nUnd ein **gutes** neues Jahr\n\nhttps://example.org/a:b",
                "Ben: ~~Danke~~ gleichfalls", "Ben: IMG-20200101-WA0001.jpg (Datei angehängt)\nFeuerwerk",
                "Anna Groß: <Media omitted>", "+49 170 1234567: Hallo: wer ist da?",
            ])
        let messages = try await fixture.messages(in: room)
        // December 31, 23:59 at UTC+1.
        #expect(messages[0].sentAt == Date(timeIntervalSince1970: 1_577_833_140))
        #expect(messages[4].sentAt == Date(timeIntervalSince1970: 1_578_898_800))
        #expect(report.skippedItems == [.event("notice"): 1, .missingFile: 2, .incomplete("text"): 1])
    }

    @Test(arguments: ["whatsapp-ios-us.txt", "whatsapp.zip"])
    func importsWhatsAppIOSExport(_ name: String) async throws {
        let fixture = try await ArchiveFixture()
        let report = try await fixture.importFile(name)
        let room = try #require(report.conversations.first?.room)
        let messages = try await fixture.messages(in: room)
        #expect(
            messages.map(\.sentAt.timeIntervalSince1970) == [
                1_577_833_141, 1_577_833_205, 1_577_876_465, 1_577_952_000,
            ])
        #expect(messages[2].text == "line one\nline two")
        if name.hasSuffix("zip") {
            #expect(messages[1].kind == .image && messages[1].text.isEmpty && report.files == 1)
        } else {
            #expect(messages[1].text.contains("00000002-PHOTO") && report.files == 0)
        }
        let people = try await fixture.store.members(of: room).map(\.displayName)
        #expect(people == ["Robin", "Ann", "Bob"])
    }

    @Test(arguments: ["slack", "slack.zip"])
    func importsSlackExport(_ name: String) async throws {
        let fixture = try await ArchiveFixture()
        let report = try await fixture.importFile(name)
        #expect(Set(report.conversations.map(\.name)) == ["general", "Ann, Bob Roe"])
        let general = try #require(report.conversations.first { $0.name == "general" }?.room)
        #expect(
            try await fixture.texts(in: general) == [
                "Ann: Hi @Bob Roe, see #general and [the *docs*](<https://example.org/?a=1&b=2>) <now> **bold** ~~gone~~ a*b*c",
                "Bob Roe: In **the** thread", "CI: @here green",
                "Bob Roe: [plan.pdf](<https://example.slack.com/files/F1>)", "Ann: waves",
                "Bob Roe: Look 👋 :parrot:",
            ])
        let messages = try await fixture.messages(in: general)
        #expect(messages[1].replyTo == messages[0].id && messages[1].editedAt != nil)
        #expect(messages[4].kind == .emote)
        let before = try await fixture.store.revisions(of: messages[1].id, in: general)
        #expect(before.map(\.text) == ["In a thread"])
        let (ann, bob) = (messages[0].sender, messages[1].sender)
        #expect(messages[0].reactions == [Reaction(text: "👋", senders: [bob])])
        #expect(
            messages[5].reactions == [
                Reaction(text: "👍", senders: [ann, bob]), Reaction(text: ":parrot:", senders: [ann]),
            ])
        #expect(messages[5].kind == .image && messages[5].attachments.first?.width == 1 && report.files == 1)
        #expect(messages[5].attachments.first?.altText == "The way there")
        #expect(
            report.skippedItems == [
                .event("channel_join"): 1, .missingFile: 1, .wrongType("text"): 1, .incomplete("ts"): 1,
                .reaction: 1, .edit: 1,
            ], "three gave a reaction that names one, and an edit is by another")
    }

    @Test func importsElementExport() async throws {
        let fixture = try await ArchiveFixture()
        let report = try await fixture.importFile("element.json")
        #expect(report.conversations.map(\.name) == ["Garden"])
        let room = try #require(report.conversations.first?.room)
        #expect(
            try await fixture.texts(in: room) == [
                "Ann: The roses bloom!", "@bob:example.org: So early?", "@bob:example.org: waters them",
                "@bob:example.org: rose.jpg", "@bob:example.org: In a thread",
            ])
        let messages = try await fixture.messages(in: room)
        #expect(messages[1].replyTo == messages[0].id && messages[2].kind == .emote)
        #expect(messages[4].replyTo == messages[0].id, "the thread's beginning")
        #expect(messages[0].editedAt == Date(timeIntervalSince1970: 1_704_103_204))
        #expect(messages[1].reactions == [Reaction(text: "👍", senders: [messages[0].sender])])
        #expect(
            report.skippedItems == [
                .event("m.room.create"): 1, .event("m.room.member"): 1, .edit: 1, .reaction: 1, .missingFile: 1,
                .event("redacted"): 2, .wrongType("body"): 1, .unknownKind("org.example.game"): 1,
            ], "an edit by another, a reaction to what is not there")
    }

    /// Formatted bodies keep their formatting, and plain bodies are not parsed as Markdown.
    @Test func elementFormattingIsPreserved() async throws {
        let fixture = try await ArchiveFixture()
        let html = #""format":"org.matrix.custom.html","formatted_body""#
        let contents = [
            #""body":"**a** Ann",\#(html):"<b>a</b> <a href=\"https://matrix.to/#/@ann:x.org\">Ann</a>""#,
            #""body":"*a* 2*3*4""#, #""body":"plain""#,
            #""body":"* b","m.relates_to":{"rel_type":"m.replace","event_id":"$2"},"m.new_content":{"body":"b",\#(html):"<i>b</i>"}"#,
        ]
        let events = contents.enumerated().map { number, content in
            #"{"type":"m.room.message","event_id":"$\#(number)","sender":"@ann:x.org","origin_server_ts":\#(number),"#
                + #""content":{"msgtype":"m.text",\#(content)}}"#
        }
        let text = #"{"room_name":"R","exported_by":"x","messages":["# + events.joined(separator: ",") + "]}"
        let file = try fixture.write(Data(text.utf8), as: "export.json")
        let report = try await fixture.archive.importConversations(from: file) { _ in }
        let messages = try await fixture.messages(in: try #require(report.conversations.first?.room))
        #expect(
            messages.map(\.formattedText) == [
                "<b>a</b> <a href=\"https://matrix.to/#/@ann:x.org\">Ann</a>", "*a* 2*3*4", "<i>b</i>",
            ])
        #expect(messages.map(\.text) == ["**a** Ann", "*a* 2*3*4", "b"])
    }

    /// Two images with the same name; file names contain the times in the exporter's time zone.
    @Test func importsElementExportWithMedia() async throws {
        let fixture = try await ArchiveFixture()
        let folder = TemporaryFolder()
        let media = folder.path("images")
        try FileManager.default.createDirectory(at: media, withIntermediateDirectories: true)
        for time in ["10-59-58", "11-00-06"] {
            try Data(SampleImages.jpeg).write(to: media.appending(path: "rose-1-1-2024 at \(time) AM.jpg"))
        }
        try FileManager.default.copyItem(
            at: ArchiveFixture.export("element.json"), to: folder.path("export.json"))
        let report = try await fixture.archive.importConversations(from: folder.url) { _ in }
        let messages = try await fixture.messages(in: try #require(report.conversations.first?.room))
        #expect(messages[3].kind == .image && messages[3].text.isEmpty)
        #expect(messages[3].attachments.map(\.name) == ["rose.jpg"])
        #expect(report.files == 1 && report.skippedItems[.missingFile] == nil)
    }

    /// A body that repeats the alt text is dropped; any other body is a caption.
    @Test func elementCaptionsAndAltTextsArePreserved() throws {
        let parser = ElementParser(files: ElementFiles(["images/A rose-1.png", "images/In May-2.png"], base: ""))
        let content = #""msgtype":"m.image","filename":"rose.png""#
        let description = #""org.matrix.msc1767.alt_text":{"org.matrix.msc1767.text":[{"body":"A rose.png"}]}"#
        let events = ["A rose.png", "In May.png"].enumerated().map { number, body in
            #"{"type":"m.room.message","event_id":"$\#(number)","sender":"@ann:example.org","origin_server_ts":0,"#
                + #""content":{\#(content),"body":"\#(body)",\#(description)}}"#
        }
        try parser.feed(Data((#"{"messages":["# + events.joined(separator: ",") + "]}").utf8))
        let messages = parser.drainEvents().compactMap { if case .message(let message) = $0 { message } else { nil } }
        #expect(messages.map(\.text) == ["", "In May.png"])
        #expect(messages.flatMap(\.files).map(\.media.altText) == ["A rose.png", "A rose.png"])
        #expect(messages.flatMap(\.files).map(\.media.name) == ["rose.png", "rose.png"])
    }

    @Test func elementVoiceMessagesAndBlurHashesAreImported() throws {
        let paths = ["audio/Voice message-1.ogg", "audio/b-2.ogg", "audio/c-3.mp3", "images/rose-4.jpg"]
        let parser = ElementParser(files: ElementFiles(paths, base: ""))
        let samples = (0..<200).map { String($0) }.joined(separator: ",")
        let contents: [String] = [
            #""msgtype":"m.audio","body":"Voice message.ogg","info":{"mimetype":"audio/ogg"},"#
                + #""org.matrix.msc3245.voice":{},"#
                + #""org.matrix.msc1767.audio":{"duration":1500,"waveform":[0,512,4096,-1]}"#,
            #""msgtype":"m.audio","body":"b.ogg","m.voice":{},"info":{"duration":700},"#
                + #""org.matrix.msc1767.audio":{"duration":1,"waveform":[\#(samples)]}"#,
            #""msgtype":"m.audio","body":"c.mp3","org.matrix.msc1767.audio":{"waveform":[1]}"#,
            #""msgtype":"m.image","body":"rose.jpg","info":{"xyz.amorgan.blurhash":"LEHV6nWB2yk8"}"#,
        ]
        let events = contents.enumerated().map { number, content in
            #"{"type":"m.room.message","event_id":"$\#(number)","sender":"@ann:example.org","origin_server_ts":0,"#
                + #""content":{\#(content)}}"#
        }
        try parser.feed(Data((#"{"messages":["# + events.joined(separator: ",") + "]}").utf8))
        let messages = parser.drainEvents().compactMap { if case .message(let message) = $0 { message } else { nil } }
        let media = messages.flatMap(\.files).map(\.media)
        let loudness: [[Int]?] = [[0, 512, 1024, 0], (0..<100).map { 2 * $0 + 1 }, nil, nil]
        let durations: [Int?] = [1500, 700, nil, nil]
        let hashes: [String?] = [nil, nil, nil, "LEHV6nWB2yk8"]
        #expect(media.map(\.loudness) == loudness)
        #expect(media.map(\.duration) == durations && media.map(\.blurHash) == hashes)
    }

    @Test func elementFilesAreFoundByNameAndTime() {
        let files = ElementFiles(
            [
                "x/images/a-1-1-2024 at 11-00-06 AM.png", "x/images/a-1-1-2024 at 11-00-07 AM.png",
                "x/files/b-01.02.2024 um 09-30-00.tar.gz", "x/audio/Voice-3-3-2024 at 10-00-00.ogg", "y/images/c-1.png",
            ], base: "x/")
        func find(_ body: String, _ kind: String, isVoice: Bool = false, _ seconds: Double = 1_704_103_207) -> String? {
            files.path(of: body, kind: kind, isVoice: isVoice, sentAt: Date(timeIntervalSince1970: seconds))
        }
        #expect(find("a.png", "m.image") == "x/images/a-1-1-2024 at 11-00-07 AM.png")
        #expect(find("a.png", "m.image", 1_704_103_209) == nil, "either could be it")
        #expect(find("a.png", "m.file") == nil)
        #expect(find("b.tar.gz", "m.file") == nil, "Element puts the time before the last end of a name")
        #expect(find("Voice", "m.audio", isVoice: true) == "x/audio/Voice-3-3-2024 at 10-00-00.ogg")
        #expect(find("c.png", "m.image") == nil, "outside of the export")
        #expect(find("", "m.image") == nil)
    }

    @Test func importedMessagesAreSearchableOnceTheImportFinishes() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await fixture.backend.startImport(of: nil)
        let member = Member(id: MemberID("import-x"), displayName: "X", kind: .person)
        let message = ImportedMessage(
            id: MessageID("1"), sender: member.id, text: Wording("a walrus"), sentAt: Fixtures.date)
        #expect(try await fixture.backend.addImported([message, message], by: [member], to: room) == 1)
        let query = SearchQuery(text: "walrus", matching: .terms)
        #expect(try await fixture.store.search(query).messages.isEmpty)
        #expect(try await fixture.roomNames() == ["Notes", "Welcome"])
        _ = try await fixture.backend.finishImport([FinishedImport(staged: room, name: "Sea")])
        #expect(try await fixture.store.search(query).messages.count == 1)
        #expect(try await fixture.roomNames() == ["Notes", "Sea", "Welcome"])
        await #expect(throws: ChatError.notPermitted) {
            _ = try await fixture.backend.addImported([message], by: [], to: room)
        }
        await #expect(throws: ChatError.notFound) {
            try await fixture.backend.finishImport([FinishedImport(staged: RoomID("none"), name: "None")])
        }
    }

    @Test func interruptedImportIsRemovedAtTheNextLaunch() async throws {
        let fixture = try await ArchiveFixture()
        _ = try await fixture.backend.startImport(of: nil)
        #expect(try await fixture.store.stagedRooms().count == 1)
        await fixture.backend.close()
        let again = try await LocalBackend.start(over: fixture.store, ownDisplayName: "Robin", clock: ManualClock())
        while try await !fixture.store.stagedRooms().isEmpty { await Task.yield() }
        #expect(try await fixture.roomNames() == ["Notes", "Welcome"])
        await again.close()
    }
}
