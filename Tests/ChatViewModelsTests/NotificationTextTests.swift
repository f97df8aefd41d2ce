import ChatCore
import Foundation
import Testing

@testable import ChatViewModels

struct NotificationTextTests {
    private let text = NotificationText(translator: .untranslated)

    private func line(_ sender: String, _ text: String) -> NotificationText.Line {
        NotificationText.Line(sender: sender, text: text)
    }

    @Test func messagesOfARoomNameTheirSenders() {
        let texts = text.texts(
            room: "Plans", isDirect: false, lines: [line("Ann", "Hi"), line("Bo", "Ho")], count: 2,
            showing: .senderAndText)
        #expect(texts.title == "Plans" && texts.body == "Ann: Hi\nBo: Ho")
    }

    @Test func directChatIsNamedAfterTheSender() {
        let texts = text.texts(
            room: "Ann", isDirect: true, lines: [line("Ann", "Hi")], count: 1, showing: .senderAndText)
        #expect(texts.title == "Ann" && texts.body == "Hi")
    }

    @Test func onlyTheLastLinesAreShownUnderTheirNumber() {
        let lines = (1...8).map { line("Ann", "\($0)") }
        let texts = text.texts(room: "Ann", isDirect: true, lines: lines, count: 20, showing: .senderAndText)
        #expect(texts.body == "20 new messages\n6\n7\n8")
    }

    @Test func longMessageIsShortened() {
        let texts = text.texts(
            room: "Ann", isDirect: true, lines: [line("Ann", String(repeating: "x", count: 500))], count: 1,
            showing: .senderAndText)
        #expect(texts.body.count == 201 && texts.body.hasSuffix("…"))
    }

    @Test func hiddenTextLeavesTheSenderAndTheNumber() {
        let lines = [line("Ann", "secret"), line("Ann", "words")]
        let one = text.texts(room: "Plans", isDirect: false, lines: lines, count: 2, showing: .sender)
        #expect(one.title == "Plans" && one.body == "2 new messages from Ann")
        let several = text.texts(
            room: "Plans", isDirect: false, lines: lines + [line("Bo", "x")], count: 3, showing: .sender)
        #expect(several.body == "3 new messages")
        let direct = text.texts(room: "Ann", isDirect: true, lines: lines, count: 2, showing: .sender)
        #expect(direct.title == "Ann" && direct.body == "2 new messages")
    }

    @Test func hiddenSenderLeavesTheNumber() {
        let texts = text.texts(
            room: "Plans", isDirect: false, lines: [line("Ann", "secret")], count: 1, showing: .nothing)
        #expect(texts.title == "Parlance" && texts.body == "1 new message")
        let invitation = Invitation(
            room: RoomID("r"), name: "Garden", inviterName: "Ann", receivedAt: Date(timeIntervalSince1970: 0))
        #expect(text.invitation(invitation, showing: .nothing).title == "Parlance")
        #expect(text.invitation(invitation, showing: .nothing).body == "New invitation")
        #expect(text.invitation(invitation, showing: .sender).title == "Garden")
        #expect(text.invitation(invitation, showing: .sender).body == "Invitation from Ann")
        #expect(text.failure(room: "Plans", showing: .nothing).title == "Parlance")
    }

    @Test("A verification names who asks by the Matrix ID, too: anyone can choose a name")
    func verificationNamesTheUser() {
        let request = Verification(
            id: "v", user: MemberID("@mallory:example.org"), isOwn: false, isIncoming: true, phase: .requested)
        let texts = text.verification(request, name: "Bo", showing: .sender)
        #expect(texts.title == "Bo" && texts.body == "@mallory:example.org wants to verify you.")
        #expect(text.verification(request, name: "Bo", showing: .nothing).body == "New verification request")
    }

    @Test(
        "A target is restored from its text, whatever its identifiers contain",
        arguments: [nil, MessageID("$e\"\n/,"), MessageID("")])
    func targetsAreText(message: MessageID?) {
        let target = NotificationTarget(account: "@ann:example.org", room: RoomID("!a/b,c:[x]"), message: message)
        #expect(NotificationTarget(target.text) == target)
    }

    @Test(arguments: ["", "x", "[]", "[1,2]", #"["a"]"#, #"["a","b","c","d"]"#])
    func otherTextIsNoTarget(text: String) { #expect(NotificationTarget(text) == nil) }
}
