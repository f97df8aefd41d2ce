import ChatTestSupport
import Composer
import ComposerSessions
import Testing

// The code of ComposerGtk.docc/CompletionSources.md. `make lint` compares each block with a snippet.

// snippet
struct TicketSource: CompletionSource {
    let prefix = "#"
    let search: @Sendable (String) async throws -> [CompletionEntity]

    @MainActor func batches(for query: CompletionQuery) -> AsyncThrowingStream<[CompletionEntity], any Error> {
        AsyncThrowingStream { continuation in
            let task = Task.detached {
                do {
                    continuation.yield(try await search(query.text))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: CompletionFailure(reason: "The tracker does not answer"))
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
// end snippet

@MainActor
@Suite(.timeLimit(.minutes(10))) struct CompletionSourceSnippets {
    private struct Unreachable: Error {}

    private func type(_ text: String, into session: ComposerSession) {
        session.handle(.clear)
        session.handle(.focus(true))
        for letter in text { session.handle(.insert(String(letter), origin: .typed)) }
    }

    /// Waits until completion offers these names.
    private func offers(_ names: [String], in session: ComposerSession) async {
        await eventually { session.composer.completion?.items.map(\.name) == names }
        #expect(session.composer.completion?.isVisible == true)
    }

    @Test("A directory completes names from a list")
    func directoryCompletes() async {
        let session = ComposerSession()
        let team = ["ann": "Ann Lee", "bob": "Bob"]
        // snippet
        let people = CompletionDirectory {
            CompletionIndex(team.map { id, name in CompletionEntity(id: id, name: name, target: .member(id)) })
        }
        session.completionSources = [DirectorySource(prefix: "@", directory: people)]
        // end snippet
        type("@an", into: session)
        await offers(["Ann Lee"], in: session)
        // snippet
        people.set { CompletionIndex([CompletionEntity(id: "cid", name: "Cid", target: .member("cid"))]) }
        people.setRecent(["cid"])
        // end snippet
        type("@ci", into: session)
        await offers(["Cid"], in: session)
    }

    @Test("A custom source provides matches and reports why it fails")
    func ownSourceAnswers() async {
        let session = ComposerSession()
        let tracker = { @Sendable (text: String) async throws -> [CompletionEntity] in
            guard text != "down" else { throw Unreachable() }
            return [CompletionEntity(id: "7", name: text + "-7")]
        }
        // snippet
        session.completionSources = [TicketSource(search: tracker)]
        // end snippet
        type("#ui", into: session)
        await offers(["ui-7"], in: session)
        type("#down", into: session)
        await eventually { session.composer.completion?.failureReason == "The tracker does not answer" }
    }

    @Test("A session returns the entity that was accepted for a mention")
    func sessionReturnsTheEntity() async {
        let session = ComposerSession()
        session.completionSources = [
            TicketSource { _ in
                var ticket = CompletionEntity(id: "7", name: "ui-7", target: .custom("7"))
                ticket.metadata = ["url": "https://example.org/7"]
                return [ticket]
            }
        ]
        type("#ui", into: session)
        await offers(["ui-7"], in: session)
        session.handle(.acceptCompletion(0))
        var links: [String] = []
        // snippet
        for (_, target) in session.document.written.mentions {
            if let url = session.entity(of: target)?.metadata["url"] { links.append(url) }
        }
        // end snippet
        #expect(links == ["https://example.org/7"])
    }
}
