import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Testing

/// The texts of a composer's buttons and bars, also for assistive technology.
@MainActor @Suite(.timeLimit(.minutes(10))) struct ComposerTextTests {
    private let text = ComposerText(.untranslated)

    // MARK: Buttons and bars

    @Test("A button's label is its current function")
    func buttons() {
        #expect(text.sendButton(isCanceling: false) == "Send" && text.sendButton(isCanceling: true) == "Stop Sending")
        let session = ComposerSession()
        #expect(text.expandButton(session.composer) == "Expand Message Field")
        session.handle(.expand(true))
        #expect(text.expandButton(session.composer) == "Collapse Message Field")
        #expect(text.tooltip("Expand", KeyChord("E", [.control, .shift])) == "Expand — Ctrl+Shift+E")
    }

    @Test("Expanding is offered above two and a half lines, collapsing always")
    func expanding() {
        let session = ComposerSession()
        #expect(!session.composer.offersExpanding(visibleLines: 2.5))
        #expect(session.composer.offersExpanding(visibleLines: 2.6))
        session.handle(.expand(true))
        #expect(session.composer.offersExpanding(visibleLines: 1))
    }

    @Test("A reply shows the first line of its message, or why it is missing")
    func replies() {
        var reply = ReplyTarget(messageID: "m", sender: "Ann")
        #expect(text.title(reply) == "Replying to Ann" && text.quote(reply).source == "Loading…")
        reply.preview = .gone
        #expect(text.quote(reply).source == "Message not available")
        reply.preview = .text("one\ntwo")
        #expect(text.quote(reply).source == "one")
        reply.preview = .text(String(repeating: "x", count: 300))
        #expect(text.quote(reply).source.count == 200)
    }

    // MARK: Counter

    @Test("SLK-14: the counter's number is explained, and a measured size is told in words")
    func counter() throws {
        var configuration = ComposerConfiguration()
        configuration.characterLimit = 4
        let limited = ComposerSession(configuration: configuration)
        func shown(_ session: ComposerSession) throws -> [String?] {
            let counter = try #require(session.composer.counter)
            return [text.counter(counter), text.counterDescription(counter)]
        }
        limited.handle(.insert("abc", origin: .typed))
        #expect(try shown(limited) == ["1", "1 character left"])
        limited.handle(.insert("def", origin: .typed))
        #expect(try shown(limited) == ["-2", "2 characters over the limit"])
        let measured = ComposerSession()
        measured.handle(.insert("abc", origin: .typed))
        measured.handle(.measured(MeasuredSize(excess: -2, bytes: 3)))
        #expect(try shown(measured) == ["Almost too long", nil])
        measured.handle(.insert("👍", origin: .typed))
        #expect(try shown(measured) == ["Too long", nil])
    }

    // MARK: Announcements

    @Test("SLK-14, SLK-65: an excess in bytes is not announced as one of characters")
    func bytesAreNotAnnouncedAsCharacters() {
        let session = ComposerSession()
        session.handle(.insert("abc", origin: .typed))
        session.handle(.measured(MeasuredSize(excess: -2, bytes: 3)))
        let before = session.composer
        session.handle(.insert("👍", origin: .typed))
        #expect(session.composer.counter?.excess == 2 && session.composer.counter?.unit == .utf8)
        #expect(text.announcement(session.composer, after: before) == "Message too long")
        #expect(text.announcement(before, after: session.composer) == "Message within the limit")
        var configuration = ComposerConfiguration()
        (configuration.characterLimit, configuration.countUnit) = (3, .utf8)
        let limited = ComposerSession(configuration: configuration)
        limited.handle(.insert("👍", origin: .typed))
        #expect(text.announcement(limited.composer, after: nil) == "Message too long")
    }

    @Test("The start and end of editing are announced, and the length only when it crosses the limit")
    func announcements() {
        var configuration = ComposerConfiguration()
        configuration.characterLimit = 4
        let session = ComposerSession(configuration: configuration)
        var announced: ComposerState?
        func next() -> String? {
            defer { announced = session.composer }
            return text.announcement(session.composer, after: announced)
        }
        #expect(next() == nil, "a new composer has nothing to say")
        session.handle(.startEdit(id: "m", WrittenText("old")))
        #expect(next() == "Editing Message" && next() == nil)
        session.handle(.cancelEdit)
        #expect(next() == "Stopped editing")
        session.handle(.insert("12345", origin: .typed))
        #expect(next() == "1 character over the limit")
        session.handle(.insert("6", origin: .typed))
        #expect(next() == nil, "it is over the limit still")
        session.handle(.clear)
        #expect(next() == "Message within the limit")
    }

    // MARK: Suggestions

    /// Opens the suggestions of a source, and waits until they are loaded or have failed.
    private func suggestions(_ load: @escaping @Sendable () throws -> [CompletionEntity]) async -> ComposerSession {
        let directory = CompletionDirectory { CompletionIndex(try load()) }
        let session = ComposerSession(
            configuration: .preset(.parlance),
            completionSources: [DirectorySource(prefix: "@", directory: directory)])
        session.handle(.insert("@", origin: .typed))
        await eventually { session.composer.completion.map { $0.hasFailed || !$0.items.isEmpty } ?? false }
        return session
    }

    @Test("The selected suggestion is announced with its position, or else the number of suggestions")
    func suggestionsAreCounted() async throws {
        let text = CompletionText(.untranslated)
        let session = await suggestions {
            [CompletionEntity(id: "1", name: "Ann", detail: "@ann:x"), CompletionEntity(id: "2", name: "Anna")]
        }
        session.handle(.selectCompletion(0))
        var completion = try #require(session.composer.completion)
        #expect(text.announcement(completion) == "Ann, @ann:x, 1 of 2")
        completion.selected = 1
        #expect(text.announcement(completion) == "Anna, 2 of 2")
        completion.selected = nil
        #expect(text.announcement(completion) == "2 suggestions")
        completion.items = []
        #expect(text.announcement(completion) == "Loading…" && text.status(completion) == "Loading…")
    }

    @Test("A failure is shown and announced with its source's reason, if any")
    func failures() async throws {
        let text = CompletionText(.untranslated)
        let session = await suggestions { throw CompletionFailure(reason: "No network") }
        var completion = try #require(session.composer.completion)
        #expect(text.status(completion) == "No network" && text.announcement(completion) == "No network")
        completion.failureReason = nil
        #expect(text.status(completion) == "Could not load suggestions")
    }
}
