import ChatTestSupport
import Composer
import ComposerSessions
import Testing

// The code of ComposerGtk.docc/EmbeddingInTenMinutes.md that needs no widget. `make lint` compares each block with a
// snippet.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct SessionSnippets {
    @Test("A session stores drafts and saves edits")
    func sessionStoresAndSaves() async throws {
        let session = ComposerSession()
        let stored = Recorder<ComposerDraft>()
        func store(_ draft: ComposerDraft) { stored.record(draft) }
        let saved = Recorder<String>()
        func save(_ text: String, of id: String) async throws { saved.record("\(id) \(text)") }
        // snippet
        session.onEffect = { [weak session] effect in
            guard case .draftChanged = effect, let draft = session?.makeDraft() else { return }
            store(draft)
        }
        session.onEdit = { id, message in
            try await save(message.text.source, of: id)
        }
        // end snippet
        session.configuration.draftDelay = .zero
        session.handle(.insert("Hello", origin: .typed))
        await eventually { !stored.values.isEmpty }
        let draft = try #require(stored.values.first)
        #expect(draft.content.written.source == "Hello")
        session.handle(.clear)
        // snippet
        session.handle(.startEdit(id: "message-7", WrittenText("What I said")))
        // end snippet
        session.handle(.insert("!", origin: .typed))
        session.handle(.commitEdit)
        await eventually { !saved.values.isEmpty }
        #expect(saved.values == ["message-7 What I said!"])

        let other = ComposerSession()
        do {
            let session = other
            // snippet
            session.withEngine { engine, _ in engine.restore(draft) }
            // end snippet
        }
        #expect(other.document.text == "Hello")
    }

    @Test("Closures observe and veto")
    func closuresObserveAndVeto() {
        let session = ComposerSession()
        var words = 0
        // snippet
        session.intercept(as: "no digits") { change, _, _ in
            change.replacement.contains(where: \.isNumber) ? .deny : .allow
        }
        session.observe(
            as: "word count",
            textChanged: { [weak session] _ in
                words = session?.document.text.split(separator: " ").count ?? 0
            })
        // end snippet
        for text in ["one", "2", " two", " "] { session.handle(.insert(text, origin: .typed)) }
        #expect(session.document.text == "one two ")
        #expect(words == 2)
        session.handle(.select(TextRange(location: 0, length: 3)))
        // snippet
        session.transform { $0.uppercased() }
        // end snippet
        #expect(session.document.text == "ONE two ")
    }
}
