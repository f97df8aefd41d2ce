import CGtk
import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import GtkTestSupport
import XCTest

@testable import ComposerGtk
@testable import GtkKit

/// Files in a bar without a room: pasted, dropped and chosen, offered to plug-ins, shown in the tray.
final class HostFilesTests: GtkTestCase {
    /// Files that another program offers.
    @MainActor
    private struct Files {
        private let folder = TemporaryFolder()

        func file(_ name: String, _ data: Data = Data("content".utf8)) throws -> URL {
            let url = folder.path(name)
            try data.write(to: url)
            return url
        }

        func picture(_ name: String) throws -> URL {
            let url = folder.path(name)
            let pixels = (0..<600).flatMap { _ in [0x40, 0x80, 0xC0, 0xFF] as [UInt8] }
            guard DecodedImage(pixels: pixels, width: 30, height: 20)?.savePNG(to: url.path) == true else {
                throw TimedOut()
            }
            return url
        }

        func list(_ names: String...) throws -> URL {
            let lines = try names.map { try file($0).absoluteString + "\r\n" }
            return try file("list", Data(lines.joined().utf8))
        }
    }

    @MainActor
    private static func paste(_ file: URL, as type: String, into bench: HostBench) throws {
        try RealClipboard.offer(file, as: type)
        try RealClipboard.wait(for: type, of: bench.text)
        bench.bar.grabFocus()
        try RealInput.press("ctrl+v")
    }

    @MainActor
    private static func waitForReady(_ count: Int, _ bench: HostBench) -> Bool {
        MainLoop.pump {
            bench.state.attachments.count == count && bench.state.attachments.allSatisfy { $0.upload == .ready }
        }
    }

    /// SLK-36, MIB-36, MIB-38: a copy goes to the tray and is sent with the message; Delete removes it.
    func testPastedFilesAndImagesAreSent() throws {
        try onMain {
            let files = Files()
            var sent: [ComposedMessage] = []
            let bench = try HostBench { bar in
                bar.acceptsFiles = true
                bar.session.onSend = { sent.append($0) }
            }
            defer { RealClipboard.end() }
            try Self.paste(try files.list("a.txt", "b c.pdf"), as: "text/uri-list", into: bench)
            XCTAssertTrue(Self.waitForReady(2, bench), "SLK-36: \(bench.state.attachments)")
            try Self.paste(try files.picture("p.png"), as: "image/png", into: bench)
            XCTAssertTrue(Self.waitForReady(3, bench))
            XCTAssertEqual(bench.displayedText, "", "SLK-36: none of it is text")
            let cells = { bench.widget.descendants.filter { $0.hasStyle("attachment-cell") && $0.isMapped } }
            XCTAssertTrue(MainLoop.pump { cells().count == 3 }, "MIB-38")
            XCTAssertTrue(cells()[1].grabFocus())
            try RealInput.press("Delete")
            XCTAssertTrue(MainLoop.pump { bench.state.attachments.map(\.name) == ["a.txt", "Pasted image.png"] })
            bench.bar.grabFocus()
            XCTAssertTrue(MainLoop.pump { bench.text.hasFocus })
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { sent.count == 1 }, "MIB-36: without a word")
            XCTAssertEqual(sent[0].attachments.map(\.type), ["text/plain", "image/png"])
            XCTAssertEqual(sent[0].attachments[1].width, 30)
            let copy = try XCTUnwrap(sent[0].attachments[0].source.flatMap { URL(string: $0) })
            XCTAssertEqual(try String(contentsOf: copy, encoding: .utf8), "content", "the host finds it there")
            XCTAssertTrue(MainLoop.pump { cells().isEmpty }, "MIB-37: nothing is left to show")
            bench.close()
        }
    }

    /// SLK-36: an image that is not attached is reported.
    func testPastedImageThatIsTooLargeIsReported() throws {
        try onMain {
            let files = Files()
            var failures: [ChatError] = []
            let bench = try HostBench { bar in
                bar.acceptsFiles = true
                bar.session.onFailure = { failures.append($0) }
            }
            defer { RealClipboard.end() }
            let controller = try XCTUnwrap(bench.bar.files?.attachmentController)
            controller.contentLimit = 10
            try Self.paste(try files.picture("p.png"), as: "image/png", into: bench)
            XCTAssertTrue(MainLoop.pump { failures == [.fileTooLarge(limit: 10)] }, "SLK-36: \(failures)")
            XCTAssertEqual(bench.state.attachments, [])
            XCTAssertEqual(AttachmentController.error(.unreadable, limit: 10), .unreadableFile)
            bench.close()
        }
    }

    /// MIB-19, MIB-22: plug-ins get files in order, with their content, before the tray; text is never offered.
    func testPlugInsReceiveFilesBeforeTheTray() throws {
        try onMain {
            let files = Files()
            let bench = try HostBench { $0.acceptsFiles = true }
            defer { RealClipboard.end() }
            let session = bench.session
            let player = Player(session)
            session.add(inputPlugIn: player)
            try Self.paste(try files.picture("p.png"), as: "image/png", into: bench)
            XCTAssertTrue(MainLoop.pump { player.acceptedContents.count == 1 }, "MIB-22: \(player.acceptedContents)")
            XCTAssertTrue(
                player.acceptedContents[0].hasPrefix("image/png with"),
                "MIB-22: the bytes, too: \(player.acceptedContents)")
            XCTAssertEqual(session.composer.attachments, [], "MIB-19: the first that takes it ends it")
            try Self.paste(try files.file("t.txt", Data("words".utf8)), as: "text/plain;charset=utf-8", into: bench)
            XCTAssertTrue(bench.waits(for: "words"), "MIB-19: text goes to the text")
            try Self.paste(try files.list("a.txt"), as: "text/uri-list", into: bench)
            XCTAssertTrue(Self.waitForReady(1, bench), "MIB-22: what it leaves is the tray's")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { player.isEmpty }, "MIB-22: sending has it forget")
            session.removeInputPlugIn(named: player.name)
            try Self.paste(try files.picture("q.png"), as: "image/png", into: bench)
            XCTAssertTrue(Self.waitForReady(1, bench))
            bench.close()
        }
    }

    /// MIB-22: plug-ins also work without a tray; files that none accepts are rejected with a reason.
    func testPlugInsAcceptFilesWithoutATray() throws {
        try onMain {
            let files = Files()
            let bench = try HostBench()
            defer { RealClipboard.end() }
            let player = Player(bench.session)
            bench.session.add(inputPlugIn: player)
            try Self.paste(try files.picture("p.png"), as: "image/png", into: bench)
            XCTAssertTrue(MainLoop.pump { player.acceptedContents.count == 1 })
            try Self.paste(try files.list("a.txt"), as: "text/uri-list", into: bench)
            XCTAssertTrue(MainLoop.pump { bench.rejections == [.mediaType("text/plain")] }, "\(bench.rejections)")
            XCTAssertNil(
                bench.item("Attach Files").flatMap { $0.isMapped ? $0 : nil }, "no button where there is no tray")
            bench.close()
        }
    }

    /// Accepts images.
    private final class Player: ComposerInputPlugIn, @unchecked Sendable {
        let name = "player"
        var acceptedContents: [String] = []
        var isEmpty = true
        private let session: ComposerSession

        @MainActor init(_ session: ComposerSession) { self.session = session }

        func handle(_ offer: PasteOffer, state: ComposerState) -> Bool {
            guard case .media(let attachment) = offer, attachment.type.hasPrefix("image/") else { return false }
            MainActor.assumeIsolated {
                let content = attachment.source.flatMap { session.attachments?.content(offeredAs: $0) }
                if case .data(let data)? = content {
                    acceptedContents.append("\(attachment.type) with \(data.count) bytes")
                }
            }
            isEmpty = false
            return true
        }
        func reload() {}
        func invalidate() { isEmpty = true }
    }

    /// SLK-36: files can be dropped on the bar, which highlights itself, or on any drop area of the host.
    func testFilesCanBeDroppedOnTheBar() throws {
        try onMain {
            let files = Files()
            let bench = try HostBench { $0.acceptsFiles = true }
            let source = Label("drag me")
            gtk_box_prepend(bench.column.cast(), source.cast())
            source.offerDrag(of: try files.file("dropped.txt"))
            let isHighlighted = { bench.widget.descendants.contains { $0.hasStyle("drop-target") } }
            XCTAssertTrue(MainLoop.pump { source.isMapped && source.height > 0 })
            try RealInput.point(at: source)
            try RealInput.pressButton()
            let way = Int((bench.widget.bounds(in: bench.window.window)?.y ?? 0)) + 20
            try RealInput.move(byX: 0, y: way, steps: 16)
            for step in 0..<40 where !isHighlighted() {
                try RealInput.move(byX: step % 2 == 0 ? 2 : -2, y: 0, steps: 1)
            }
            XCTAssertTrue(MainLoop.pump(until: isHighlighted), "SLK-36: it says so")
            try RealInput.releaseButton()
            XCTAssertTrue(Self.waitForReady(1, bench), "SLK-36")
            XCTAssertEqual(bench.state.attachments.map(\.name), ["dropped.txt"])
            XCTAssertTrue(MainLoop.pump { !isHighlighted() })
            bench.close()
        }
    }

    /// MIB-37, MIB-39: the tray may show while empty, with an add button at its end; changes are reported as in
    /// `GListModel::items-changed`.
    func testPersistentTrayReportsItemChanges() throws {
        try onMain {
            let files = Files()
            let bench = try HostBench { bar in
                bar.acceptsFiles = true
                bar.isTrayPersistent = true
            }
            let more = try XCTUnwrap(
                bench.widget.descendants.last {
                    $0.tooltip == "Attach Files" && $0.pointer != bench.bar.files?.attachmentController.button.pointer
                })
            XCTAssertTrue(MainLoop.pump { more.isMapped }, "MIB-37: it stays without a file")
            bench.bar.offersMoreFiles = false
            XCTAssertTrue(MainLoop.pump { !more.isMapped }, "MIB-37: without the button where the host wants that")
            bench.bar.isTrayPersistent = false
            var reported: [[Double]] = []
            bench.widget.connect("attachments-changed") { reported.append([$0.double(0), $0.double(1), $0.double(2)]) }
            let controller = try XCTUnwrap(bench.bar.files?.attachmentController)
            controller.addFiles([try files.file("a.txt"), try files.file("b.txt"), try files.file("c.txt")])
            XCTAssertTrue(Self.waitForReady(3, bench))
            XCTAssertTrue(MainLoop.pump { reported.map { $0[2] }.reduce(0, +) == 3 }, "MIB-39: \(reported)")
            XCTAssertTrue(reported.allSatisfy { $0[1] == 0 }, "MIB-39: arriving is no change of the list: \(reported)")
            reported = []
            bench.session.handle(.detach(1))
            XCTAssertTrue(MainLoop.pump { reported == [[1, 1, 0]] }, "MIB-39: \(reported)")
            bench.session.handle(.moveAttachment(from: 1, to: 0))
            XCTAssertTrue(MainLoop.pump { reported == [[1, 1, 0], [0, 2, 2]] }, "MIB-39: \(reported)")
            bench.close()
        }
    }

    /// The tray is drawn later than a key changes the attachments, and several keys may come before.
    func testKeyBeforeTheTrayIsDrawnChangesNoOtherFile() throws {
        try onMain {
            let files = Files()
            let bench = try HostBench { $0.acceptsFiles = true }
            let controller = try XCTUnwrap(bench.bar.files?.attachmentController)
            controller.addFiles([try files.file("a.txt"), try files.file("b.txt"), try files.file("c.txt")])
            XCTAssertTrue(Self.waitForReady(3, bench))
            let cells = { controller.tray.cells }
            XCTAssertTrue(MainLoop.pump { cells().compactMap(\.attachment) == bench.state.attachments })
            let names = { bench.state.attachments.map(\.name) }
            XCTAssertEqual(names(), ["a.txt", "b.txt", "c.txt"])
            let last = cells()[2]
            for _ in 0..<2 { last.onRequest?(.move(-1)) }
            XCTAssertEqual(names(), ["c.txt", "a.txt", "b.txt"], "MIB-36: moved twice")
            last.onRequest?(.remove)
            XCTAssertEqual(names(), ["a.txt", "b.txt"], "MIB-38: the file that was moved")
            last.onRequest?(.remove)
            XCTAssertEqual(names(), ["a.txt", "b.txt"], "MIB-38: it is gone already")
            XCTAssertTrue(MainLoop.pump { cells().compactMap(\.attachment) == bench.state.attachments })
            bench.close()
        }
    }

    func testBarThatAcceptsFilesIsFreed() throws {
        try onMain {
            let files = Files()
            var isGone = false
            do {
                let bench = try HostBench { $0.acceptsFiles = true }
                bench.widget.onFinalize { isGone = true }
                bench.bar.makeMentionCard = { Label($0.text) }
                bench.bar.files?.attachmentController.addFiles([try files.file("a.txt")])
                XCTAssertTrue(Self.waitForReady(1, bench))
                bench.close()
            }
            XCTAssertTrue(MainLoop.pump { isGone }, "nothing holds it")
        }
    }
}
