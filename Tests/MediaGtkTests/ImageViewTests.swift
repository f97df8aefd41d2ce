import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import MediaDecoding
import Observation
import XCTest

@testable import GtkKit
@testable import MediaGtk

/// Whether animations play, as the user changes it.
@MainActor @Observable
private final class AnimationPreference {
    var isOn = true
}

/// Images in messages and in the viewer, decoded by the real process.
final class ImageViewTests: GtkTestCase {
    @MainActor
    private final class Bench {
        let media: MediaPresenter
        let window: TestWindow
        let holder = Box(.vertical)
        private let folder = TemporaryFolder()
        private var contents = Contents()

        /// File URLs of media; written on the main thread, read on any.
        private final class Contents: @unchecked Sendable {
            var urls: [String: URL] = [:]
            var requested: [String] = []
            let gate = AsyncStream.makeStream(of: Void.self)
        }

        private struct Files: MediaService {
            let contents: Contents

            func content(of media: MediaReference) async throws -> URL {
                await MainActor.run { contents.requested.append(media.uri) }
                guard let url = contents.urls[media.uri] else { throw ChatError.notFound }
                if media.name.hasPrefix("slow") { for await _ in contents.gate.stream { break } }
                return url
            }

            func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }
            func cachedContent(of media: MediaReference) async -> URL? { nil }

            func storeMedia(
                _ content: MediaContent, named name: String, type: String,
                progress: @escaping @Sendable (Double) -> Void
            ) async throws -> MediaReference { throw ChatError.unreadableFile }
        }

        init() {
            media = MediaPresenter(service: Files(contents: contents), avatars: nil, texts: .plain)
            gtk_widget_set_vexpand(holder.cast(), 1)
            window = TestWindow(holder, width: 360, height: 500)
        }

        func file(_ name: String, _ bytes: [UInt8], width: Int? = nil, height: Int? = nil) throws -> MediaReference {
            let url = folder.path(name)
            try Data(bytes).write(to: url)
            contents.urls[name] = url
            return MediaReference(uri: name, name: name, type: "image/x", width: width, height: height)
        }

        /// The contents that were requested, in order.
        var requested: [String] { contents.requested }

        /// Lets pending slow downloads complete.
        func open() { contents.gate.continuation.finish() }

        func part(_ file: MediaReference) -> ImageContentView {
            let part = ImageContentView(file, media)
            holder.append(part.widget)
            return part
        }

        /// Asserts that a condition becomes true, and returns as soon as it does.
        func wait(_ what: String, until isSo: @escaping @MainActor () -> Bool, line: UInt = #line) {
            XCTAssert(MainLoop.pump(forAtMost: 20, until: isSo), what, line: line)
        }
    }

    func testImageSizeIsReservedBeforeLoading() throws {
        try onMain {
            let bench = Bench()
            let file = try bench.file(
                "a.png", SampleImages.png(width: 640, height: 320), width: 640, height: 320)
            let part = bench.part(file)
            bench.wait("laid out") { part.widget.height > 0 }
            let before = (part.widget.width, part.widget.height)
            bench.wait("shown") { part.isDisplayed }
            _ = MainLoop.pump { part.widget.width > 0 }
            XCTAssert(before == (part.widget.width, part.widget.height))
            XCTAssertEqual(part.widget.height * 2, part.widget.width)
            bench.window.close()
        }
    }

    /// Shows the placeholder of any sender's image until the image is loaded.
    func testPlaceholderIsShownUntilTheImageLoads() throws {
        try onMain {
            let bench = Bench()
            var file = try bench.file("slow.png", SampleImages.png(width: 64, height: 32), width: 64, height: 32)
            file.blurHash = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
            let part = bench.part(file)
            bench.wait("blurred") { part.showsPlaceholder }
            XCTAssertNotNil(bench.media.previews.cachedPlaceholder(of: file), "the next row has it at once")
            var malformed = file
            malformed.blurHash = "~~~~~~~~"
            let other = bench.part(malformed)
            bench.open()
            bench.wait("both shown") { part.isDisplayed && other.isDisplayed }
            XCTAssertFalse(part.showsPlaceholder)
            XCTAssertNil(bench.media.previews.cachedPlaceholder(of: malformed))
            bench.window.close()
        }
    }

    func testUndisplayableImageShowsTheReason() throws {
        try onMain {
            let bench = Bench()
            let bad = [
                ("cut.png", Array(SampleImages.png(width: 64, height: 64).prefix(30)), ImageFailure.broken),
                ("huge.png", SampleImages.png(width: 1, height: 1, claims: (30_000, 30_000)), .tooLarge),
                ("x.svg", Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), .unknownFormat),
            ]
            for (name, bytes, failure) in bad {
                let part = bench.part(try bench.file(name, bytes))
                bench.wait(name) { part.problem == MediaTexts.plain.problem(failure.problem) }
            }
            let missing = bench.part(MediaReference(uri: "gone", name: "gone", type: "image/png"))
            bench.wait("missing") { missing.problem != nil }
            XCTAssertFalse(
                bad.map { MediaTexts.plain.problem($0.2.problem) }.contains(missing.problem ?? ""),
                "it is none of a decoder's")
            bench.window.close()
        }
    }

    func testFailedDownloadCanBeRetried() throws {
        try onMain {
            let bench = Bench()
            let part = bench.part(MediaReference(uri: "late.png", name: "late.png", type: "image/png"))
            bench.wait("missing") { part.problem != nil && part.button.width > 0 }
            _ = try bench.file("late.png", SampleImages.png(width: 64, height: 32))
            try RealInput.activate(bench.window.window)
            try RealInput.point(at: part.button)
            try RealInput.click()
            bench.wait("shown") { part.isDisplayed && part.problem == nil }
            XCTAssertNil(bench.media.viewer)
            bench.window.close()
        }
    }

    /// Images that the preferences do not load automatically load on a click.
    func testLargeImagesWaitForAClick() throws {
        try onMain {
            let bench = Bench()
            bench.media.preferences = {
                MediaPreferences(choices: [.images: .small, .animations: .never], smallBytes: 1000)
            }
            let bytes = SampleImages.png(width: 64, height: 32)
            var large = try bench.file("large.png", bytes, width: 64, height: 32)
            large.bytes = 1001
            var moving = try bench.file("moving.gif", SampleImages.gif(frames: 2), width: 64, height: 32)
            (moving.media.type, moving.bytes) = ("image/gif", 10)
            let unknown = try bench.file("unknown.png", bytes, width: 64, height: 32)
            var small = try bench.file("small.png", bytes, width: 64, height: 32)
            small.bytes = 1000
            let (waiting, others) = (bench.part(large), [moving, unknown].map { bench.part($0) })
            let loaded = bench.part(small)
            bench.wait("loaded") { loaded.isDisplayed }
            bench.wait("waiting") { ([waiting] + others).allSatisfy { $0.problem != nil } }
            XCTAssertEqual(waiting.problem, MediaTexts.plain.problem(.notLoaded(bytes: 1001)), "it says the size")
            XCTAssertEqual(bench.requested, ["small.png"], "nothing else is downloaded")
            try RealInput.activate(bench.window.window)
            try RealInput.point(at: waiting.button)
            try RealInput.click()
            bench.wait("loaded after the click") { waiting.isDisplayed }
            XCTAssertEqual(bench.requested, ["small.png", "large.png"])
            bench.window.close()
        }
    }

    func testAnimationsCanBeSwitchedOff() throws {
        try onMain {
            let bench = Bench()
            bench.media.preferences = { MediaPreferences(playsAnimations: false) }
            let part = bench.part(try bench.file("a.gif", SampleImages.gif(frames: 2)))
            bench.wait("shown") { part.isDisplayed }
            XCTAssertNil(part.player)
            bench.window.close()
        }
    }

    func testAnimationsFollowThePreferenceWhileTheyAreShown() throws {
        try onMain {
            let (bench, preference) = (Bench(), AnimationPreference())
            bench.media.preferences = { MediaPreferences(playsAnimations: preference.isOn) }
            let part = bench.part(try bench.file("a.gif", SampleImages.gif(frames: 2), width: 40, height: 40))
            bench.wait("plays") { part.player?.isPlaying == true }
            preference.isOn = false
            bench.wait("stops") { part.player == nil && ImagePlayer.running == 0 }
            XCTAssertTrue(part.isDisplayed, "the frame stays")
            preference.isOn = true
            bench.wait("plays again") { (part.player?.displayedFrameCount ?? 0) > 1 }
            preference.isOn = false
            bench.wait("stops again") { part.player == nil }
            while MainLoop.iterate() {}
            let closures = ClosureCount.live
            for _ in 0..<2 {
                preference.isOn = true
                bench.wait("plays") { part.player?.isPlaying == true }
                preference.isOn = false
                bench.wait("stops") { part.player == nil }
            }
            bench.wait("no handler is left") { ClosureCount.live <= closures }
            bench.window.close()
        }
    }

    func testAnimatedImagesPlayOnlyWhileVisible() throws {
        try onMain {
            let bench = Bench()
            for (name, bytes) in [
                ("a.gif", SampleImages.gif(frames: 2)), ("a.webp", SampleImages.movingWebP(frames: 3)),
            ] {
                let part = bench.part(try bench.file(name, bytes, width: 40, height: 40))
                bench.wait("plays \(name)") { (part.player?.displayedFrameCount ?? 0) >= 4 }
                XCTAssertEqual(ImagePlayer.running, 1)
                part.widget.isVisible = false
                XCTAssertEqual(ImagePlayer.running, 0, "out of sight nothing is decoded")
                let shown = part.player?.displayedFrameCount ?? 0
                part.widget.isVisible = true
                bench.wait("plays again") { (part.player?.displayedFrameCount ?? 0) > shown }
                part.widget.isVisible = false
            }
            bench.window.close()
        }
    }

    func testAnimatedImagesHonorDisabledAnimations() throws {
        try onMain {
            let bench = Bench()
            let settings = Object(
                borrowing: UnsafeMutableRawPointer(try XCTUnwrap(gtk_widget_get_settings(bench.holder.cast()))))
            settings.setProperty("gtk-enable-animations", false)
            defer { settings.setProperty("gtk-enable-animations", true) }
            let part = bench.part(try bench.file("a.gif", SampleImages.gif(frames: 2)))
            bench.wait("shown") { part.isDisplayed && part.player != nil }
            XCTAssertEqual(part.player?.isPlaying, false)
            XCTAssertEqual(part.player?.displayedFrameCount, 0)
            settings.setProperty("gtk-enable-animations", true)
            bench.wait("plays once it may") { (part.player?.displayedFrameCount ?? 0) > 1 }
            bench.window.close()
        }
    }

    func testConcurrentlyPlayingImagesAreLimited() throws {
        try onMain {
            let bench = Bench()
            let file = try bench.file("a.gif", SampleImages.gif(frames: 2), width: 30, height: 30)
            var parts = (0..<6).map { _ in bench.part(file) }
            bench.wait("some play") { ImagePlayer.running == ImagePlayer.maxConcurrent }
            XCTAssertEqual(parts.filter { $0.player?.isPlaying == true }.count, ImagePlayer.maxConcurrent)
            for part in parts { bench.holder.remove(part.widget) }
            parts = []
            bench.wait("all end") { ImagePlayer.running == 0 }
            bench.window.close()
        }
    }

    // MARK: The viewer

    func testViewerNavigatesImagesByKeyboard() throws {
        try onMain {
            let bench = Bench()
            let files = try [
                bench.file("a.png", SampleImages.png(width: 1600, height: 800)),
                bench.file("b.jpg", SampleImages.jpeg), bench.file("c.png", [1, 2, 3]),
            ]
            bench.media.images = { files }
            bench.media.view(files[0], over: bench.holder)
            let viewer = try XCTUnwrap(bench.media.viewer)
            bench.wait("decoded") { viewer.isDisplayed }
            try RealInput.activate(viewer.window)
            try RealInput.press("Right")
            bench.wait("next") { viewer.index == 1 && viewer.isDisplayed }
            try RealInput.press("Right")
            bench.wait("a broken one says so") { viewer.index == 2 && viewer.message.isVisible }
            XCTAssertEqual(viewer.message.text, MediaTexts.plain.problem(.unsupportedImageFormat))
            try RealInput.press("Right")
            try RealInput.press("Left")
            bench.wait("back") { viewer.index == 1 && viewer.isDisplayed && !viewer.message.isVisible }
            try RealInput.press("Escape")
            bench.wait("closed") { bench.media.viewer == nil }
            bench.window.close()
        }
    }

    func testViewerZoomsAndPans() throws {
        try onMain {
            let bench = Bench()
            let file = try bench.file("a.png", SampleImages.png(width: 1600, height: 800))
            bench.media.view(file, over: bench.holder)
            let viewer = try XCTUnwrap(bench.media.viewer)
            bench.wait("decoded") { viewer.isDisplayed && viewer.zoom.widget.width > 0 }
            let zoom = viewer.zoom
            let fitting = Double(zoom.widget.width) / 1600
            XCTAssertEqual(zoom.scale, fitting, accuracy: 0.001)
            try RealInput.activate(viewer.window)
            try RealInput.press("plus")
            bench.wait("larger") { abs(zoom.scale - fitting * 1.25) < 0.001 }
            try RealInput.press("1")
            bench.wait("a pixel for a pixel") { zoom.scale == 1 }
            zoom.move(to: (10_000, 10_000))
            XCTAssertEqual(zoom.shift.x, (1600 - Double(zoom.widget.width)) / 2, accuracy: 0.5)
            XCTAssertEqual(zoom.shift.y, max(0, (800 - Double(zoom.widget.height)) / 2), accuracy: 0.5)
            zoom.setScale(1e9)
            XCTAssertEqual(zoom.scale, ZoomableImage.maxScale)
            try RealInput.press("0")
            bench.wait("fits") { zoom.isFitting }
            XCTAssert(zoom.shift == (0, 0))
            gtk_window_close(viewer.window.cast())
            bench.wait("closed") { bench.media.viewer == nil }
            bench.window.close()
        }
    }

    func testClosedViewerIsFreed() throws {
        try onMain {
            let bench = Bench()
            let file = try bench.file("a.gif", SampleImages.gif(frames: 2))
            let closures = ClosureCount.live
            var finalized = false
            try Self.viewAndClose(file, bench) { finalized = true }
            XCTAssertTrue(MainLoop.pump { finalized }, "the viewer is finalised")
            XCTAssertTrue(MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures)")
            bench.wait("nothing plays on") { ImagePlayer.running == 0 }
            bench.window.close()
        }
    }

    @MainActor
    private static func viewAndClose(
        _ file: MediaReference, _ bench: Bench, onFinalize: @escaping () -> Void
    ) throws {
        bench.media.view(file, over: bench.holder)
        let viewer = try XCTUnwrap(bench.media.viewer)
        bench.wait("plays") { viewer.isDisplayed && ImagePlayer.running == 1 }
        viewer.window.onFinalize(onFinalize)
        gtk_window_close(viewer.window.cast())
        bench.wait("closed") { bench.media.viewer == nil }
    }

    /// Zooming keeps the point under the pointer fixed.
    func testZoomingKeepsThePointUnderThePointer() {
        onMain {
            let widget = ZoomableImage.make()
            guard let zoom = ZoomableImage.of(widget) else { return XCTFail("no implementation") }
            let window = TestWindow(widget, width: 400, height: 400)
            zoom.show(nil, width: 800, height: 800, keepsPosition: false)
            zoom.setScale(2)
            zoom.move(to: (50, -30))
            let place = (x: 80.0, y: 40.0)
            let under = ((place.x - zoom.shift.x) / zoom.scale, (place.y - zoom.shift.y) / zoom.scale)
            zoom.setScale(3, around: place)
            XCTAssertEqual((place.x - zoom.shift.x) / zoom.scale, under.0, accuracy: 0.001)
            XCTAssertEqual((place.y - zoom.shift.y) / zoom.scale, under.1, accuracy: 0.001)
            window.close()
        }
    }
}
