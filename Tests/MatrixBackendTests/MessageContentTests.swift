import ChatCore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

@Suite struct MessageContentTests {
    private let ann = Member(id: MemberID("@ann:example.org"), displayName: "Ann", kind: .person)
    private var writer: MessageContent { MessageContent(members: [ann]) }

    @Test func plainTextIsSentAsItIs() {
        #expect(
            writer.contents(of: OutboxMessage(text: "Hello")) == [
                ["msgtype": "m.text", "body": "Hello", "m.mentions": [:]]
            ])
    }

    @Test func markdownIsSentAsHTMLToo() throws {
        let content = writer.contents(of: OutboxMessage(kind: .emote, text: "is **glad**"))[0]
        #expect(content["msgtype"] == "m.emote" && content["body"] == "is **glad**")
        #expect(content["format"] == "org.matrix.custom.html")
        #expect(content["formatted_body"]?.string?.contains("<strong>glad</strong>") == true)
    }

    @Test func thoseWhoAreMentionedAreNamed() {
        let content = writer.contents(of: OutboxMessage(text: "Hi @Ann"))[0]
        #expect(content["m.mentions"] == ["user_ids": ["@ann:example.org"]])
        #expect(
            content["formatted_body"] == "Hi <a href=\"https://matrix.to/#/@ann:example.org\">@Ann</a>")
    }

    @Test func aReplyNamesWhatItAnswersAndQuotesNothing() {
        let content = writer.contents(of: OutboxMessage(text: "Yes", replyTo: MessageID("$a")))[0]
        #expect(content["m.relates_to"] == ["m.in_reply_to": ["event_id": "$a"]])
        #expect(content["body"] == "Yes")
    }

    @Test func eachFileIsAnEventAndTheFirstHasTheText() {
        func file(_ name: String) -> OutboxAttachment {
            OutboxAttachment(
                path: "/x", reference: MediaReference(uri: "mxc://a/\(name)", name: name, type: "image/png", bytes: 5))
        }
        let message = OutboxMessage(kind: .image, text: "Look", attachments: [file("1.png"), file("2.png")])
        let contents = writer.contents(of: message)
        #expect(contents.map { $0["msgtype"] } == ["m.image", "m.image"])
        #expect(contents.map { $0["body"] } == ["Look", "2.png"])
        #expect(contents.map { $0["filename"] } == ["1.png", "2.png"])
        #expect(contents[0]["info"] == ["mimetype": "image/png", "size": 5])
        // What was written is read the same.
        let read = MessageText(contents[0])
        #expect(read?.text == "Look" && read?.attachments.first?.uri == "mxc://a/1.png")
    }

    @Test func anEditNotifiesOnlyWhoIsNew() {
        var original = Message(
            id: MessageID("$a"), roomID: RoomID("!r"), sender: MemberID("@me:x"), text: "Hi @Ann",
            sentAt: Date(timeIntervalSince1970: 0), position: 1)
        var edit = writer.edit(of: original, text: "Hello @Ann", formattedText: nil)
        #expect(edit["m.mentions"] == [:])
        #expect(edit["m.new_content"]?["m.mentions"] == ["user_ids": ["@ann:example.org"]])
        #expect(edit["m.new_content"]?["body"] == "Hello @Ann" && edit["body"] == "* Hello @Ann")
        #expect(edit["m.relates_to"] == ["rel_type": "m.replace", "event_id": "$a"])
        original.text = "Hi"
        edit = writer.edit(of: original, text: "Hello @Ann", formattedText: nil)
        #expect(edit["m.mentions"] == ["user_ids": ["@ann:example.org"]])
    }
}
