import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Testing

/// MIB-20: text with inline images is sent as separate messages in order.
@MainActor @Suite(.timeLimit(.minutes(10))) struct InlineImageTests {
    private static func written() async -> ComposerHarness {
        let harness = await ComposerHarness.started()
        for name in ["a", "b"] {
            let file = Attachment(type: "image/png", name: name, bytes: 1, source: "media:\(name)")
            harness.composer.handle(.attach(file))
        }
        harness.type("first")
        harness.composer.handle(.placeInText(1))
        harness.type("last")
        return harness
    }

    @Test func eachSegmentIsSentAsAMessage() async {
        let harness = await Self.written()
        let files = Recorder<[String]>()
        harness.service.onSend = { files.record($0.files.map(\.name)) }
        harness.press("Return")
        await harness.composer.flushDraft()
        #expect(harness.sent == ["first", "", "last", ""])
        #expect(files.values == [[], ["b"], [], ["a"]])
        #expect(harness.text.isEmpty)
    }

    /// Storing is atomic: after a failure the whole sequence is sent again.
    @Test func failedSequenceIsSentAgain() async {
        let harness = await Self.written()
        let drafts = Recorder<Bool>()
        harness.service.onSend = { drafts.record($0.removesDraft) }
        harness.fail(with: .diskFull) { if case .send = $0 { true } else { false } }
        harness.press("Return")
        await eventually { harness.state.length > 0 }
        harness.succeed()
        harness.press("Return")
        await harness.composer.flushDraft()
        #expect(harness.sent.suffix(4) == ["first", "", "last", ""])
        #expect(drafts.values.allSatisfy { $0 }, "the draft goes with them")
        #expect(harness.text.isEmpty)
    }
}
