import CGtk
import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ComposerGtk
@testable import GtkKit

/// Attaching files to the composer by keyboard, clipboard and drag and drop, with real input events.
final class AttachmentTrayTests: GtkTestCase {
    /// A composer that accepts files, in a window that also has a drag source.
    @MainActor
    private final class Bench {
        let fixture: ChatFixture
        let viewModel: ComposerViewModel
        let view: ComposerView
        let window: TestWindow
        let source = Label("drag me")
        private let outputs = Recorder<ComposerViewModel.Output>()
        private let files = TemporaryFolder()

        init() throws {
            fixture = try ChatFixture()
            let room = try fixture.openRoom().roomID
            let composer = ComposerViewModel(
                roomID: room, service: fixture.backend, media: fixture.backend,
                onOutput: { [outputs] in outputs.record($0) })
            viewModel = composer
            try finish { await composer.start() }
            view = ComposerView(viewModel: viewModel)
            let box = Box(.vertical)
            let overlay = Overlay()
            overlay.vexpand = true
            box.append(source)
            box.append(overlay)
            box.append(view.widget)
            view.bar.files?.attachmentController.acceptDrops(on: box, hint: overlay)
            window = TestWindow(box, width: 500, height: 500)
            try RealInput.activate(window.window)
            view.grabFocus()
        }

        var rejections: [ComposerRejection] {
            outputs.values.compactMap { if case .rejected(let reason) = $0 { reason } else { nil } }
        }
        var failures: [ChatError] {
            outputs.values.compactMap { if case .failed(let error) = $0 { error } else { nil } }
        }
        var attachments: [Composer.Attachment] { viewModel.composer.attachments }
        var names: [String] { attachments.map(\.name) }
        var text: String { viewModel.document.text }

        func file(_ name: String, _ data: Data = Data("content".utf8)) throws -> URL {
            let url = files.path(name)
            try data.write(to: url)
            return url
        }

        /// Writes a PNG of this size in pixels.
        func picture(_ name: String, width: Int32, height: Int32) throws -> URL {
            let url = files.path(name)
            let pixels = (0..<Int(width * height)).flatMap { _ in [0x40, 0x80, 0xC0, 0xFF] as [UInt8] }
            guard DecodedImage(pixels: pixels, width: Int(width), height: Int(height))?.savePNG(to: url.path) == true
            else {
                throw TimedOut()
            }
            return url
        }

        /// Pastes clipboard content that another process owns.
        func paste(_ file: URL, as type: String) throws {
            try RealClipboard.offer(file, as: type)
            try RealClipboard.wait(for: type, of: view.textView)
            view.grabFocus()
            try RealInput.press("ctrl+v")
        }

        func pasteFiles(_ urls: [URL]) throws {
            let list = urls.map { $0.absoluteString + "\r\n" }.joined()
            try paste(try file("list.txt", Data(list.utf8)), as: "text/uri-list")
        }

        /// Waits for exactly `count` attachments, all ready to send.
        func waitForReady(_ count: Int) -> Bool {
            MainLoop.pump { self.attachments.count == count && self.attachments.allSatisfy { $0.upload == .ready } }
        }

        var cells: [Widget] {
            Self.descendants(of: window.window).filter { $0.hasStyle("attachment-cell") }
        }

        /// Waits until the cell is mapped first: GTK drops key events for unmapped widgets.
        func focusCell(_ index: Int) -> Bool {
            MainLoop.pump { cells.indices.contains(index) && cells[index].isMapped && cells[index].width > 0 }
                && cells[index].grabFocus() && MainLoop.pump { self.focusedCell == index }
        }

        var focusedCell: Int? { cells.firstIndex { gtk_widget_is_focus($0.cast()) != 0 } }

        static func descendants(of widget: Widget) -> [Widget] {
            widget.children.flatMap { [$0] + descendants(of: $0) }
        }

        func close() throws {
            RealClipboard.end()
            window.close()
            try fixture.close()
        }
    }

    func testPastedFilesAreMovedDescribedAndRemovedByKeyboard() throws {
        try onMain {
            let bench = try Bench()
            try bench.pasteFiles([
                try bench.file("a.txt"), try bench.picture("b.png", width: 90, height: 60), try bench.file("c d.pdf"),
            ])
            XCTAssertTrue(bench.waitForReady(3), "SLK-36, MIB-19: \(bench.attachments)")
            XCTAssertEqual(bench.names, ["a.txt", "b.png", "c d.pdf"])
            XCTAssertEqual(bench.attachments[1].type, "image/png")
            XCTAssertEqual(bench.attachments[1].width, 90, "known before it is sent")
            XCTAssertEqual(bench.cells.count, 3)
            XCTAssertEqual(bench.text, "", "nothing of it is text")
            XCTAssertTrue(bench.focusCell(0))
            try RealInput.press("alt+Right")
            XCTAssertTrue(MainLoop.pump { bench.names == ["b.png", "a.txt", "c d.pdf"] }, "MIB-36: reordered by key")
            XCTAssertTrue(MainLoop.pump { bench.focusedCell == 1 }, "the focus goes with it")
            try RealInput.press("Left", "Return")
            let entry = {
                Bench.descendants(of: bench.window.window).contains { $0.hasStyle("heading") && $0.isMapped }
            }
            XCTAssertTrue(MainLoop.pump(until: entry), "Return asks for a description")
            try RealInput.type("A wall")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { bench.attachments[0].altText == "A wall" }, "MIB-36: \(bench.attachments)")
            XCTAssertTrue(bench.focusCell(1))
            try RealInput.press("Delete")
            XCTAssertTrue(MainLoop.pump { bench.names == ["b.png", "c d.pdf"] }, "MIB-38: removed by Delete")
            XCTAssertTrue(
                MainLoop.pump { bench.cells.count == 2 && bench.focusedCell == 1 }, "the next one has the focus")
            try RealInput.press("Delete")
            XCTAssertTrue(MainLoop.pump { bench.cells.count == 1 && bench.focusedCell == 0 }, "the last one has it")
            try RealInput.press("Delete")
            XCTAssertTrue(MainLoop.pump { bench.names.isEmpty && bench.view.textView.hasFocus }, "then the text has it")
            try bench.close()
        }
    }

    /// MIB-19: images can be placed inline. MIB-21: an inline image is never wider than the text or its natural width.
    func testVideoShowsItsPosterAndSoundItsIcon() throws {
        try onMain {
            let bench = try Bench()
            try bench.pasteFiles([SampleVideos.rotated, SampleVideos.audio])
            XCTAssertTrue(bench.waitForReady(2), "MIB-36: \(bench.attachments)")
            let faces = {
                bench.cells.map { cell in
                    Bench.descendants(of: cell).contains { $0.isInstance(of: gtk_picture_get_type()) && $0.isMapped }
                }
            }
            let badges = {
                bench.cells.map { cell in
                    Bench.descendants(of: cell).contains { $0.hasStyle("attachment-badge") && $0.isMapped }
                }
            }
            XCTAssertTrue(MainLoop.pump { faces() == [true, false] && badges() == [true, false] })
            try bench.close()
        }
    }

    func testProgressBarIsAsWideAsItsCell() throws {
        try onMain {
            try Resource.load()
            Resource.loadStyle()
            let cell = AttachmentCell()
            cell.widget.halign = .start
            let window = TestWindow(cell.widget)
            cell.show(
                Attachment(type: "video/mp4", name: "walk.mp4", bytes: 5, upload: .running(0.5)), canRetry: false,
                load: { nil })
            XCTAssertTrue(MainLoop.pump { cell.progress.width > 0 })
            XCTAssertEqual(cell.widget.width, AttachmentCell.imageWidth)
            XCTAssertLessThan(cell.progress.width, AttachmentCell.imageWidth)
            window.close()
        }
    }

    func testFailedFileIsRetriedByReturn() throws {
        try onMain {
            try Resource.load()
            Resource.loadStyle()
            let cell = AttachmentCell()
            var requests: [AttachmentCell.Request] = []
            cell.onRequest = { requests.append($0) }
            let file = Attachment(type: "text/plain", name: "a.txt", bytes: 5, upload: .failed)
            cell.show(file, canRetry: true, load: { nil })
            let window = TestWindow(cell.widget)
            try RealInput.activate(window.window)
            XCTAssertTrue(cell.widget.grabFocus() && MainLoop.pump { cell.widget.hasFocus })
            try RealInput.press("Return", "space")
            XCTAssertTrue(MainLoop.pump { requests == [.retry, .describe] }, "\(requests)")
            // A copy that ended with the program cannot be retried.
            cell.show(file, canRetry: false, load: { nil })
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { requests == [.retry, .describe, .describe] }, "\(requests)")
            window.close()
        }
    }

    /// MIB-38, MIB-47: the keys move a file to the side where their arrows point.
    func testKeysMoveAFileTheirWayFromRightToLeft() throws {
        try onMain {
            try Resource.load()
            Resource.loadStyle()
            let cell = AttachmentCell()
            var requests: [AttachmentCell.Request] = []
            cell.onRequest = { requests.append($0) }
            cell.show(Attachment(type: "text/plain", name: "a.txt", bytes: 5), canRetry: false, load: { nil })
            let window = TestWindow(cell.widget)
            try RealInput.activate(window.window)
            XCTAssertTrue(cell.widget.grabFocus() && MainLoop.pump { cell.widget.hasFocus })
            try RealInput.press("alt+Left", "alt+Right")
            XCTAssertTrue(MainLoop.pump { requests == [.move(-1), .move(1)] }, "\(requests)")
            requests = []
            cell.widget.textDirection = .rightToLeft
            try RealInput.press("alt+Left", "alt+Right")
            XCTAssertTrue(MainLoop.pump { requests == [.move(1), .move(-1)] }, "MIB-38: \(requests)")
            window.close()
        }
    }

    /// MIB-19: ⚠ an image stayed blank if its file was attached later.
    func testImageOfAFileThatIsAttachedLaterIsShown() throws {
        try onMain {
            let bench = try Bench()
            try bench.pasteFiles([try bench.picture("a.png", width: 60, height: 40)])
            XCTAssertTrue(bench.waitForReady(1))
            let attachment = bench.attachments[0]
            bench.viewModel.handle(.detach(0))
            let source = try XCTUnwrap(attachment.source)
            let mark = WrittenText.Mark(.file(source), over: TextRange(location: 0, length: 1))
            bench.viewModel.handle(.load(try XCTUnwrap(WrittenText("\u{FFFC}", marks: [mark]))))
            let images = { Bench.descendants(of: bench.window.window).filter { $0.hasStyle("inline-picture") } }
            XCTAssertTrue(MainLoop.pump { images().count == 1 && images().allSatisfy(\.isMapped) })
            let isShown = { images().contains { gtk_picture_get_paintable($0.cast()) != nil } }
            XCTAssertFalse(isShown(), "there is no file")
            bench.viewModel.handle(.attach(attachment))
            XCTAssertTrue(MainLoop.pump { isShown() && images().allSatisfy { $0.width == 60 } }, "MIB-19")
            try bench.close()
        }
    }

    func testImageIsInsertedInlineAndScalesWithTheWindow() throws {
        try onMain {
            let bench = try Bench()
            try bench.pasteFiles([
                try bench.picture("wide.png", width: 600, height: 60),
                try bench.picture("small.png", width: 40, height: 30),
            ])
            XCTAssertTrue(bench.waitForReady(2))
            try RealInput.type("before")
            XCTAssertTrue(MainLoop.pump { bench.text == "before" }, bench.text)
            XCTAssertTrue(bench.focusCell(0))
            try RealInput.press("Insert")
            XCTAssertTrue(
                MainLoop.pump { bench.text == "before\n\u{FFFC}\n" && bench.view.textView.hasFocus }, bench.text)
            try RealInput.type("after")
            XCTAssertTrue(MainLoop.pump { bench.text.hasSuffix("after") })
            let shown = { Bench.descendants(of: bench.window.window).filter { $0.hasStyle("inline-picture") } }
            let isWide = { shown().contains { $0.isMapped && $0.width >= 300 } }
            XCTAssertTrue(MainLoop.pump(until: isWide), "its place is taken: nothing under the pointer moves after it")
            let place = try XCTUnwrap(
                Bench.descendants(of: bench.cells[1]).first { $0.tooltip?.contains("Insert)") == true })
            try RealInput.point(at: place)
            try RealInput.click()
            XCTAssertTrue(
                MainLoop.pump { shown().count == 2 && shown().allSatisfy(\.isMapped) }, "MIB-19: by pointer, too")
            let widths = { Set(shown().map(\.width)) }
            let fits = { widths().contains(40) && widths().contains { (300...bench.view.textView.width).contains($0) } }
            XCTAssertTrue(MainLoop.pump(until: fits), "MIB-21: \(widths()) in \(bench.view.textView.width)")
            gtk_window_set_default_size(bench.window.window.cast(), 360, 500)
            XCTAssertTrue(
                MainLoop.pump {
                    bench.view.textView.width < 300 && widths().allSatisfy { $0 <= bench.view.textView.width }
                },
                "MIB-21: \(widths()) in \(bench.view.textView.width)")
            gtk_window_set_default_size(bench.window.window.cast(), 1100, 500)
            XCTAssertTrue(MainLoop.pump { widths() == [40, 600] }, "MIB-21: never wider than it is, \(widths())")
            bench.view.grabFocus()
            try RealInput.press("ctrl+z")
            XCTAssertTrue(MainLoop.pump { shown().count == 1 })
            XCTAssertEqual(bench.names.count, 2, "the files are in the tray still")
            try RealInput.press("ctrl+shift+z", "ctrl+Home", "Delete")
            XCTAssertTrue(MainLoop.pump { bench.text.hasPrefix("efore") && shown().count == 2 }, bench.text)
            try bench.close()
        }
    }

    func testPastedImageBecomesAttachmentAndTextStaysText() throws {
        try onMain {
            let bench = try Bench()
            try bench.paste(try bench.picture("x.png", width: 30, height: 20), as: "image/png")
            XCTAssertTrue(bench.waitForReady(1), "SLK-36")
            XCTAssertEqual(bench.names, ["Pasted image.png"])
            XCTAssertEqual(bench.attachments.first?.height, 20)
            try bench.paste(try bench.file("t.txt", Data("plain".utf8)), as: "text/plain;charset=utf-8")
            XCTAssertTrue(MainLoop.pump { bench.text == "plain" }, "MIB-19: text goes to the text, not \(bench.text)")
            try bench.paste(
                try bench.file("u.txt", Data("https://example.org/a\r\n".utf8)), as: "text/uri-list")
            XCTAssertTrue(
                MainLoop.pump { bench.text.contains("https://example.org/a") || bench.attachments.count > 1 })
            XCTAssertEqual(bench.attachments.count, 1, "SLK-37: a link to the web is no file")
            try bench.close()
        }
    }

    /// GDK would transcode the JPEG to other image formats.
    func testPastedJPEGIsNotTranscoded() throws {
        try onMain {
            let bench = try Bench()
            let jpeg = Data(SampleImages.jpeg)
            try bench.paste(try bench.file("x.jpg", jpeg), as: "image/jpeg")
            XCTAssertTrue(bench.waitForReady(1))
            XCTAssertEqual(bench.names, ["Pasted image.jpg"])
            XCTAssertEqual(bench.attachments.first?.type, "image/jpeg")
            XCTAssertEqual(bench.attachments.first?.bytes, jpeg.count, "bit by bit")
            try bench.close()
        }
    }

    func testFoldersAndExcessFilesAreRejectedWithAReason() throws {
        try onMain {
            let bench = try Bench()
            let folder = try bench.file("one.txt").deletingLastPathComponent()
            bench.view.bar.files?.attachmentController.addFiles([folder])
            XCTAssertTrue(MainLoop.pump { bench.failures == [.unreadableFile] }, "a folder is no file")
            let many = try (0..<12).map { try bench.file("\($0).txt", Data("\($0)".utf8)) }
            bench.view.bar.files?.attachmentController.addFiles(many)
            XCTAssertTrue(bench.waitForReady(ChatLimits.attachments))
            XCTAssertEqual(bench.rejections, [.attachmentCount(limit: ChatLimits.attachments)], "MIB-36: told once")
            try bench.close()
        }
    }

    func testDroppedFilesAreAttachedWhereTheDropTargetIsShown() throws {
        try onMain {
            let bench = try Bench()
            let file = try bench.file("dropped.txt")
            bench.source.offerDrag(of: file)
            try RealInput.point(at: bench.source)
            try RealInput.pressButton()
            try RealInput.move(byX: 0, y: 60)
            let isShown = { Bench.descendants(of: bench.window.window).contains { $0.hasStyle("drop-target") } }
            // A late drag learns about its target only from further motion events, so keep moving.
            for step in 0..<40 where !isShown() { try RealInput.move(byX: step % 2 == 0 ? 2 : -2, y: 0, steps: 1) }
            XCTAssertTrue(MainLoop.pump(until: isShown), "SLK-36: the target is highlighted")
            try RealInput.move(byX: 0, y: 60)
            try RealInput.releaseButton()
            XCTAssertTrue(bench.waitForReady(1), "SLK-36: \(bench.attachments)")
            XCTAssertEqual(bench.names, ["dropped.txt"])
            XCTAssertTrue(MainLoop.pump { !isShown() }, "and no longer afterwards")
            try bench.close()
        }
    }

    func testTrayIsFreedWithTheWindow() throws {
        try onMain {
            let closures = ClosureCount.live
            var finalized = false
            try Self.addAndClose { finalized = true }
            XCTAssertTrue(MainLoop.pump { finalized }, "the tray is finalised")
            XCTAssertTrue(MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures)")
        }
    }

    @MainActor
    private static func addAndClose(_ onFinalize: @escaping () -> Void) throws {
        let bench = try Bench()
        bench.view.bar.files?.attachmentController.addFiles([try bench.picture("a.png", width: 40, height: 40)])
        XCTAssertTrue(bench.waitForReady(1))
        bench.view.bar.files?.attachmentController.tray.widget.onFinalize(onFinalize)
        try bench.close()
    }
}
