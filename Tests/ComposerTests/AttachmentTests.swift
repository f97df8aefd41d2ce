import Composer
import Testing

@Suite("Attachments") struct AttachmentTests {
    private static let limits = AttachmentLimits()

    private static func file(_ name: String, source: String? = nil, upload: Composer.Attachment.Upload = .ready)
        -> Composer.Attachment
    {
        Composer.Attachment(type: "image/png", name: name, bytes: 10, source: source ?? "s:\(name)", upload: upload)
    }

    private static func engine(with names: [String]) -> ComposerEngine {
        var engine = ComposerEngine()
        for name in names { _ = engine.handle(.attach(file(name)), at: .zero) }
        return engine
    }

    @Test(
        "MIB-36: attachments can be reordered",
        arguments: [
            (0, 2, ["b", "c", "a"]), (2, 0, ["c", "a", "b"]), (1, 2, ["a", "c", "b"]), (1, 1, ["a", "b", "c"]),
            (0, 3, ["a", "b", "c"]), (-1, 0, ["a", "b", "c"]),
        ])
    func attachmentsCanBeReordered(from: Int, to: Int, expected: [String]) {
        var engine = Self.engine(with: ["a", "b", "c"])
        _ = engine.handle(.moveAttachment(from: from, to: to), at: .zero)
        #expect(engine.state.attachments.map(\.name) == expected)
    }

    @Test("MIB-39: each change of the tray is reported once; no-ops are not reported")
    func changesAreReportedOnce() {
        let events: [(ComposerEvent, Int, [String])] = [
            (.attach(Self.file("a")), 1, ["a"]), (.attach(Self.file("b")), 1, ["a", "b"]), (.detach(5), 0, ["a", "b"]),
            (.moveAttachment(from: 0, to: 1), 1, ["b", "a"]), (.upload(0, .failed), 1, ["b", "a"]),
            (.detach(0), 1, ["a"]), (.updateAttachment(source: "s:a", Self.file("a")), 0, ["a"]),
        ]
        var engine = ComposerEngine()
        for (event, count, names) in events {
            let told = engine.handle(event, at: .zero).filter { $0 == .observed(.attachmentsChanged) }
            #expect(told.count == count, "\(event)")
            #expect(engine.state.attachments.map(\.name) == names)
        }
    }

    @Test("Files are held as long as the message, a failure, undo or redo can bring them back")
    func filesAreHeldForUndo() {
        var engine = Self.engine(with: ["a"])
        _ = engine.handle(.send, at: .zero)
        #expect(engine.state.attachments.isEmpty && engine.fileSources == ["s:a"], "it may fail, or be undone")
        _ = engine.handle(.sendAccepted("send-1"), at: .zero)
        #expect(engine.fileSources == ["s:a"])
        _ = engine.handle(.startEdit(id: "m", WrittenText("sent")), at: .zero)
        #expect(engine.fileSources == ["s:a"], "it is in the history of the message that waits")
        _ = engine.handle(.cancelEdit, at: .zero)
        _ = engine.handle(.undo, at: .zero)
        #expect(engine.state.attachments.map(\.name) == ["a"] && engine.fileSources == ["s:a"])
        _ = engine.handle(.redo, at: .zero)
        #expect(engine.state.attachments.isEmpty && engine.fileSources == ["s:a"])
        var poster = Self.file("b")
        poster.thumbnail = "s:poster"
        _ = engine.handle(.attach(poster), at: .zero)
        #expect(engine.fileSources == ["s:a", "s:b", "s:poster"])
        _ = engine.handle(.detach(0), at: .zero)
        #expect(engine.fileSources == ["s:a"], "nothing brings back what was removed from the tray")
        #expect(ComposerEngine().fileSources.isEmpty)
    }

    @Test("MIB-36: an update finds its attachment by source, wherever it is") func updatesFindTheAttachmentBySource() {
        var engine = Self.engine(with: ["a", "b"])
        var ready = Self.file("b", source: "kept")
        ready.altText = "A bee"
        _ = engine.handle(.updateAttachment(source: "s:b", ready), at: .zero)
        #expect(engine.state.attachments == [Self.file("a"), ready])
        _ = engine.handle(.updateAttachment(source: "gone", Self.file("x")), at: .zero)
        #expect(engine.state.attachments.count == 2)
    }

    @Test("MIB-36: files with equal content share their source, and each has its own description")
    func equalFilesAreDescribedSeparately() {
        var engine = ComposerEngine()
        for name in ["a", "b"] { _ = engine.handle(.attach(Self.file(name, source: "same")), at: .zero) }
        for (index, text) in [(0, "A pier"), (1, "Map"), (2, "Nothing")] {
            let effects = engine.handle(.describeAttachment(index, text), at: .zero)
            #expect(effects.contains(.observed(.attachmentsChanged)) == (index < 2))
        }
        #expect(engine.state.attachments.map(\.name) == ["a", "b"])
        #expect(engine.state.attachments.map(\.altText) == ["A pier", "Map"])
        _ = engine.handle(.describeAttachment(0, nil), at: .zero)
        #expect(engine.state.attachments.map(\.altText) == [nil, "Map"])
    }

    @Test("SLK-15: an upload that ends during an edit is ready after the edit")
    func uploadDuringAnEditIsReadyAfterwards() {
        var engine = ComposerEngine()
        _ = engine.handle(.attach(Self.file("a", upload: .running(0.5))), at: .zero)
        _ = engine.handle(.startEdit(id: "m", WrittenText("old")), at: .zero)
        #expect(engine.state.attachments.isEmpty)
        _ = engine.handle(.updateAttachment(source: "s:a", Self.file("a", source: "kept")), at: .zero)
        _ = engine.handle(.cancelEdit, at: .zero)
        #expect(engine.state.attachments == [Self.file("a", source: "kept")])
        #expect(engine.state.canSend)
    }

    @Test("MIB-36: a message being edited accepts no attachments and loses none") func editsAcceptNoAttachments() {
        var engine = Self.engine(with: ["a"])
        _ = engine.handle(.startEdit(id: "m", WrittenText("old")), at: .zero)
        let effects = engine.handle(.attach(Self.file("b")), at: .zero)
        #expect(effects.contains(.rejected(.attachmentWhileEditing)))
        _ = engine.handle(.commitEdit, at: .zero)
        #expect(engine.state.attachments.map(\.name) == ["a"])
    }

    @Test(
        "SLK-36, SLK-37: paste chooses the best type that a clipboard offers",
        arguments: [
            (["text/uri-list", "text/plain"], PasteChoice.files),
            (["image/png", "text/uri-list"], .files),
            (["image/jpeg", "image/png"], .media("image/png")),
            (["text/html", "image/png"], .media("image/png")),
            (["text/plain;charset=utf-8", "image/png"], .text),
            (["image/png", "text/plain"], .media("image/png")),
            (["application/x-unknown", "text/plain"], .text),
            ([ClipboardFragment.mediaType, "text/uri-list"], .fragment),
            (["application/x-unknown"], .nothing),
            ([], .nothing),
        ])
    func pasteChoosesTheBestType(types: [String], expected: PasteChoice) {
        #expect(Self.limits.choice(among: types) == expected)
    }

    @Test("SLK-36: if media are not accepted, text is pasted") func textIsPastedWithoutAcceptedMedia() {
        let limits = AttachmentLimits(pastedTypes: [])
        #expect(limits.choice(among: ["text/uri-list", "text/plain"]) == .text)
        #expect(limits.choice(among: ["image/png"]) == .nothing)
    }

    @Test("SLK-39: drafts store attachments with their sizes and descriptions") func draftsStoreAttachments() throws {
        var engine = ComposerEngine()
        var picture = Self.file("a")
        (picture.width, picture.height, picture.altText) = (640, 480, "A pier")
        _ = engine.handle(.attach(picture), at: .zero)
        let stored = try engine.makeDraft().encoded()
        var other = ComposerEngine()
        _ = other.restore(encoded: stored)
        #expect(other.state.attachments == [picture])
    }
}
