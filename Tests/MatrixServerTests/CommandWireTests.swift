import ChatCore
import ChatTestSupport
import Composer
import JSONReading
import MessageMarkup
import Testing

@testable import ChatViewModels
@testable import MatrixBackend

/// Commands that send messages, from the composer to the event content.
struct CommandWireTests {
    private let commands = CommandRegistry(capabilities: [], translator: .untranslated)
    private let file = Composer.Attachment(type: "image/png", name: "a.png", bytes: 3, source: "mxc://a/b")

    /// Returns the message that the composer sends for this text, or `nil` and the reason for its rejection.
    private func composed(_ text: WrittenText, files: [Composer.Attachment] = []) -> (ComposedMessage?, reason: String?)
    {
        var engine = ComposerEngine(configuration: .preset(.parlance))
        engine.setSendGate(commands)
        for file in files { _ = engine.handle(.attach(file), at: .zero) }
        _ = engine.handle(.load(text), at: .zero)
        var answer: (ComposedMessage?, reason: String?) = (nil, nil)
        for effect in engine.handle(.send, at: .zero) {
            if case .send(let message) = effect { answer.0 = message }
            if case .rejected(.rejectedByHost(let reason)) = effect { answer.reason = reason }
        }
        return answer
    }

    /// Returns the content of a message's first event.
    private func content(_ text: WrittenText, files: [Composer.Attachment] = []) throws -> JSONValue {
        let message = try #require(composed(text, files: files).0)
        let command = try commands.command(in: message.text.source)
        let written = WrittenMessage.messages(for: message, as: try #require(command).messageCommand)
        #expect(written.count == 1)
        try ChatLimits.check(written[0])
        let contents = EventContentBuilder(ownUserID: MemberID("@me:x")).contents(of: written[0])
        return try #require(contents.first)
    }

    /// Returns a text in which "Ann" is a mention and "loud" is underlined.
    private func written(_ source: String) -> WrittenText {
        func place(_ text: String) -> TextRange {
            let range = source.ranges(of: text)[0]
            return TextRange(
                location: source.utf16.distance(from: source.startIndex, to: range.lowerBound), length: text.utf16.count
            )
        }
        return WrittenText(
            source,
            marks: [
                .init(.mention(.member("@ann:x")), over: place("A*n*n")),
                .init(.style(.underline), over: place("loud")),
            ])!
    }

    private static let pill = "<a href=\"https://matrix.to/#/@ann:x\">A*n*n</a>"

    @Test(arguments: [
        ("/me waves *at* A*n*n loud", "m.emote", "waves *at* A*n*n loud", "waves <em>at</em> \(pill) <u>loud</u>"),
        ("/plain 2*3*4 A*n*n loud  ", "m.text", "2*3*4 A*n*n loud", "2*3*4 \(pill) <u>loud</u>"),
        (
            "/spoiler  loud A*n*n **b**", "m.text", "||loud A*n*n **b**||",
            "<span data-mx-spoiler><u>loud</u> \(pill) <strong>b</strong></span>"
        ),
        ("/shrug A*n*n loud", "m.text", #"A*n*n loud ¯\_(ツ)_/¯"#, #"\#(pill) <u>loud</u> ¯\_(ツ)_/¯"#),
        ("//me A*n*n *b* loud", "m.text", "/me A*n*n *b* loud", "/me \(pill) <em>b</em> <u>loud</u>"),
    ])
    func commandsPreserveMarks(source: String, type: String, body: String, html: String) throws {
        let content = try content(written(source))
        #expect(content["msgtype"]?.string == type && content["body"]?.string == body)
        #expect(content["m.mentions"] == ["user_ids": ["@ann:x"]])
        let seen = MessageMarkup.body(html: try #require(content["formatted_body"]?.string))
        #expect(seen.markedLetters == MessageMarkup.body(html: html).markedLetters, "\(content)")
        #expect(seen.mentions == [MentionTarget.member("@ann:x")])
    }

    /// No part of a spoiler is visible before it is revealed, whatever its Markdown.
    @Test(arguments: [
        "one\n\ntwo", "- one\n- two", "# one", "a || b", "||", "a ||b|| c", "| a | b |\n|-|-|\n| c | d |", "> one",
        "```\none\n```", "one `||` two", "\\", "a\\", "`one",
    ])
    func spoilerCommandCoversEverything(text: String) throws {
        let content = try content(WrittenText("/spoiler " + text))
        let seen = MessageMarkup.body(html: content["formatted_body"]?.string ?? "shown")
        let open = seen.markedLetters.filter { $0.spoiler == nil }.map(\.letter)
        #expect(open.isEmpty && !seen.markedLetters.isEmpty, "\(content)")
    }

    /// An emote cannot have files: it is rejected with a reason and stays in the composer.
    @Test func emotesWithFilesAreRejected() {
        let (message, reason) = composed(WrittenText("/me waves"), files: [file])
        #expect(message == nil && reason == "Action messages cannot include files. Send the files separately.")
    }

    /// `/spoiler` and `/plain` apply to captions.
    @Test(arguments: ["/spoiler it", "/plain *it*"]) func commandsApplyToCaptions(text: String) throws {
        let content = try content(WrittenText(text), files: [file])
        #expect(content["msgtype"]?.string == "m.image" && content["filename"]?.string == "a.png")
        #expect(content["body"]?.string == (text == "/plain *it*" ? "*it*" : "||it||"))
        #expect(content["formatted_body"]?.string?.contains("data-mx-spoiler") ?? false == (text == "/spoiler it"))
    }
}
