import ChatCore
import Testing

@testable import LocalBackend

@Suite struct GuideTests {
    let guide = Guide(translator: .untranslated)

    private func topic(_ id: GuideTopic.ID) throws -> GuideTopic {
        try #require(guide.topics.first { $0.id == id })
    }

    private func answer(to texts: String..., memory: GuideMemory = GuideMemory()) -> String? {
        var memory = memory
        return guide.reply(to: GuideOccasion(texts: texts), &memory)
    }

    @Test(
        arguments: [
            ("Which key sends a message?", .sending), ("how do I get a NEWLINE?", .lineBreaks),
            ("does shift do anything", .lineBreaks), ("what about long texts", .growing),
            ("the arrow keys?", .editingLast), ("I made a typo", .editing), ("can I edit?", .editing),
            ("deleting things", .deleting), ("is my draft safe", .drafts), ("can I rename this", .rooms),
            ("are you a robot?", .removing), ("Where is my data?", .offline), ("a reminder", .notes),
            ("how do I mention somebody?", .completing), ("any commands?", .commands),
            ("can I reply to this?", .replying),
        ] as [(String, GuideTopic.ID)])
    func recognizesItsTopics(said: String, id: GuideTopic.ID) throws {
        #expect(answer(to: said)?.contains(try topic(id).reply) == true)
    }

    @Test(arguments: ["a mushroom", "history", "I upped it", "mydraft"]) func matchesWholeWordsOnly(_ said: String) {
        let reply = answer(to: said) ?? ""
        #expect(!guide.topics.contains { reply.contains($0.reply) })
        #expect(!reply.contains("Good to meet you"))
    }

    @Test func repliesToSeveralTopicsInOneMessage() throws {
        let reply = try #require(answer(to: "hello there", "how do I edit?", "and delete?"))
        let parts = ["Hi! Good to meet you.", try topic(.editing).reply, try topic(.deleting).reply]
        #expect(reply == parts.joined(separator: "\n\n"))
    }

    @Test func helpListsEveryTopic() throws {
        let reply = try #require(answer(to: "Help!"))
        for topic in guide.topics { #expect(reply.contains(topic.line)) }
        #expect(guide.greeting.joined().contains(guide.topics[0].line))
    }

    @Test func saysThatItCannotAnswerOtherQuestions() throws {
        #expect(
            try #require(answer(to: "What is the meaning of life?  ")).hasPrefix("Sorry, I only know about Parlance."))
        #expect(answer(to: "thank you") == "You’re welcome!")
        #expect(answer(to: "bye")?.hasPrefix("See you!") == true)
    }

    @Test func suggestsEachTopicOnceThenSaysSo() {
        var memory = GuideMemory()
        var replies: [String] = []
        for _ in 0...guide.topics.count {
            replies.append(guide.reply(to: GuideOccasion(texts: ["hmm"]), &memory) ?? "")
        }
        for topic in guide.topics where topic.id != .sending {
            #expect(replies.filter { $0.contains(topic.invitation) }.count == 1, "\(topic.id)")
        }
        #expect(replies.last?.contains("That’s everything!") == true)
        #expect(Set(replies.map { $0.prefix { !".!".contains($0) } }).count > 2)
    }

    @Test func remarksOnEachActionOnce() {
        var memory = GuideMemory()
        let edit = GuideOccasion(hasEdit: true)
        #expect(guide.reply(to: edit, &memory)?.contains("You edited a message") == true)
        #expect(guide.reply(to: edit, &memory) == nil)
        let deletion = GuideOccasion(hasDeletion: true)
        #expect(guide.reply(to: deletion, &memory)?.contains("You deleted a message") == true)
        #expect(guide.reply(to: deletion, &memory) == nil)
        let lines = GuideOccasion(texts: ["a\nb\nc"])
        #expect(guide.reply(to: lines, &memory)?.hasPrefix("Those were 3 lines in one message.") == true)
        #expect(guide.reply(to: lines, &memory)?.contains("lines in one") == false)
        #expect(guide.reply(to: GuideOccasion(tried: [.rooms]), &memory) == nil)
        #expect(memory.done.contains(.rooms))
    }

    @Test func announcesNewTopicsOnce() throws {
        var memory = GuideMemory(introduced: guide.topics.map(\.id).filter { $0 != .notes })
        #expect(guide.news(&memory) == "New in this version:\n• " + (try topic(.notes).line))
        #expect(guide.news(&memory) == nil)
    }

    @Test func memorySurvivesARoundTrip() throws {
        var memory = GuideMemory(introduced: [.sending, .notes])
        memory.finish(.drafts)
        memory.finish(.drafts)
        memory.replies = 3
        #expect(try GuideMemory(encoded: memory.encoded()) == memory)
        #expect(memory.done == [.drafts])
        #expect(GuideMemory(encoded: "{damaged") == GuideMemory())
        #expect(GuideMemory(encoded: nil) == GuideMemory())
    }

    @Test func topicIDsAreUnique() {
        #expect(Set(guide.topics.map(\.id)).count == guide.topics.count)
    }
}
