import ChatCore

/// Generates the built-in guide's messages from what the user wrote and did, and from its memory.
struct Guide: Sendable {
    let topics: [GuideTopic]
    private let translator: Translator

    init(translator: Translator) {
        self.translator = translator
        topics = GuideTopic.table(translator)
    }

    /// The messages sent at the first start.
    var greeting: [String] {
        [
            translator(
                "Welcome to Parlance! I’m the guide. Try anything here: this room stays on this computer."
            ),
            translator("Things to start with:") + "\n"
                + list(topics.filter { GuideTopic.ID.first.contains($0.id) }),
            translator("Ask about any of these, or type “help” to see the whole list."),
        ]
    }

    /// Announces topics added by an update of the application; returns `nil` if there are none.
    func news(_ memory: inout GuideMemory) -> String? {
        let new = topics.filter { !memory.introduced.contains($0.id) }
        guard !new.isEmpty else { return nil }
        memory.introduced += new.map(\.id)
        return translator("New in this version:") + "\n" + list(new)
    }

    /// Returns a single reply to everything that has happened, or `nil` if there is nothing to say.
    func reply(to occasion: GuideOccasion, _ memory: inout GuideMemory) -> String? {
        for topic in occasion.tried { memory.finish(topic) }
        var paragraphs = remarks(on: occasion, &memory)
        if !occasion.texts.isEmpty { paragraphs += replies(to: occasion.texts, &memory) }
        guard !paragraphs.isEmpty else { return nil }
        memory.replies += 1
        return paragraphs.joined(separator: "\n\n")
    }

    /// Comments on things that the user does for the first time.
    private func remarks(on occasion: GuideOccasion, _ memory: inout GuideMemory) -> [String] {
        var remarks: [String] = []
        if occasion.hasEdit, !memory.done.contains(.editing) {
            memory.finish(.editing)
            remarks.append(translator("You edited a message. It keeps its place and shows “Edited”."))
        }
        if occasion.hasDeletion, !memory.done.contains(.deleting) {
            memory.finish(.deleting)
            remarks.append(translator("You deleted a message. Its text is gone for good."))
        }
        let lines = occasion.texts.map { $0.split(separator: "\n").count }.max() ?? 0
        if lines > 1, !memory.done.contains(.lineBreaks) {
            memory.finish(.lineBreaks)
            remarks.append(
                translator.plural(
                    "That was {count} line in one message.", "Those were {count} lines in one message.", lines)
            )
        }
        return remarks
    }

    private func replies(to texts: [String], _ memory: inout GuideMemory) -> [String] {
        memory.finish(.sending)
        let matcher = KeywordMatcher(texts)
        var replies: [String] = []
        if matcher.contains(translator("hello, hi, hey, hallo, greetings, good morning, good evening")) {
            replies.append(translator("Hi! Good to meet you."))
        }
        if matcher.contains(translator("help, what can you do, what can i do, feature")) {
            return replies + [translator("You can ask about:") + "\n" + list(topics)]
        }
        let matching = topics.filter { matcher.contains($0.words) }.prefix(3)
        for topic in matching {
            memory.finish(topic.id)
            replies.append(topic.reply)
        }
        if !matching.isEmpty { return replies }
        if matcher.contains(translator("thanks, thank, thx, cheers")) {
            return replies + [translator("You’re welcome!")]
        }
        if matcher.contains(translator("bye, goodbye, see you")) {
            return replies + [translator("See you! Everything you wrote will be here when you come back.")]
        }
        if matcher.isQuestion {
            return replies + [
                translator("Sorry, I only know about Parlance. You can ask about:") + "\n"
                    + list(topics)
            ]
        }
        return replies.isEmpty
            ? [acknowledgement(memory.replies) + " " + invitation(&memory)] : replies + [invitation(&memory)]
    }

    private func acknowledgement(_ replyIndex: Int) -> String {
        let all = [
            translator("Got it."), translator("OK."), translator("Thanks!"), translator("Nice."),
        ]
        return all[replyIndex % all.count]
    }

    /// Suggests the first topic of the table that was neither tried nor explained yet.
    private func invitation(_ memory: inout GuideMemory) -> String {
        guard let topic = topics.first(where: { !memory.done.contains($0.id) }) else {
            return translator("That’s everything! Type “help” to see the list again, or remove me under Room Details.")
        }
        memory.finish(topic.id)
        return translator("Try this next: {invitation}", ["invitation": topic.invitation])
    }

    private func list(_ topics: [GuideTopic]) -> String {
        topics.map { "• " + $0.line }.joined(separator: "\n")
    }
}
