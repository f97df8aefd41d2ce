import ChatCore

/// Generates the built-in guide's messages from what the user wrote and did, and from its memory.
struct Guide: Sendable {
    /// What the guide does in response.
    struct Response: Equatable, Sendable {
        /// The Markdown of a message, or `nil` for none.
        var text: String?
        /// Whether the message replies to the user's last one.
        var isReply = false
        /// An emoji on the user's last message.
        var reaction: String?
    }

    /// The message of the greeting that shows an image.
    static let imageIndex = 1

    let topics: [GuideTopic]
    private let translator: Translator

    init(translator: Translator, keys: GuideKeys = GuideKeys()) {
        // The texts are Markdown, and stored.
        self.translator = translator.plain
        topics = GuideTopic.table(translator.plain, keys)
    }

    /// The messages sent at the first start.
    var greeting: [String] {
        [
            translator(
                "**Welcome to Parlance!** I’m the guide. Try anything here: this room stays on this computer."),
            translator("Three things to start with:") + "\n"
                + bullets([
                    translator("Type `@gu` and press `Tab` to mention me"),
                    translator("Select some text and press `Ctrl+B`"),
                    translator("Press `Up` to edit what you sent"),
                ]),
            translator(
                "To chat with others, choose **Add Account…** from the **+** menu above the rooms and sign in to Matrix. Or ask me about drafts, files, search, or commands."
            ),
        ]
    }

    /// Describes the image of the greeting to those who cannot see it.
    var imageDescription: String {
        translator("A message field with a mention, bold text, and code")
    }

    /// Announces topics added by an update of the application; returns `nil` if there are none.
    func news(_ memory: inout GuideMemory) -> String? {
        let new = topics.filter { !memory.introduced.contains($0.id) }
        guard !new.isEmpty else { return nil }
        memory.introduced += new.map(\.id)
        return translator("New in this version:") + "\n" + list(new)
    }

    /// Returns a single response to everything that has happened, or `nil` if there is nothing to do.
    func respond(to occasion: GuideOccasion, _ memory: inout GuideMemory) -> Response? {
        for topic in occasion.tried { memory.finish(topic) }
        let remarks = remarks(on: occasion, &memory)
        var response = occasion.texts.isEmpty ? Response() : response(to: occasion.texts, &memory)
        let paragraphs = remarks + [response.text].compactMap(\.self)
        response.text = paragraphs.isEmpty ? nil : paragraphs.joined(separator: "\n\n")
        guard response != Response() else { return nil }
        return response
    }

    /// Comments on things that the user does for the first time.
    private func remarks(on occasion: GuideOccasion, _ memory: inout GuideMemory) -> [String] {
        var remarks: [String] = []
        if occasion.hasEdit, !memory.done.contains(.editing) {
            memory.finish(.editing)
            remarks.append(translator("You edited a message. It keeps its place and is marked as edited."))
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
                    "Nice, {count} line in one message.", "Nice, {count} lines in one message.", lines)
            )
        }
        return remarks
    }

    private func response(to texts: [String], _ memory: inout GuideMemory) -> Response {
        memory.finish(.sending)
        let matcher = KeywordMatcher(texts)
        var replies: [String] = []
        if matcher.contains(translator("hello, hi, hey, hallo, greetings, good morning, good evening")) {
            replies.append(translator("Hi! Good to meet you."))
        }
        if matcher.contains(translator("help, what can you do, what can i do, feature")) {
            return Response(text: join(replies + [translator("You can ask about:") + "\n" + list(topics)]))
        }
        let matching = topics.filter { matcher.contains($0.words) }.prefix(3)
        for topic in matching {
            memory.finish(topic.id)
            replies.append(topic.reply)
        }
        if !matching.isEmpty { return Response(text: join(replies), isReply: true) }
        if matcher.contains(translator("thanks, thank, thx, cheers")) {
            return Response(text: join(replies + [translator("You’re welcome!")]), reaction: "❤️")
        }
        if matcher.contains(translator("bye, goodbye, see you")) {
            let goodbye = translator("See you! Everything you wrote will be here when you come back.")
            return Response(text: join(replies + [goodbye]), reaction: "👋")
        }
        if matcher.isQuestion {
            let answer = translator("Sorry, I only know about Parlance. You can ask about:") + "\n" + list(topics)
            return Response(text: join(replies + [answer]), isReply: true)
        }
        return Response(text: join(replies + [suggestion(&memory)].compactMap(\.self)), reaction: "👍")
    }

    /// Suggests what was neither tried nor explained yet, a few times in all.
    private func suggestion(_ memory: inout GuideMemory) -> String? {
        let next = GuideTopic.ID.suggested.first { !memory.done.contains($0) }
        guard let topic = topics.first(where: { $0.id == next }) else { return nil }
        memory.finish(topic.id)
        return translator("**Try this next:** {suggestion}", ["suggestion": topic.suggestion])
    }

    private func join(_ paragraphs: [String]) -> String? {
        paragraphs.isEmpty ? nil : paragraphs.joined(separator: "\n\n")
    }

    private func list(_ topics: [GuideTopic]) -> String { bullets(topics.map(\.line)) }

    private func bullets(_ lines: [String]) -> String { lines.map { "- " + $0 }.joined(separator: "\n") }
}
