import CGtk
import ChatCore
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit
@testable import MediaGtk

/// The buttons of a file in a message.
final class FileCardTests: GtkTestCase {
    /// A server whose downloads fail once the gate is open.
    private struct SlowServer: MediaService {
        let gate = AsyncStream.makeStream(of: Void.self)

        func content(of media: MediaReference) async throws -> URL { try await namedFile(of: media) }
        func namedFile(of media: MediaReference) async throws -> URL {
            for await _ in gate.stream { break }
            throw ChatError.unreachable
        }
        func storeMedia(
            _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
        ) async throws -> MediaReference { throw ChatError.unreadableFile }
    }

    /// A file that no application opens, as none has its scheme.
    private struct StrangeFile: MediaService {
        func content(of media: MediaReference) async throws -> URL { try await namedFile(of: media) }
        func namedFile(of media: MediaReference) async throws -> URL {
            guard let url = URL(string: "x-parlance-nothing:/a") else { throw ChatError.notFound }
            return url
        }
        func storeMedia(
            _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
        ) async throws -> MediaReference { throw ChatError.unreadableFile }
    }

    func testFileThatNoApplicationOpensIsReported() {
        onMain {
            let media = MediaPresenter(service: StrangeFile(), avatars: nil, texts: .plain)
            var errors: [ChatError] = []
            media.onFailure = { errors.append($0) }
            media.open(MediaReference(uri: "a.odd", name: "a.odd", type: "application/x-odd"))
            XCTAssertTrue(MainLoop.pump { errors == [.noApplication] }, "\(errors)")
        }
    }

    func testFileIsOpenedOnceHoweverOftenOpenIsClicked() throws {
        try onMain {
            let server = SlowServer()
            let media = MediaPresenter(service: server, avatars: nil, texts: .plain)
            var errors: [ChatError] = []
            media.onFailure = { errors.append($0) }
            let card = FileCard(MediaReference(uri: "a.pdf", name: "a.pdf", type: "application/pdf"), media)
            let window = TestWindow(card.widget)
            let open = card.open.widget
            try RealInput.activate(window.window)
            try RealInput.point(at: open)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { !open.isSensitive })
            XCTAssertTrue(card.save.widget.isSensitive)
            let hasSpinner = { open.descendants.contains { $0.isInstance(of: gtk_spinner_get_type()) } }
            XCTAssertTrue(MainLoop.pump { hasSpinner() }, "it shows that it is at work")
            try RealInput.click()
            server.gate.continuation.finish()
            XCTAssertTrue(MainLoop.pump { open.isSensitive })
            XCTAssertEqual(errors, [.unreachable], "the second click did nothing")
            XCTAssertFalse(hasSpinner())
            XCTAssertEqual(open.iconName, "parlance-open-symbolic")
            XCTAssertTrue(open.isFocus, "the focus returns")
            withExtendedLifetime((card, media)) { window.close() }
        }
    }

    /// Nothing else retains it, and its buttons would do nothing.
    func testPlayerRetainsItsCard() {
        onMain {
            let media = MediaPresenter(service: SlowServer(), avatars: nil, texts: .plain)
            let file = MediaReference(uri: "a.ogg", name: "a.ogg", type: "audio/ogg")
            var card: FileCard? = FileCard(file, media)
            let isRetained = { [weak card] in card != nil }
            let player = card.map { MediaPlayer(file, media, $0) }
            card = nil
            XCTAssertTrue(isRetained())
            withExtendedLifetime(player) {}
        }
    }
}
