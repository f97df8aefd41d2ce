import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatViewModels

@MainActor @Suite("Taking files in", .timeLimit(.minutes(5))) struct AttachmentIntakeTests {
    private let service = FakeChatService()

    private func makeComposer(_ media: FakeMediaService) async throws -> (ComposerViewModel, AttachmentQueue) {
        let composer = ComposerViewModel(
            roomID: RoomID("room"), service: service, media: media, time: Timekeeper(ManualClock()))
        await composer.start()
        return (composer, try #require(composer.attachments))
    }

    private static func item(_ name: String, bytes: Int = 3, type: String = "image/png") -> AttachmentQueue.Item {
        AttachmentQueue.Item(content: .data(Data("abc".utf8)), name: name, type: type, bytes: bytes)
    }

    private func names(_ composer: ComposerViewModel) -> [String] { composer.state.composer.attachments.map(\.name) }

    @Test("MIB-36: a file is shown at once, can be sent when it is kept, and knows its size in pixels")
    func taking() async throws {
        let gate = Gate()
        let (composer, intake) = try await makeComposer(
            FakeMediaService { _, progress in
                progress(0.5)
                await gate.pass()
            })
        intake.inspect = { _, _ in
            AttachmentQueue.Traits(size: (640, 480), duration: 7000, blurHash: "00TI:j", poster: Data([1]))
        }
        intake.add([Self.item("a.png")])
        #expect(names(composer) == ["a.png"])
        #expect(!composer.state.composer.canSend)
        await eventually { composer.state.composer.attachments.first?.upload == .running(0.5) }
        gate.open()
        await eventually { composer.state.composer.canSend }
        let attachment = try #require(composer.state.composer.attachments.first)
        #expect(attachment.source == "fake:a.png")
        #expect((attachment.width, attachment.height) == (640, 480))
        let sent = try #require(MediaReference(attachment))
        #expect(sent.duration == 7000 && sent.blurHash == "00TI:j" && sent.thumbnailURI == "fake:poster.jpg")
    }

    @Test("MIB-36: more than fit are refused with one word, and those that fit stay") func count() async throws {
        let (composer, intake) = try await makeComposer(FakeMediaService())
        var refusals: [ComposerRejection] = []
        composer.onOutput = { if case .rejected(let reason) = $0 { refusals.append(reason) } }
        intake.add((0..<14).map { Self.item("\($0)") })
        #expect(names(composer).count == ChatLimits.attachments)
        #expect(refusals == [.attachmentCount(limit: ChatLimits.attachments)])
        intake.add([Self.item("big", bytes: ChatLimits.attachmentBytes + 1)])
        #expect(refusals.count == 2)
    }

    @Test("MIB-36: a copy that fails says so, is not sent, and can be tried again") func failing() async throws {
        let fails = Recorder<Bool>()
        let (composer, intake) = try await makeComposer(
            FakeMediaService { _, _ in
                if await fails.values.isEmpty { throw ChatError.diskFull }
            })
        var errors: [ChatError] = []
        composer.onOutput = { if case .failed(let error) = $0 { errors.append(error) } }
        intake.add([Self.item("a")])
        await eventually { composer.state.composer.attachments.first?.upload == .failed }
        #expect(errors == [.diskFull])
        #expect(!composer.state.composer.canSend)
        let failed = try #require(composer.state.composer.attachments.first)
        #expect(intake.canRetry(failed))
        fails.record(false)
        intake.retry(0)
        await eventually { composer.state.composer.canSend }
    }

    @Test("MIB-37: what is removed while it is copied is gone, and its copy ends") func removing() async throws {
        let gate = Gate()
        let cancelled = Recorder<Bool>()
        let (composer, intake) = try await makeComposer(
            FakeMediaService { _, _ in
                await gate.pass()
                await cancelled.record(Task.isCancelled)
            })
        intake.add([Self.item("a"), Self.item("b")])
        intake.remove(0)
        #expect(names(composer) == ["b"])
        gate.open()
        await eventually { cancelled.values.count == 2 && composer.state.composer.canSend }
        #expect(cancelled.values.contains(true))
        #expect(names(composer) == ["b"])
    }

    @Test("MIB-36: a description stays when the copy ends, and order too") func describing() async throws {
        let gate = Gate()
        let (composer, intake) = try await makeComposer(FakeMediaService { _, _ in await gate.pass() })
        intake.add([Self.item("a"), Self.item("b")])
        intake.describe(0, as: "  A pier \n")
        composer.handle(.moveAttachment(from: 0, to: 1))
        gate.open()
        await eventually { composer.state.composer.canSend }
        #expect(names(composer) == ["b", "a"])
        #expect(composer.state.composer.attachments.map(\.altText) == [nil, "A pier"])
        intake.describe(1, as: " ")
        #expect(composer.state.composer.attachments.last?.altText == nil)
    }

    @Test("SLK-39: what was being copied when the program ended is marked, and does not go out") func restoring()
        async throws
    {
        var engine = ComposerEngine()
        _ = engine.handle(
            .attach(
                Composer.Attachment(type: "image/png", name: "a", bytes: 1, source: "incoming:x", upload: .running(0.3))
            ),
            at: .zero)
        service.drafts[RoomID("room")] = SavedDraft(data: try engine.makeDraft().encoded(), preview: "")
        let (composer, intake) = try await makeComposer(FakeMediaService())
        let attachment = try #require(composer.state.composer.attachments.first)
        #expect(attachment.upload == .failed)
        #expect(!intake.canRetry(attachment))
        #expect(!composer.state.composer.canSend)
    }
}

@MainActor @Suite("Emoji from a list", .timeLimit(.minutes(5))) struct ChosenEmojiTests {
    @Test("A chosen emoji goes to the caret and is offered first by completion") func choosing() async {
        let harness = await ComposerHarness.started()
        let library = EmojiLibrary(load: { throw ChatError.notFound })
        harness.composer.emoji = library
        harness.type("ab")
        harness.composer.handle(.select(.caret(1)))
        harness.composer.insertEmoji("🎉")
        #expect(harness.text == "a🎉b")
        #expect(library.recent == ["🎉"])
    }
}
