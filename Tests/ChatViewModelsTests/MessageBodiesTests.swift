import ChatCore
import ChatTestSupport
import Composer
import Testing

@testable import ChatViewModels

/// Cached bodies always match their messages and are not rendered twice.
struct MessageBodiesTests {
    private let bodies = MessageBodies()

    private func message(
        _ id: String, _ text: String, html: String? = nil, kind: Message.Kind = .text, isDeleted: Bool = false
    ) -> Message {
        Message(
            id: MessageID(id), roomID: RoomID("r"), sender: Fixtures.own.id, text: text, sentAt: Fixtures.date,
            position: 1, isDeleted: isDeleted, kind: kind, formattedText: html)
    }

    private func isMention(_ body: MessageBody) -> Bool {
        guard case .text(let text)? = body.blocks.first else { return false }
        return text.runs.contains { $0.mention != nil }
    }

    @Test func bodiesMatchTheirTextPreparedOrNot() async {
        await bodies.prepare([message("a", "**b**")])
        #expect(bodies.body(of: message("a", "**b**")).plainText() == "b")
        #expect(bodies.body(of: message("a", "*edited*")).plainText() == "edited")
        #expect(bodies.body(of: message("c", "plain")).unstyledText == "plain")
        #expect(bodies.body(of: message("a", "x", isDeleted: true)) == MessageBody())
    }

    @Test func htmlIsPreferredIfItHasContent() {
        #expect(bodies.body(of: message("a", "x", html: "<b>y</b><script>z</script>")).plainText() == "y")
        #expect(bodies.body(of: message("b", "x", html: "<script>z</script>")).plainText() == "x")
        let long = String(repeating: "<ul><li>y</li></ul>", count: MessageItem.maxDisplayedBlocks)
        #expect(bodies.body(of: message("d", "x", html: long)).plainText() == "x", "more than a row can show")
        #expect(bodies.body(of: message("c", "waves", kind: .emote)).isEmote)
    }

    /// Plain text of other clients is shown literally; text written in Parlance is parsed by its syntax.
    @Test func plainTextOfOtherClientsIsShownLiterally() {
        let bodies = MessageBodies(readsPlainTexts: true)
        bodies.setMembers([Member(id: MemberID("ann"), displayName: "Ann", kind: .person)])
        #expect(bodies.body(of: message("a", "*b* @Ann")).unstyledText == "*b* @Ann")
        #expect(bodies.body(of: message("b", "x", html: "<b>y</b>")).plainText() == "y")
        var own = message("c", "*b* @Ann")
        own.transactionID = TransactionID("t")
        #expect(isMention(bodies.body(of: own)), "an earlier version's")
        own.written = WrittenText("*b* @Ann", syntax: .plain)
        #expect(bodies.body(of: own).unstyledText == "*b* @Ann")
        own.written = WrittenText("Lee **b**", mentioning: ["Lee": .member("lee")])
        own.formattedText = "<i>another form</i>"
        #expect(isMention(bodies.body(of: own)) && bodies.body(of: own).plainText() == "Lee b")
    }

    @Test func newMemberNamesAreRecognizedInExistingTexts() async {
        await bodies.prepare([message("a", "hi @Ann"), message("b", "hi")])
        #expect(!isMention(bodies.body(of: message("a", "hi @Ann"))))
        bodies.setMembers([Member(id: MemberID("ann"), displayName: "Ann", kind: .person)])
        #expect(isMention(bodies.body(of: message("a", "hi @Ann"))))
        #expect(!isMention(bodies.body(of: message("b", "hi"))))
    }

    @Test("A new name has only texts parsed again that may contain it")
    func newNamesLeaveOtherBodiesCached() async {
        let bodies = MessageBodies(readsPlainTexts: true)
        var typed = message("own", "hi @Ann")
        typed.transactionID = TransactionID("t")
        let messages = [message("literal", "hi @Ann"), message("html", "@x", html: "<b>@x</b>"), typed]
        await bodies.prepare(messages)
        let ann = Member(id: MemberID("ann"), displayName: "Ann", kind: .person)
        bodies.changeMembers([(nil, ann)])
        let parsedCount = bodies.parsedCount
        await bodies.prepare(messages)
        #expect(bodies.parsedCount == parsedCount + 1 && isMention(bodies.body(of: typed)))
        bodies.changeMembers([(ann, Member(id: ann.id, displayName: "Ann", kind: .person, hasLeft: true))])
        await bodies.prepare(messages)
        #expect(bodies.parsedCount == parsedCount + 1)
    }

    /// Bodies evicted from the cache are rendered again with the same result.
    @Test func evictedBodiesAreRenderedAgain() async {
        let many = (0..<(3 * MessageBodies.cacheSize)).map { message("\($0)", "*\($0)*") }
        await bodies.prepare(many)
        #expect(bodies.body(of: many[0]).plainText() == "0")
        #expect(bodies.body(of: many[many.count - 1]).plainText() == "\(many.count - 1)")
    }

    @Test func onlyTheDisplayedTextIsParsed() {
        let body = bodies.body(of: message("a", String(repeating: "*x* ", count: 100_000)))
        #expect(body.plainText().count <= MessageItem.maxDisplayedCharacters)
    }
}
