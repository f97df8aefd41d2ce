import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import Foundation
import Testing

/// A composer over a fake service and a manual clock.
@MainActor final class ComposerHarness {
    static let room = RoomID("room")

    let service = FakeChatService()
    let clock = ManualClock()
    let outputs = Recorder<ComposerViewModel.Output>()
    let effects = Recorder<ComposerEffect>()
    /// Called for each output, once it is recorded.
    let outputHandlers = Recorder<(ComposerViewModel.Output) -> Void>()
    let composer: ComposerViewModel

    /// - Parameters:
    ///   - draft: the room's stored draft.
    ///   - onCommand: executes commands; without it, a leading slash has no meaning.
    init(
        draft: SavedDraft? = nil, emoji: EmojiLibrary? = nil, onCommand: ((ChatCommand) async throws -> Void)? = nil
    ) {
        let numbers = Recorder<Int>()
        service.drafts[Self.room] = draft
        composer = ComposerViewModel(
            roomID: Self.room, service: service, time: Timekeeper(clock),
            commands: onCommand.map { _ in
                CommandRegistry(capabilities: [.topic, .invite], translator: .untranslated)
            },
            emoji: emoji,
            makeTransactionID: {
                numbers.record(numbers.values.count)
                return TransactionID("t\(numbers.values.count)")
            },
            onCommand: onCommand ?? { _ in },
            onOutput: { [outputs, outputHandlers] output in
                outputs.record(output)
                outputHandlers.values.forEach { $0(output) }
            })
        composer.subscribe { [effects] in effects.record($0) }
    }

    /// Returns a composer that has loaded its draft.
    static func started(
        draft: SavedDraft? = nil, emoji: EmojiLibrary? = nil, onCommand: ((ChatCommand) async throws -> Void)? = nil
    ) async -> ComposerHarness {
        let harness = ComposerHarness(draft: draft, emoji: emoji, onCommand: onCommand)
        await harness.composer.start()
        return harness
    }

    var state: ComposerState { composer.state.composer }
    var text: String { composer.document.text }
    /// The previews of the saved drafts, in order; `nil` for a removal.
    var saves: [String?] {
        service.calls.compactMap { if case .saveDraft(let preview) = $0 { .some(preview) } else { nil } }
    }
    var sent: [String] {
        service.calls.compactMap { if case .send(let text, _) = $0 { text } else { nil } }
    }
    var stored: SavedDraft? { service.drafts[Self.room] }

    /// Inserts one character at a time, as typing does.
    func type(_ text: String) {
        for character in text { composer.handle(.insert(String(character), origin: .typed)) }
    }

    @discardableResult
    func press(_ chord: String) -> Bool { composer.handle(.key(KeyChord(parsing: chord)!)) }

    /// Advances the clock until the draft is due, and waits for the save.
    func waitForDraftSave() async {
        let count = saves.count
        clock.advance(by: .milliseconds(300))
        await eventually { [self] in saves.count > count }
        await waitUntilIdle()
    }

    /// Suspends every matching call until the gate opens.
    func suspend(_ isSuspended: @escaping (FakeChatService.Call) -> Bool) -> Gate {
        let gate = Gate()
        service.before = { if isSuspended($0) { await gate.pass() } }
        return gate
    }

    func fail(with error: ChatError, _ isFailing: @escaping (FakeChatService.Call) -> Bool) {
        service.before = { if isFailing($0) { throw error } }
    }

    func succeed() { service.before = { _ in } }

    /// Returns a stored draft with this text.
    static func draft(_ text: String, caret: Int? = nil, editing: String? = nil, stash: String? = nil) -> SavedDraft {
        var engine = ComposerEngine()
        if let stash { _ = engine.handle(.load(WrittenText(stash)), at: .zero) }
        let selection = caret.map { TextRange.caret($0) }
        if let editing {
            _ = engine.handle(.startEdit(id: editing, WrittenText(text), selection: selection), at: .zero)
        } else {
            _ = engine.handle(.load(WrittenText(text), selection: selection), at: .zero)
        }
        return SavedDraft(data: try! engine.makeDraft().encoded(), preview: text)
    }
}

extension FakeChatService.Call {
    var isSend: Bool { if case .send = self { true } else { false } }
    var isEdit: Bool { if case .edit = self { true } else { false } }
    var isSaveDraft: Bool { if case .saveDraft = self { true } else { false } }
    var isReadDraft: Bool { if case .draft = self { true } else { false } }
    var isTyping: Bool { if case .typing = self { true } else { false } }
}
