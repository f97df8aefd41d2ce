import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Testing

/// A text that pictures stand in goes out as messages in that order (MIB-20).
@MainActor @Suite(.timeLimit(.minutes(5))) struct PictureInTextTests {
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

    @Test func eachPieceIsAMessage() async {
        let harness = await Self.written()
        let files = Recorder<[String]>()
        harness.service.onSend = { files.record($0.attachments.map(\.name)) }
        harness.press("Return")
        await harness.composer.flushDraft()
        #expect(harness.sent == ["first", "", "last", ""])
        #expect(files.values == [[], ["b"], [], ["a"]])
        #expect(harness.text.isEmpty)
    }

    /// The draft goes with the last piece, so that a crash between them loses nothing.
    @Test func theDraftStaysUntilTheLastPieceIsStored() async {
        let harness = await Self.written()
        let drafts = Recorder<Bool>()
        harness.service.onSend = { drafts.record($0.keepsDraft) }
        harness.press("Return")
        await harness.composer.flushDraft()
        #expect(drafts.values == [true, true, true, false])
    }

    @Test func ofAMessageThatFailedHalfWayTheRestIsSentAgain() async {
        let harness = await Self.written()
        harness.fail(with: .diskFull) { if case .send("last", _) = $0 { true } else { false } }
        harness.press("Return")
        await eventually { harness.state.length > 0 }
        harness.succeed()
        harness.press("Return")
        await harness.composer.flushDraft()
        #expect(harness.sent == ["first", "", "last", "last", ""], "each piece was stored once")
        #expect(harness.text.isEmpty)
    }
}
