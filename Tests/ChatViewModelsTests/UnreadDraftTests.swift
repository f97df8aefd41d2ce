import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatViewModels

/// What was not read is not overwritten.
@MainActor @Suite("A draft that cannot be read", .timeLimit(.minutes(10)))
final class UnreadDraftTests: CoordinatorHarness {
    /// Returns a composer whose stored draft could not be read.
    private func unread() async -> ComposerHarness {
        let harness = ComposerHarness(draft: ComposerHarness.draft("unsent"))
        harness.fail(with: .storage(reason: "disk")) { $0.isReadDraft }
        await harness.composer.start()
        return harness
    }

    private func reads(_ harness: ComposerHarness) -> Int { harness.service.calls.count(where: \.isReadDraft) }

    @Test("It is read again after a delay, as often as it fails") func delays() async {
        let harness = await unread()
        harness.clock.advance(by: DraftReader.retryDelay)
        await eventually { self.reads(harness) == 2 }
        await waitUntilIdle()
        harness.succeed()
        harness.clock.advance(by: DraftReader.retryDelay)
        await eventually { self.reads(harness) == 3 }
        await waitUntilIdle()
        #expect(harness.text == "unsent" && !harness.state.canUndo)
        await harness.composer.flushDraft()
        #expect(harness.saves.isEmpty)
    }

    @Test("It is read again at once when the user types, and comes before what they typed") func typing() async {
        let harness = await unread()
        harness.type("n")
        await waitUntilIdle()
        #expect(harness.text == "n" && reads(harness) == 2)
        harness.succeed()
        harness.type("e")
        await eventually { self.reads(harness) == 3 }
        await waitUntilIdle()
        #expect(harness.text == "unsent\nne")
        harness.type("w")
        #expect(harness.text == "unsent\nnew")
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == "unsent\nnew")
        #expect(harness.saves.allSatisfy { $0?.hasPrefix("unsent") == true })
    }

    @Test("A message is not sent in its place: it returns to the composer, and is sent once the draft is read")
    func sending() async {
        let harness = await unread()
        harness.type("hi")
        harness.press("Return")
        await eventually { harness.outputs.values.count == 2 }
        await waitUntilIdle()
        #expect(harness.text == "hi" && harness.sent.isEmpty && harness.stored?.preview == "unsent")
        harness.succeed()
        harness.press("Return")
        await eventually { harness.sent == ["hi"] && !harness.state.isSending }
        #expect(harness.text == "unsent")
        await harness.composer.flushDraft()
        #expect(harness.stored?.preview == "unsent")
    }

    @Test("An inline reply joins it rather than replacing it, and it is read again when the room is opened again")
    func replying() async {
        service.drafts[a] = ComposerHarness.draft("unsent")
        service.before = { if $0.isReadDraft { throw ChatError.storage(reason: "disk") } }
        let conversation = await start()
        #expect(await coordinator.addToDraft("At three", of: a) == false)
        #expect(conversation.composer.document.text == "At three" && service.drafts[a]?.preview == "unsent")
        await open(b)
        await waitUntilIdle()
        service.before = { _ in }
        let again = await open(a)
        await eventually { again.composer.document.text == "unsent\nAt three" }
        await eventually { [service, a] in service.drafts[a]?.preview == "unsent\nAt three" }
    }
}
