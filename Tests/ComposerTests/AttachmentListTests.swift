import Testing

@testable import Composer

/// The attachments of a message, in isolation.
struct AttachmentListTests {
    private static func file(_ name: String, upload: Composer.Attachment.Upload = .ready) -> Composer.Attachment {
        Composer.Attachment(type: "image/png", name: name, bytes: 10, source: "s:\(name)", upload: upload)
    }

    private static func list(_ names: String...) -> AttachmentList {
        var list = AttachmentList()
        for name in names { _ = list.add(file(name)) }
        return list
    }

    @Test("Each change increments the revision, and no-ops do not")
    func changesIncrementTheRevision() {
        var list = Self.list("a", "b")
        #expect(list.revision == 2)
        let changes = [
            list.remove(at: 5), list.move(from: 0, to: 0), list.setUpload(.failed, at: -1),
            list.update("s:a", to: Self.file("a")),
        ]
        #expect(changes == [false, false, false, false])
        #expect(list.revision == 2)
        #expect([list.move(from: 0, to: 1), list.remove(at: 0)] == [true, true])
        #expect(list.revision == 4 && list.items.map(\.name) == ["a"])
    }

    @Test("Uploads still update attachments that an edit has set aside")
    func uploadsUpdateStashedAttachments() {
        var list = Self.list("a")
        list.setAside()
        list.setAside()
        #expect(list.items.isEmpty && list.stashed?.count == 1)
        #expect(list.update("s:a", to: Self.file("a", upload: .failed)) == true)
        list.bringBack()
        #expect(list.items.map(\.upload) == [.failed] && list.stashed == nil)
    }

    @Test("An image is placed on its own line, and moved if it is already in the text")
    func imageIsPlacedOnItsOwnLine() throws {
        let list = Self.list("a")
        let change = try #require(list.placement(of: 0, in: ComposerDocument("text"), at: .caret(4)))
        #expect(change.edits == [TextEdit(range: .caret(4), replacement: "\n\u{FFFC}\n")])
        #expect(change.selection == .caret(7))
        #expect(change.marks.map(\.range) == [TextRange(location: 5, length: 1)])
        var document = ComposerDocument("\u{FFFC}\ntext")
        document.addImage("s:a", at: 0)
        let moved = try #require(list.placement(of: 0, in: document, at: .caret(6)))
        #expect(moved.edits.last == TextEdit(range: TextRange(location: 0, length: 1), replacement: ""))
        #expect(moved.selection == .caret(8))
    }

    @Test("Only an uploaded image can be placed")
    func onlyUploadedImagesCanBePlaced() {
        var list = AttachmentList()
        _ = list.add(Self.file("a", upload: .running(0.5)))
        #expect(list.placement(of: 0, in: ComposerDocument(), at: .caret(0)) == nil)
        #expect(list.placement(of: 1, in: ComposerDocument(), at: .caret(0)) == nil)
    }

    @Test("MIB-36: the limits give the reason for a rejection")
    func limitsGiveAReasonForRejection() {
        let limits = AttachmentLimits(count: 2, bytes: 20)
        #expect(limits.rejection(of: Self.file("a"), besides: 1) == nil)
        #expect(limits.rejection(of: Self.file("a"), besides: 2) == .attachmentCount(limit: 2))
        var large = Self.file("a")
        large.bytes = 21
        #expect(limits.rejection(of: large, besides: 0) == .attachmentSize(limit: 20))
    }
}
