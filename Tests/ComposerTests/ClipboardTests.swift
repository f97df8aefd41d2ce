import Composer
import Foundation
import Testing

struct ClipboardTests {
    static let png = Attachment(type: "image/png", name: "a.png", bytes: 10)
    static let jpeg = Attachment(type: "image/jpeg", name: "a.jpg", bytes: 5)
    static let pdf = Attachment(type: "application/pdf", name: "a.pdf", bytes: 5)

    /// SLK-36, SLK-37, MIB-19: offers, resulting text, resulting attachments.
    static let offers: [([PasteOffer], String, [String])] = [
        ([.text("t")], "t", []), ([.media(png)], "", ["a.png"]), ([.media(jpeg), .media(png)], "", ["a.png"]),
        ([.media(png), .text("t")], "", ["a.png"]), ([.text("t"), .media(png)], "t", []),
        ([.media(pdf), .text("t")], "t", []), ([.media(pdf)], "", []), ([], "", []),
    ]

    @Test(arguments: offers)
    func pasteChoosesTheBestRepresentation(offers: [PasteOffer], text: String, names: [String]) {
        var script = ComposerScript()
        script.send(.paste(offers))
        #expect(script.text == text)
        #expect(script.state.attachments.map(\.name) == names)
    }

    /// HKW-11: ⚠ "at the end" inserted before the last attachment, and in an empty text nothing was reported.
    /// Attachments keep their order, each one is reported, and the text is unchanged.
    @Test(arguments: ["", "text"])
    func attachmentsAreAppendedInOrder(text: String) {
        var script = ComposerScript()
        script.load(text)
        for attachment in [Self.png, Self.jpeg, Self.pdf] {
            script.send(.attach(attachment))
            #expect(script.effects.contains(.observed(.attachmentsChanged)))
        }
        #expect(script.state.attachments == [Self.png, Self.jpeg, Self.pdf] && script.text == text)
        script.send(.detach(1))
        #expect(script.state.attachments == [Self.png, Self.pdf])
    }

    @Test func unacceptedMediaIsReported() {
        var script = ComposerScript()
        script.send(.paste([.media(Self.pdf)]))
        #expect(script.effects.contains(.rejected(.mediaType("application/pdf"))))
    }

    @Test(arguments: [
        ("image/png", ["image/*"], true), ("video/mp4", ["image/*"], false), ("x/y", ["*/*"], true),
        ("IMAGE/PNG", ["image/png"], true), ("imagex/png", ["image/*"], false),
    ])
    func acceptedTypesMatchPatterns(type: String, accepted: [String], isAccepted: Bool) {
        #expect((AttachmentLimits(pastedTypes: accepted).preference(of: type) != nil) == isAccepted)
    }

    /// Issue reports request a limit with a reason (MIB-36).
    @Test func attachmentsAreLimitedWithAReason() {
        var configuration = ComposerConfiguration()
        configuration.attachments = AttachmentLimits(count: 1, bytes: 10)
        var script = ComposerScript(configuration)
        script.send(.attach(Attachment(type: "a/b", name: "big", bytes: 11)))
        #expect(script.effects.contains(.rejected(.attachmentSize(limit: 10))))
        script.send(.attach(Self.png))
        script.send(.attach(Self.jpeg))
        #expect(script.effects.contains(.rejected(.attachmentCount(limit: 1))))
        #expect(script.state.attachments == [Self.png])
        for place in [-1, 1] { script.send(.detach(place)) }
        #expect(script.state.attachments == [Self.png])
    }

    private func withMention() -> ComposerScript {
        var script = ComposerScript()
        script.send(.load(WrittenText("hi Ann!", mentioning: [Mention(.custom("u"), text: "Ann")])))
        return script
    }

    /// HKW-29: whole mentions survive; ⚠ half a mention was copied as a mention with half of its text.
    @Test(arguments: [(2, 5, 1), (3, 3, 1), (4, 2, 0), (0, 5, 0)])
    func onlyWholeMentionsSurviveCutAndPaste(location: Int, length: Int, mentions: Int) {
        var script = withMention()
        script.send(.select(TextRange(location: location, length: length)))
        script.send(.cut)
        script.send(.clear)
        script.send(.pasteInternalClipboard)
        #expect(script.engine.document.mentions.count == mentions)
        script.send(.undo)
        script.send(.redo)
        #expect(script.engine.document.mentions.count == mentions)
    }

    @Test func fragmentIsPastedInAnotherComposer() throws {
        var script = withMention()
        script.send(.select(TextRange(location: 0, length: 7)))
        script.send(.copy)
        guard case .copied(let fragment)? = script.effects.first else {
            Issue.record("nothing copied")
            return
        }
        var other = ComposerScript()
        other.type("> ")
        other.send(.paste([.fragment(try ClipboardFragment.decode(fragment.encoded())), .text("plain")]))
        #expect(other.text == "> hi Ann!")
        #expect(other.engine.document.mentions.map(\.range) == [TextRange(location: 5, length: 3)])
    }

    private static func fragment(_ written: WrittenText) throws -> PasteOffer {
        .fragment(try ClipboardFragment.decode(ClipboardFragment(written).encoded()))
    }

    /// A literal text that becomes the whole text stays literal, in the same undo step.
    @Test(arguments: ["", "**all** of it"])
    func literalFragmentMakesTheWholeTextLiteral(text: String) throws {
        let literal = WrittenText("*x* 2*3*4", syntax: .plain)
        var script = ComposerScript()
        script.load(text, select: TextRange(location: 0, length: text.utf16.count))
        script.send(.paste([try Self.fragment(literal)]))
        #expect(script.engine.document.written == literal)
        script.send(.undo)
        #expect(script.engine.document.written == WrittenText(text))
        script.send(.redo)
        script.send(.send)
        #expect(script.sent.first?.text == literal)
        #expect(script.engine.document.syntax == .markdown)
    }

    /// Text, caret, literal fragment and resulting text. What is not markup where it is pasted is not escaped.
    static let literals: [(String, Int, String, String)] = [
        ("so ", 3, "*x* 2*3*4", #"so \*x\* 2\*3\*4"#), ("end", 0, "# a\n", "\\# a\nend"),
        ("a\n", 2, "- b\n1. c", "a\n\\- b\n1\\. c"), ("a ", 2, "- b. 1.5", "a - b. 1.5"),
        ("> ", 2, "- b", #"> \- b"#), ("1", 1, ". b", #"1\. b"#), ("`a`", 2, "*x*", "`a*x*`"),
        ("```\n", 4, "*x*", "```\n*x*"), ("so ", 3, "plain words", "so plain words"),
    ]

    @Test(arguments: literals)
    func literalFragmentIsEscapedInMarkdown(text: String, caret: Int, literal: String, result: String) throws {
        var script = ComposerScript()
        script.load(text, select: .caret(caret))
        script.send(.paste([try Self.fragment(WrittenText(literal, syntax: .plain))]))
        #expect(script.engine.document.written == WrittenText(result))
        script.send(.undo)
        #expect(script.text == text)
    }

    @Test func mentionsOfAnEscapedFragmentStayInPlace() throws {
        let ann = Mention(.member("u"), text: "A_n")
        var script = ComposerScript()
        script.load("so ")
        script.send(.paste([try Self.fragment(WrittenText("*hi* A_n *", mentioning: [ann], syntax: .plain))]))
        #expect(script.text == #"so \*hi\* A_n \*"#)
        #expect(script.engine.document.mentions.map(\.range) == [TextRange(location: 10, length: 3)])
    }

    @Test func markdownFragmentIsPastedIntoALiteralTextAsTyped() throws {
        var script = ComposerScript()
        script.send(.startEdit(id: "m", WrittenText("*one*", syntax: .plain)))
        script.send(.paste([try Self.fragment(WrittenText("**b**"))]))
        #expect(script.engine.document.written == WrittenText("*one***b**", syntax: .plain))
    }

    /// Nothing would show why Markdown has no effect.
    @Test func newMessageIsMarkdownAgainOnceALiteralTextIsDeleted() throws {
        var script = ComposerScript()
        script.send(.paste([try Self.fragment(WrittenText("*x*", syntax: .plain))]))
        script.send(.select(TextRange(location: 0, length: 3)))
        script.send(.deleteBackward(byWord: false))
        #expect(script.engine.document.syntax == .markdown)
        script.send(.undo)
        #expect(script.engine.document.written == WrittenText("*x*", syntax: .plain))
    }

    /// Malformed clipboard data from other programs, and the resulting error.
    static let hostile: [(String, ClipboardFragmentError)] = [
        ("", .unreadable), ("null", .unreadable), ("[1]", .unreadable), (#"{"version":2}"#, .unreadable),
        (#"{"version":1,"text":"","spans":[]}"#, .unknownVersion(1)), (mention(at: 0, 4), .damaged),
        (mention(at: -1, 3), .damaged), (mention(at: 0, .max), .damaged), (mention(at: .max, .max), .damaged),
        (mention(at: 0, 0), .damaged),
        (mention(at: 0, 3, again: true), .damaged),
    ]

    private static func mention(at location: Int, _ length: Int, again: Bool = false) -> String {
        let mark = #"""
            {"content":{"mention":{"_0":{"member":{"_0":"u"}}}},"range":{"length":\#(length),"location":\#(location)}}
            """#
        let marks = again ? mark + "," + mark : mark
        return #"{"version":2,"written":{"marks":[\#(marks)],"source":"Ann","syntax":"markdown"}}"#
    }

    @Test(arguments: hostile)
    func malformedFragmentIsRejected(data: String, error: ClipboardFragmentError) {
        #expect(throws: error) { try ClipboardFragment.decode(Data(data.utf8)) }
    }

    @Test func oversizedFragmentIsRejected() {
        let data = Data(repeating: 0x20, count: ClipboardFragment.maxEncodedBytes + 1)
        #expect(throws: ClipboardFragmentError.tooLarge) { try ClipboardFragment.decode(data) }
    }

    @Test func fragmentFormatIsStable() throws {
        let fragment = try ClipboardFragment.decode(Data(Self.mention(at: 0, 3).utf8))
        #expect(fragment.written.mentions.map(\.target) == [.member("u")] && fragment.text == "Ann")
        #expect(String(decoding: try fragment.encoded(), as: UTF8.self) == Self.mention(at: 0, 3))
    }

    /// HKW-60: typing inside a mention turns it into text; typing at its edges does not.
    @Test(arguments: [(3, 1), (4, 0), (5, 0), (6, 1)])
    func typingInsideAMentionMakesItText(offset: Int, mentions: Int) {
        var script = withMention()
        script.send(.select(.caret(offset)))
        script.type("x")
        #expect(script.engine.document.mentions.count == mentions)
    }
}
