import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit
@testable import MediaGtk

/// What message rows download without a user action.
final class AutomaticMediaTests: GtkTestCase {
    /// A server's media, none of which is cached.
    private final class Server: MediaService, @unchecked Sendable {
        let folder: URL
        /// Used on the main thread only.
        private(set) var requested: [String] = []

        init(_ folder: URL) { self.folder = folder }

        func content(of media: MediaReference) async throws -> URL {
            await MainActor.run { requested.append(media.uri) }
            return folder.appending(path: media.uri)
        }
        func cachedContent(of media: MediaReference) async -> URL? {
            await MainActor.run { requested.contains(media.uri) } ? folder.appending(path: media.uri) : nil
        }
        func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }
        func storeMedia(
            _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
        ) async throws -> MediaReference { throw ChatError.unreadableFile }
    }

    private static let film = SampleVideos.webM.lastPathComponent
    private static let sound = SampleVideos.audio.lastPathComponent

    private static let files = [
        MediaReference(uri: film, name: "film", type: "video/webm", bytes: 900, width: 160, height: 90),
        MediaReference(uri: sound, name: "sound", type: "audio/ogg", bytes: 900),
        MediaReference(uri: sound + "#voice", name: "voice", type: "audio/ogg", bytes: 900, loudness: [1, 2]),
        MediaReference(uri: "paper.pdf", name: "paper", type: "application/pdf", bytes: 900),
        MediaReference(uri: "large.pdf", name: "large", type: "application/pdf", bytes: 1001),
        MediaReference(uri: "drawing.svg", name: "drawing", type: "image/svg+xml"),
    ]

    @MainActor
    private static func show(
        _ choices: [MediaPreferences.Kind: MediaPreferences.Choice]
    ) -> (Server, AttachmentView, MediaPresenter, TestWindow) {
        let server = Server(SampleVideos.webM.deletingLastPathComponent())
        let media = MediaPresenter(service: server)
        media.preferences = { MediaPreferences(choices: choices, smallBytes: 1000) }
        let view = AttachmentView(media: media)
        view.show(files)
        return (server, view, media, TestWindow(view.widget, width: 360, height: 600))
    }

    func testNothingIsDownloadedThatWasNotAskedFor() throws {
        try onMain {
            let (server, view, media, window) = Self.show([.images: .always])
            XCTAssertTrue(MainLoop.pump { window.window.isMapped && view.widget.height > 0 })
            // Any automatic request would be recorded before this one.
            try RealInput.activate(window.window)
            try RealInput.point(at: try XCTUnwrap(view.voice).play)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { !server.requested.isEmpty })
            XCTAssertEqual(server.requested, [Self.sound + "#voice"])
            withExtendedLifetime(media) { window.close() }
        }
    }

    func testSmallFilesAreDownloadedWhenTheyAreShown() {
        onMain {
            let (server, view, media, window) = Self.show([.videos: .small, .audio: .small, .files: .small])
            let small = Set(Self.files.prefix(4).map(\.uri))
            XCTAssertTrue(MainLoop.pump { Set(server.requested).isSuperset(of: small) }, "\(server.requested)")
            XCTAssertTrue(MainLoop.pump { view.player?.showsPoster == true }, "the film has its still image")
            XCTAssertEqual(server.requested.sorted(), small.sorted(), "each once, and nothing large")
            XCTAssertNil(view.player?.stream, "nothing plays")
            withExtendedLifetime(media) { window.close() }
        }
    }
}
