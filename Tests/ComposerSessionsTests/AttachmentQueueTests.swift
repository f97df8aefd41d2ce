import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ComposerSessions

@MainActor @Suite("Adding files", .timeLimit(.minutes(10))) struct AttachmentQueueTests {
    private static let maxCount = 10
    private static let maxBytes = 1_000

    private func makeSession(_ media: FakeMediaService) throws -> (ComposerSession, AttachmentQueue) {
        let session = ComposerSession(media: media, time: Timekeeper(ManualClock()))
        session.configuration.attachments = AttachmentLimits(count: Self.maxCount, bytes: Self.maxBytes)
        return (session, try #require(session.attachments))
    }

    private static func item(_ name: String, bytes: Int = 3, type: String = "image/png") -> AttachmentQueue.Item {
        AttachmentQueue.Item(content: .data(Data("abc".utf8)), name: name, type: type, bytes: bytes)
    }

    private func names(_ session: ComposerSession) -> [String] { session.composer.attachments.map(\.name) }

    @Test("MIB-36: a file is shown immediately, can be sent once it is stored, and has its size in pixels")
    func addedFileIsUploaded() async throws {
        let gate = Gate()
        let (session, queue) = try makeSession(
            FakeMediaService { _, progress in
                progress(0.5)
                await gate.pass()
            })
        queue.inspect = { _, _ in
            MediaInfo(size: (640, 480), duration: 7000, blurHash: "00TI:j", poster: Data([1]))
        }
        queue.add([Self.item("a.png")])
        #expect(names(session) == ["a.png"])
        #expect(!session.composer.canSend)
        await eventually { session.composer.attachments.first?.upload == .running(0.5) }
        gate.open()
        await eventually { session.composer.canSend }
        let attachment = try #require(session.composer.attachments.first)
        #expect(attachment.source == "fake:a.png")
        #expect((attachment.width, attachment.height) == (640, 480))
        let sent = try #require(MediaReference(attachment))
        #expect(sent.duration == 7000 && sent.blurHash == "00TI:j" && sent.thumbnailURI == "fake:poster.jpg")
    }

    @Test("MIB-36: excess files are rejected with one message, and the others are added") func excessFilesAreRejected()
        throws
    {
        let (session, queue) = try makeSession(FakeMediaService())
        var rejections: [ComposerRejection] = []
        session.onEffect = { if case .rejected(let reason) = $0 { rejections.append(reason) } }
        queue.add((0..<14).map { Self.item("\($0)") })
        #expect(names(session).count == Self.maxCount)
        #expect(rejections == [.attachmentCount(limit: Self.maxCount)])
        queue.add([Self.item("big", bytes: Self.maxBytes + 1)])
        #expect(rejections.count == 2)
    }

    @Test("MIB-36: a failed copy is shown, is not sent, and can be retried") func failedCopyCanBeRetried() async throws
    {
        let fails = Recorder<Bool>()
        let (session, queue) = try makeSession(
            FakeMediaService { _, _ in
                if await fails.values.isEmpty { throw ChatError.diskFull }
            })
        var errors: [ChatError] = []
        session.onFailure = { errors.append($0) }
        queue.add([Self.item("a")])
        await eventually { session.composer.attachments.first?.upload == .failed }
        #expect(errors == [.diskFull])
        #expect(!session.composer.canSend)
        let failed = try #require(session.composer.attachments.first)
        #expect(queue.canRetry(failed))
        fails.record(false)
        queue.retry(0)
        await eventually { session.composer.canSend }
    }

    @Test("MIB-37: removing a file while it is copied cancels its copy") func removalCancelsTheCopy() async throws {
        let gate = Gate()
        let cancelled = Recorder<Bool>()
        let (session, queue) = try makeSession(
            FakeMediaService { _, _ in
                await gate.pass()
                await cancelled.record(Task.isCancelled)
            })
        queue.add([Self.item("a"), Self.item("b")])
        queue.remove(0)
        #expect(names(session) == ["b"])
        gate.open()
        await eventually { cancelled.values.count == 2 && session.composer.canSend }
        #expect(cancelled.values.contains(true))
        #expect(names(session) == ["b"])
    }

    @Test("MIB-36: descriptions and order are kept when a copy completes") func descriptionSurvivesTheCopy()
        async throws
    {
        let gate = Gate()
        let (session, queue) = try makeSession(FakeMediaService { _, _ in await gate.pass() })
        queue.add([Self.item("a"), Self.item("b")])
        queue.describe(0, as: "  A pier \n")
        session.handle(.moveAttachment(from: 0, to: 1))
        gate.open()
        await eventually { session.composer.canSend }
        #expect(names(session) == ["b", "a"])
        #expect(session.composer.attachments.map(\.altText) == [nil, "A pier"])
        queue.describe(1, as: " ")
        #expect(session.composer.attachments.last?.altText == nil)
    }

    @Test("MIB-36: a file that is added twice has two descriptions, although both copies have the same source")
    func equalFilesAreDescribedSeparately() async throws {
        let (session, queue) = try makeSession(FakeMediaService())
        queue.add([Self.item("a.png"), Self.item("a.png")])
        await eventually { session.composer.canSend }
        #expect(session.composer.attachments.map(\.source) == ["fake:a.png", "fake:a.png"])
        queue.describe(0, as: "A pier")
        queue.describe(1, as: "Map")
        #expect(session.composer.attachments.map(\.altText) == ["A pier", "Map"])
        queue.remove(0)
        #expect(session.composer.attachments.map(\.altText) == ["Map"])
    }

    @Test("SLK-39: a copy interrupted by the end of the program is marked and not sent")
    func interruptedCopyIsMarkedFailed()
        throws
    {
        var engine = ComposerEngine()
        _ = engine.handle(
            .attach(
                Composer.Attachment(type: "image/png", name: "a", bytes: 1, source: "incoming:x", upload: .running(0.3))
            ),
            at: .zero)
        let (session, queue) = try makeSession(FakeMediaService())
        session.waitForDraft()
        session.restore(encoded: try engine.makeDraft().encoded()) { _, _ in nil }
        session.becomeReady()
        let attachment = try #require(session.composer.attachments.first)
        #expect(attachment.upload == .failed)
        #expect(!queue.canRetry(attachment))
        #expect(!session.composer.canSend)
    }

    @Test("SLK-39: an interrupted copy that is set aside during an edit is marked as well")
    func interruptedCopyDuringAnEdit() throws {
        var engine = ComposerEngine()
        let copied = Composer.Attachment(
            type: "image/png", name: "a", bytes: 1, source: "incoming:x", upload: .running(0.3))
        _ = engine.handle(.attach(copied), at: .zero)
        _ = engine.handle(.startEdit(id: "m", WrittenText("old")), at: .zero)
        let (session, queue) = try makeSession(FakeMediaService())
        session.waitForDraft()
        session.restore(encoded: try engine.makeDraft().encoded()) { _, _ in nil }
        session.becomeReady()
        session.handle(.cancelEdit)
        #expect(session.composer.attachments.map(\.upload) == [.failed])
        queue.remove(0)
        session.handle(.insert("new", origin: .typed))
        #expect(session.composer.canSend)
    }

    @Test("MIB-36: a file that is added before the draft is loaded joins the draft") func joiningTheDraft() async throws
    {
        let (session, queue) = try makeSession(FakeMediaService())
        session.waitForDraft()
        queue.add([Self.item("a")])
        #expect(names(session).isEmpty)
        var engine = ComposerEngine()
        _ = engine.handle(.insert("draft", origin: .typed), at: .zero)
        session.restore(encoded: try engine.makeDraft().encoded()) { _, _ in nil }
        session.becomeReady()
        #expect(names(session) == ["a"] && session.document.text == "draft")
        await eventually { session.composer.canSend }
    }

    @Test("MIB-36: a file whose copy ends before the draft is loaded joins the draft as copied, or as failed")
    func joiningTheDraftAfterTheCopy() async throws {
        let (session, queue) = try makeSession(
            FakeMediaService { name, _ in
                if name == "bad" { throw ChatError.diskFull }
            })
        let errors = Recorder<ChatError>()
        session.onFailure = { errors.record($0) }
        session.waitForDraft()
        queue.add([Self.item("good"), Self.item("bad")])
        await eventually { errors.values == [.diskFull] }
        await waitUntilIdle()
        var engine = ComposerEngine()
        _ = engine.handle(.insert("draft", origin: .typed), at: .zero)
        session.restore(encoded: try engine.makeDraft().encoded()) { _, _ in nil }
        session.becomeReady()
        try #require(names(session) == ["good", "bad"] && session.document.text == "draft")
        let (good, bad) = (session.composer.attachments[0], session.composer.attachments[1])
        #expect(good.upload == .ready && good.source == "fake:good" && good.bytes == 7)
        #expect(bad.upload == .failed && queue.canRetry(bad))
        queue.remove(1)
        #expect(session.composer.canSend)
    }
}
