import ChatCore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

@Suite struct EventContentTests {
    private let ann = MentionTarget.member("@ann:example.org")
    private let writer = EventContentBuilder(ownUserID: MemberID("@me:example.org"))

    @Test func plainTextIsSentUnformatted() {
        #expect(
            writer.contents(of: WrittenMessage("Hello")) == [
                ["msgtype": "m.text", "body": "Hello", "m.mentions": [:]]
            ])
    }

    @Test func markdownIsSentWithHTML() throws {
        let content = writer.contents(of: WrittenMessage("is **glad**", kind: .emote))[0]
        #expect(content["msgtype"] == "m.emote" && content["body"] == "is **glad**")
        #expect(content["format"] == "org.matrix.custom.html")
        #expect(content["formatted_body"]?.string?.contains("<strong>glad</strong>") == true)
    }

    @Test func mentionedUsersAreListed() {
        let content = writer.contents(of: WrittenMessage(WrittenText("Hi @Ann", mentioning: ["@Ann": ann])))[0]
        #expect(content["m.mentions"] == ["user_ids": ["@ann:example.org"]])
        #expect(
            content["formatted_body"] == "Hi <a href=\"https://matrix.to/#/@ann:example.org\">@Ann</a>")
    }

    @Test func replyHasARelationAndNoFallback() {
        let content = writer.contents(of: WrittenMessage("Yes", replyTo: MessageID("$a")))[0]
        #expect(content["m.relates_to"] == ["m.in_reply_to": ["event_id": "$a"]])
        #expect(content["body"] == "Yes")
    }

    @Test func eachFileIsAnEventAndTheFirstHasTheText() {
        func file(_ name: String) -> MediaReference {
            MediaReference(uri: "mxc://a/\(name)", name: name, type: "image/png", bytes: 5)
        }
        let message = WrittenMessage("Look", kind: .image, files: [file("1.png"), file("2.png")])
        let contents = writer.contents(of: message)
        #expect(contents.map { $0["msgtype"] } == ["m.image", "m.image"])
        #expect(contents.map { $0["body"] } == ["Look", "2.png"])
        #expect(contents.map { $0["filename"] } == ["1.png", "2.png"])
        #expect(contents[0]["info"] == ["mimetype": "image/png", "size": 5])
        // Parsing restores the message.
        let read = Message.Content(json: contents[0])
        #expect(read?.text == "Look" && read?.attachments.first?.uri == "mxc://a/1.png")
    }

    @Test("A picture that was sent as a file stays a file when its caption is edited, and when it is forwarded")
    func pictureSentAsAFileStaysOne() {
        let picture = MediaReference(uri: "mxc://a/1", name: "1.png", type: "image/png", bytes: 5)
        let sent = Message(
            id: MessageID("$1"), roomID: RoomID("!r"), sender: MemberID("@me:example.org"),
            content: Message.Content("Look", kind: .file, attachments: [picture]), sentAt: Fixtures.date, position: 1)
        #expect(writer.edit(of: sent, to: WrittenText("Look here"))["m.new_content"]?["msgtype"] == "m.file")
        let forwarded = WrittenMessage("Look", kind: sent.kind, files: [picture])
        #expect(writer.contents(of: forwarded)[0]["msgtype"] == "m.file")
        // A caption of one's own says nothing of the file.
        #expect(writer.contents(of: WrittenMessage("Look", files: [picture]))[0]["msgtype"] == "m.image")
    }

    @Test(arguments: [(1920, 1080, 800, 450), (600, 400, 600, 400), (1080, 1920, 450, 800), (4000, 2, 800, 1)])
    func videoPosterHasItsSize(_ width: Int, _ height: Int, _ shownWidth: Int64, _ shownHeight: Int64) {
        let film = MediaReference(
            uri: "mxc://a/1", name: "f.mp4", type: "video/mp4", bytes: 5, width: width, height: height,
            thumbnailURI: "mxc://a/2")
        let message = WrittenMessage("", kind: .video, files: [film])
        #expect(
            writer.contents(of: message)[0]["info"]?["thumbnail_info"]
                == ["mimetype": "image/jpeg", "w": .integer(shownWidth), "h": .integer(shownHeight)])
    }

    /// Sizes, durations and BlurHashes survive a round trip.
    @Test func fileInfoSurvivesARoundTrip() throws {
        let files = [
            MediaReference(
                uri: "mxc://a/1", name: "1.png", type: "image/png", bytes: 5, width: 3, height: 4,
                blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj"),
            MediaReference(
                uri: "mxc://a/2", name: "2.webm", type: "video/webm", bytes: 6, width: 160, height: 90, duration: 3008,
                thumbnailURI: "mxc://a/3", blurHash: "00TI:j"),
            MediaReference(
                uri: "mxc://a/4", name: "4.ogg", type: "audio/ogg", duration: 1500, loudness: [0, 512, 1024]),
            MediaReference(uri: "mxc://a/5", name: "5.ogg", type: "audio/ogg", loudness: []),
            MediaReference(uri: "mxc://a/6", name: "6.jpg", type: "image/jpeg", altText: "A pier at dusk"),
        ]
        for file in files {
            let message = WrittenMessage("", kind: file.messageKind, files: [file])
            let read = try #require(Message.Content(json: writer.contents(of: message)[0]))
            #expect(read.attachments == [file] && read.text.isEmpty && read.kind == file.messageKind)
        }
    }

    @Test func altTextSurvivesBesideACaption() throws {
        let file = MediaReference(uri: "mxc://a/6", name: "6.jpg", type: "image/jpeg", altText: "A pier")
        let message = WrittenMessage("Last summer", kind: .image, files: [file])
        let read = try #require(Message.Content(json: writer.contents(of: message)[0]))
        #expect(read.attachments == [file] && read.text == "Last summer")
        let alone = writer.contents(
            of: WrittenMessage("", kind: .image, files: [file]))[0]
        #expect(alone["body"] == "A pier" && alone["filename"] == "6.jpg", "programs without descriptions show it")
    }

    /// A local thumbnail URI is never sent.
    @Test func onlyServerThumbnailsAreSent() {
        let file = MediaReference(uri: "mxc://a/2", name: "2.webm", type: "video/webm", thumbnailURI: "media:00")
        let message = WrittenMessage("", kind: .video, files: [file])
        #expect(writer.contents(of: message)[0]["info"] == ["mimetype": "video/webm"])
    }

    @Test(
        arguments: [
            ["org.matrix.msc1767.audio": 5], ["org.matrix.msc1767.audio": ["waveform": "loud"]],
            ["org.matrix.msc1767.audio": ["waveform": ["a", [1], -7, .number(1e300)]]],
            ["m.alt_text": ["m.text": [7, ["body": 3]]]],
            ["info": ["xyz.amorgan.blurhash": 7]], ["info": ["xyz.amorgan.blurhash": "no hash"]],
        ] as [JSONValue])
    func malformedPartsDoNotAffectOthers(part: JSONValue) throws {
        var content: [String: JSONValue] = [
            "msgtype": "m.audio", "body": "a.ogg", "url": "mxc://a/b", "org.matrix.msc3245.voice": [:],
        ]
        content.merge(part.object ?? [:]) { $1 }
        let file = try #require(Message.Content(json: .object(content))?.attachments.first)
        #expect(file.name == "a.ogg" && file.blurHash == nil && file.altText == nil)
        #expect(file.loudness?.allSatisfy { (0...MediaDescription.maxAmplitude).contains($0) } == true)
    }

    @Test func longWaveformKeepsItsPeaks() throws {
        let samples = (0..<5000).map { JSONValue.integer($0 == 2525 ? 900 : 3) }
        let content: JSONValue = [
            "msgtype": "m.audio", "body": "a.ogg", "url": "mxc://a/b", "org.matrix.msc3245.voice": [:],
            "org.matrix.msc1767.audio": ["waveform": .array(samples), "duration": 60_000],
        ]
        let file = try #require(Message.Content(json: content)?.attachments.first)
        #expect(file.loudness?.count == MediaDescription.maxWaveformSamples && file.loudness?[50] == 900)
        #expect(file.loudness?.filter { $0 == 3 }.count == MediaDescription.maxWaveformSamples - 1)
        #expect(file.duration == 60_000)
    }

    /// A typed name without a mention notifies nobody.
    @Test func typedNameIsNotAMention() {
        let content = writer.contents(of: WrittenMessage("Hi @Ann"))[0]
        #expect(content["m.mentions"] == [:] && content["formatted_body"] == nil)
    }

    @Test func everyoneIsSentAsARoomMention() {
        let text = WrittenText("@room @Ann: tea", mentioning: ["@room": .everyone, "@Ann": ann])
        #expect(
            writer.contents(of: WrittenMessage(text))[0]["m.mentions"]
                == ["room": true, "user_ids": ["@ann:example.org"]])
    }

    @Test(
        arguments: [
            ("@bob:example.org", ["user_ids": ["@bob:example.org"]]), ("@me:example.org", [:]), (nil, [:]),
        ] as [(String?, JSONValue)])
    func replyMentionsTheRepliedToSender(author: String?, mentions: JSONValue) {
        let reply = WrittenMessage.Reply(to: MessageID("$a"), by: author.map { MemberID($0) })
        #expect(writer.contents(of: WrittenMessage(WrittenText("Yes"), reply: reply))[0]["m.mentions"] == mentions)
    }

    @Test func forwardedMessageMentionsNobody() {
        let text = WrittenText("Hi @Ann", mentioning: ["@Ann": ann])
        let content = writer.contents(of: WrittenMessage(text, origin: .forwarded))[0]
        #expect(content["m.mentions"] == [:] && content["formatted_body"] != nil, "the pill stays")
    }

    @Test func editMentionsOnlyNewUsers() {
        let greeting = WrittenText("Hi @Ann", mentioning: ["@Ann": ann])
        let both = WrittenText("Hello @Ann, @Bob", mentioning: ["@Ann": ann, "@Bob": .member("@bob:example.org")])
        var original = Message(
            id: MessageID("$a"), roomID: RoomID("!r"), sender: MemberID("@me:example.org"), text: "Hi @Ann",
            sentAt: Date(timeIntervalSince1970: 0), position: 1, replyTo: MessageID("$q"), written: greeting)
        var edit = writer.edit(of: original, to: both, answering: MemberID("@carl:example.org"))
        #expect(edit["m.mentions"] == ["user_ids": ["@bob:example.org"]])
        #expect(
            edit["m.new_content"]?["m.mentions"]
                == ["user_ids": ["@ann:example.org", "@bob:example.org", "@carl:example.org"]])
        #expect(edit["m.new_content"]?["body"] == "Hello @Ann, @Bob" && edit["body"] == "* Hello @Ann, @Bob")
        #expect(edit["m.relates_to"] == ["rel_type": "m.replace", "event_id": "$a"])
        // A message written in another client.
        original.written = nil
        original.formattedText = "Hi <a href=\"https://matrix.to/#/@bob:example.org\">Bob</a>"
        edit = writer.edit(of: original, to: both)
        #expect(edit["m.mentions"] == ["user_ids": ["@ann:example.org"]])
    }
}
