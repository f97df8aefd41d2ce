import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import ComposerSessions
import Foundation
import Testing

@MainActor @Suite("Files in a room's composer", .timeLimit(.minutes(10))) struct ComposerAttachmentTests {
    private let service = FakeChatService()
    private let outputs = Recorder<ComposerViewModel.Output>()

    private func makeComposer(_ media: FakeMediaService) async throws -> (ComposerViewModel, AttachmentQueue) {
        let composer = ComposerViewModel(
            roomID: RoomID("room"), service: service, media: media, time: Timekeeper(ManualClock()),
            onOutput: { [outputs] in outputs.record($0) })
        await composer.start()
        return (composer, try #require(composer.attachments))
    }

    private static func item(_ name: String, bytes: Int = 3, type: String = "image/png") -> AttachmentQueue.Item {
        AttachmentQueue.Item(content: .data(Data("abc".utf8)), name: name, type: type, bytes: bytes)
    }

    private func names(_ composer: ComposerViewModel) -> [String] { composer.state.composer.attachments.map(\.name) }

    @Test("MIB-36: excess files are rejected with a single message, and those that fit stay") func count() async throws
    {
        let (composer, queue) = try await makeComposer(FakeMediaService())
        queue.add((0..<14).map { Self.item("\($0)") })
        #expect(names(composer).count == ChatLimits.attachments)
        #expect(outputs.values == [.rejected(.attachmentCount(limit: ChatLimits.attachments))])
        queue.add([Self.item("big", bytes: ChatLimits.attachmentBytes + 1)])
        #expect(outputs.values.count == 2)
    }

    @Test("SLK-39: a copy interrupted by quitting is marked as failed and is not sent") func restoring()
        async throws
    {
        var engine = ComposerEngine()
        _ = engine.handle(
            .attach(
                Composer.Attachment(type: "image/png", name: "a", bytes: 1, source: "incoming:x", upload: .running(0.3))
            ),
            at: .zero)
        service.drafts[RoomID("room")] = SavedDraft(data: try engine.makeDraft().encoded(), preview: "")
        let (composer, queue) = try await makeComposer(FakeMediaService())
        let attachment = try #require(composer.state.composer.attachments.first)
        #expect(attachment.upload == .failed)
        #expect(!queue.canRetry(attachment))
        #expect(!composer.state.composer.canSend)
    }
}
