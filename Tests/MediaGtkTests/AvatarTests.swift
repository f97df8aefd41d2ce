import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkKit
import GtkTestSupport
import Synchronization
import XCTest

@testable import MediaGtk

/// Member and room avatars, decoded by the real decoder process.
final class AvatarTests: GtkTestCase {
    private final class Files: MediaService {
        let folder = TemporaryFolder()
        let fetched = Mutex<[String]>([])

        func content(of media: MediaReference) async throws -> URL {
            fetched.withLock { $0.append(media.uri) }
            let url = folder.path(media.uri)
            guard FileManager.default.fileExists(atPath: url.path) else { throw ChatError.notFound }
            return url
        }

        func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }

        func storeMedia(
            _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
        ) async throws -> MediaReference { throw ChatError.unreadableFile }
    }

    func testAvatarIsFetchedOnceForAllViews() throws {
        try onMain {
            let files = Files()
            try Data(SampleImages.png(width: 64, height: 32)).write(to: files.folder.path("ann"))
            let pictures = AvatarLoader(service: files)
            let views = (0..<20).map { _ in AvatarView(size: 30) }
            for view in views { view.show("Ann", "ann", from: pictures) }
            XCTAssert(MainLoop.pump(forAtMost: 20) { views.allSatisfy(\.hasImage) })
            XCTAssertEqual(files.fetched.withLock { $0 }, ["ann"])
            let late = AvatarView(size: 40)
            late.show("Ann", "ann", from: pictures)
            XCTAssertTrue(late.hasImage, "what is at hand needs no wait")
            late.show("Ann", nil, from: pictures)
            XCTAssertFalse(late.hasImage, "who has none is not shown as another")
        }
    }

    func testUnavailableAvatarShowsInitials() throws {
        try onMain {
            let files = Files()
            try Data("no picture".utf8).write(to: files.folder.path("broken"))
            let pictures = AvatarLoader(service: files)
            let (gone, broken) = (AvatarView(size: 30), AvatarView(size: 30))
            gone.show("Ann", "gone", from: pictures)
            broken.show("Bob", "broken", from: pictures)
            XCTAssert(MainLoop.pump(forAtMost: 20) { !gone.isLoading && !broken.isLoading })
            XCTAssertFalse(gone.hasImage || broken.hasImage)
            gone.show("Ann", "gone", from: pictures)
            XCTAssert(MainLoop.pump(forAtMost: 20) { !gone.isLoading })
            XCTAssertEqual(
                files.fetched.withLock { $0.filter { $0 == "gone" }.count }, 1, "not asked for again at once")
        }
    }

    func testRecycledRowIgnoresALateAvatar() throws {
        try onMain {
            let files = Files()
            try Data(SampleImages.png(width: 64, height: 64)).write(to: files.folder.path("ann"))
            let pictures = AvatarLoader(service: files)
            let (view, witness) = (AvatarView(size: 30), AvatarView(size: 30))
            view.show("Ann", "ann", from: pictures)
            view.show("Bob", nil, from: pictures)
            witness.show("Ann", "ann", from: pictures)
            XCTAssert(MainLoop.pump(forAtMost: 20) { witness.hasImage })
            XCTAssertFalse(view.hasImage)
        }
    }
}
