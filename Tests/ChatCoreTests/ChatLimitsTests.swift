import ChatCore
import ChatTestSupport
import Composer
import Testing

@Suite struct ChatLimitsTests {
    @Test(
        "Names are put on one line; empty and overlong ones are invalid",
        arguments: [
            (" A  room\n", "A room"), ("é", "é"), ("", nil), (" \t\n", nil),
            (String(repeating: "👨‍👩‍👧", count: 100), String(repeating: "👨‍👩‍👧", count: 100)),
            (String(repeating: "x", count: 101), nil),
        ])
    func namesAreSingleLineAndBounded(typed: String, stored: String?) {
        #expect(ChatLimits.roomName(from: typed) == stored)
        #expect(ChatLimits.displayName(from: typed) == stored)
    }

    @Test("A topic is put on one line, and a blank one is no topic")
    func topicsAreSingleLineAndNotBlank() throws {
        #expect(try ChatLimits.topic(from: " Tides \n and  tea") == "Tides and tea")
        #expect(try ChatLimits.topic(from: " \n") == nil)
        #expect(try ChatLimits.topic(from: nil) == nil)
        let longest = String(repeating: "é", count: ChatLimits.topicLength)
        #expect(try ChatLimits.topic(from: longest) == longest)
    }

    @Test("An overlong topic is reported as such, not as an invalid name")
    func overlongTopicsHaveTheirOwnError() {
        #expect(throws: ChatError.topicTooLong(limit: 500)) {
            try ChatLimits.topic(from: String(repeating: "é", count: 501))
        }
    }

    @Test("A message has text or attachments, both within limits")
    func messagesNeedContentWithinLimits() throws {
        try ChatLimits.checkMessage("x")
        try ChatLimits.checkMessage("", attachments: ChatLimits.attachments)
        try ChatLimits.checkMessage(String(repeating: "x", count: ChatLimits.messageBytes))
        #expect(throws: ChatError.emptyMessage) { try ChatLimits.checkMessage(" \n\u{00A0}") }
        #expect(throws: ChatError.messageTooLong) {
            try ChatLimits.checkMessage(String(repeating: "é", count: ChatLimits.messageBytes / 2 + 1))
        }
        #expect(throws: ChatError.tooManyAttachments(limit: ChatLimits.attachments)) {
            try ChatLimits.checkMessage("x", attachments: ChatLimits.attachments + 1)
        }
        #expect(ChatLimits.isValidMessage("x"))
        #expect(!ChatLimits.isValidMessage(" "))
    }

    @Test("An emote with a file has its own error, not one about its length")
    func emotesCannotHaveAttachments() throws {
        let file = MediaReference(uri: "media:0", name: "a.png", type: "image/png")
        try ChatLimits.check(WrittenMessage("waves", kind: .emote))
        try ChatLimits.check(WrittenMessage("", kind: .image, files: [file]))
        #expect(throws: ChatError.attachmentsNotPermitted) {
            try ChatLimits.check(WrittenMessage("waves", kind: .emote, files: [file]))
        }
    }

    @Test("An invalid reaction is rejected")
    func invalidReactionsAreRejected() throws {
        try ChatLimits.checkReaction("👍")
        for text in ["", " x", "a\nb", String(repeating: "x", count: ChatLimits.reactionLength + 1)] {
            #expect(throws: ChatError.invalidReaction) { try ChatLimits.checkReaction(text) }
        }
    }
}
