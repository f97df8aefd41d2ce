import ChatCore
import Composer
import Foundation
import Testing

@testable import LocalBackend

@Suite struct GuideTests {
    let guide = Guide(translator: .untranslated)

    private func topic(_ id: GuideTopic.ID) throws -> GuideTopic {
        try #require(guide.topics.first { $0.id == id })
    }

    private func respond(to texts: String...) -> Guide.Response? {
        var memory = GuideMemory()
        return guide.respond(to: GuideOccasion(texts: texts), &memory)
    }

    @Test(
        arguments: [
            ("Which key sends a message?", .sending), ("how do I get a NEWLINE?", .lineBreaks),
            ("does shift do anything", .lineBreaks), ("what about long texts", .growing),
            ("the arrow keys?", .editingLast), ("I made a typo", .editing), ("can I edit?", .editing),
            ("deleting things", .deleting), ("is my draft safe", .drafts), ("can I rename this", .rooms),
            ("are you a robot?", .removing), ("Where is my data?", .offline), ("a reminder", .notes),
            ("how do I mention somebody?", .completing), ("any commands?", .commands),
            ("can I reply to this?", .replying), ("How do I sign in to Matrix?", .accounts),
            ("do I need an account?", .accounts), ("where are my friends", .accounts), ("a homeserver?", .accounts),
            ("can I send a picture?", .files), ("pasting screenshots, attached", .files),
            ("how do I find a word?", .searching), ("is there a dark mode?", .shortcuts),
            ("which shortcuts are there", .shortcuts),
        ] as [(String, GuideTopic.ID)])
    func recognizesItsTopics(said: String, id: GuideTopic.ID) throws {
        let response = try #require(respond(to: said))
        #expect(response.text?.contains(try topic(id).reply) == true)
        #expect(response.isReply)
        #expect(response.reaction == nil)
    }

    @Test(arguments: ["a mushroom", "history", "I upped it", "mydraft"]) func matchesWholeWordsOnly(_ said: String) {
        let reply = respond(to: said)?.text ?? ""
        #expect(!guide.topics.contains { reply.contains($0.reply) })
        #expect(!reply.contains("Good to meet you"))
    }

    @Test func repliesToSeveralTopicsInOneMessage() throws {
        let reply = try #require(respond(to: "hello there", "how do I edit?", "and delete?")?.text)
        let parts = ["Hi! Good to meet you.", try topic(.editing).reply, try topic(.deleting).reply]
        #expect(reply == parts.joined(separator: "\n\n"))
    }

    @Test func helpListsEveryTopic() throws {
        let help = try #require(respond(to: "Help!")?.text)
        let items = help.split(separator: "\n").filter { $0.hasPrefix("- ") }
        #expect(items.map { String($0.dropFirst(2)) } == guide.topics.map(\.line))
    }

    @Test func greetingShowsThreeThingsToTryAndTheWayToOthers() {
        #expect(guide.greeting.count == 3)
        #expect(guide.greeting[0].hasPrefix("**Welcome to Parlance!**"))
        #expect(guide.greeting[Guide.imageIndex].split(separator: "\n").count { $0.hasPrefix("- ") } == 3)
        #expect(guide.greeting[2].contains("**Add Account…**"))
        #expect(guide.greeting[2].contains("Matrix"))
    }

    @Test func saysThatItCannotAnswerOtherQuestions() throws {
        let unknown = try #require(respond(to: "What is the meaning of life?  "))
        #expect(unknown.text?.hasPrefix("Sorry, I only know about Parlance.") == true)
        #expect(unknown.isReply)
    }

    @Test func reactsToThanksAndGoodbyes() {
        #expect(respond(to: "thank you") == Guide.Response(text: "You’re welcome!", reaction: "❤️"))
        #expect(respond(to: "bye")?.reaction == "👋")
        #expect(respond(to: "bye")?.text?.hasPrefix("See you!") == true)
    }

    @Test func onlyReactsAfterThreeSuggestions() throws {
        var memory = GuideMemory()
        let responses = (0..<5).map { _ in guide.respond(to: GuideOccasion(texts: ["hmm"]), &memory) }
        for (response, id) in zip(responses, [GuideTopic.ID.completing, .formatting, .replying]) {
            #expect(response?.text == "**Try this next:** " + (try topic(id).suggestion))
            #expect(response?.reaction == "👍")
        }
        #expect(responses[3...].allSatisfy { $0 == Guide.Response(reaction: "👍") })
        #expect(guide.respond(to: GuideOccasion(texts: ["a draft?"]), &memory)?.text == (try topic(.drafts).reply))
    }

    @Test func doesNotSuggestWhatWasTriedOrExplained() throws {
        var memory = GuideMemory()
        _ = guide.respond(to: GuideOccasion(texts: ["how do I mention somebody?"], tried: [.formatting]), &memory)
        let response = guide.respond(to: GuideOccasion(texts: ["hmm"]), &memory)
        #expect(response?.text?.contains(try topic(.replying).suggestion) == true)
    }

    @Test(arguments: [(SendKey.return, "`Return`", "`Shift+Return`"), (.ctrlReturn, "`Ctrl+Return`", "`Return`")])
    func namesTheKeysAsTheyAreSet(key: SendKey, send: String, newLine: String) throws {
        let guide = Guide(translator: .untranslated, keys: GuideKeys(key))
        let sending = try #require(guide.topics.first { $0.id == .sending })
        #expect(sending.line == "Press \(send) to send")
        let lines = try #require(guide.topics.first { $0.id == .lineBreaks })
        #expect(lines.reply == "Press \(newLine) for a new line, and \(send) to send the whole message.")
        for topic in guide.topics {
            #expect(!(topic.line + topic.reply + topic.suggestion).contains("{"), "\(topic.id)")
        }
    }

    @Test func keysAreNamedInTheLanguageOfTheUser() {
        let german = Translator(
            translate: { ["Return": "Eingabetaste"][$0] ?? $0 }, plural: { one, many, count in count == 1 ? one : many }
        )
        #expect(GuideKeys(.return, translator: german).send == "Eingabetaste")
        #expect(GuideKeys(.ctrlReturn, translator: german).newLine == "Eingabetaste")
    }

    @Test("What the guide writes is Markdown, without invisible characters in right-to-left languages either")
    func writesPlainTexts() throws {
        let guide = Guide(
            translator: Translator(
                translate: { $0 == "Press `{send}` to send" ? "اضغط `{send}` للإرسال" : $0 },
                plural: { one, _, _ in one }))
        #expect(try #require(guide.topics.first { $0.id == .sending }).line == "اضغط `Return` للإرسال")
    }

    @Test func remarksOnEachActionOnce() {
        var memory = GuideMemory()
        let edit = GuideOccasion(hasEdit: true)
        #expect(guide.respond(to: edit, &memory)?.text?.contains("You edited a message") == true)
        #expect(guide.respond(to: edit, &memory) == nil)
        let deletion = GuideOccasion(hasDeletion: true)
        #expect(guide.respond(to: deletion, &memory)?.text?.contains("You deleted a message") == true)
        #expect(guide.respond(to: deletion, &memory) == nil)
        let lines = GuideOccasion(texts: ["a\nb\nc"])
        #expect(guide.respond(to: lines, &memory)?.text?.hasPrefix("Nice, 3 lines in one message.") == true)
        #expect(guide.respond(to: lines, &memory)?.text?.contains("lines in one") == false)
        #expect(guide.respond(to: GuideOccasion(tried: [.rooms]), &memory) == nil)
        #expect(memory.done.contains(.rooms))
    }

    @Test func announcesNewTopicsOnce() throws {
        var memory = GuideMemory(introduced: guide.topics.map(\.id).filter { $0 != .notes })
        #expect(!memory.hasIntroducedAll)
        #expect(guide.news(&memory) == "New in this version:\n- " + (try topic(.notes).line))
        #expect(guide.news(&memory) == nil)
        #expect(memory.hasIntroducedAll)
    }

    @Test func memorySurvivesARoundTrip() throws {
        var memory = GuideMemory(introduced: [.sending, .notes])
        memory.finish(.drafts)
        memory.finish(.drafts)
        memory.answered = 7
        #expect(try GuideMemory(encoded: memory.encoded()) == memory)
        #expect(memory.done == [.drafts])
        #expect(GuideMemory(encoded: "{damaged") == GuideMemory())
        #expect(GuideMemory(encoded: nil) == GuideMemory())
    }

    @Test func readsTheMemoryOfEarlierVersions() {
        let memory = GuideMemory(encoded: #"{"done":["drafts"],"introduced":["sending","notes"],"replies":4}"#)
        #expect(memory.introduced == [.sending, .notes])
        #expect(memory.done == [.drafts])
        #expect(memory.answered == nil)
    }

    @Test func imageHasTheSizeOfItsHeader() throws {
        let header: [UInt8] = [
            137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 3, 112, 0, 0, 0, 240,
        ]
        let image = try #require(GuideImage(png: Data(header)))
        #expect(image.width == 880)
        #expect(image.height == 240)
        #expect(GuideImage(png: Data(header.dropLast())) == nil)
        #expect(GuideImage(png: Data([UInt8](repeating: 1, count: 30))) == nil)
    }

    @Test func topicIDsAreUnique() {
        #expect(Set(guide.topics.map(\.id)).count == guide.topics.count)
    }
}
