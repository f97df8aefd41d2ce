import ChatCore
import ChatTestSupport
import Foundation
import GtkKit
import GtkTestSupport
import MediaDecoding
import XCTest

@testable import MediaGtk

/// Metadata read from a file when it is attached, by the real decoder processes.
final class MediaInfoTests: GtkTestCase {
    func testImageInfoHasSizeAndBlurHash() throws {
        try onMain {
            let folder = TemporaryFolder()
            for (name, bytes, width, height) in [
                ("a.png", SampleImages.png(width: 640, height: 320, shade: 4), 640, 320),
                ("turned.jpg", SampleImages.turnedJPEG, 8, 16), ("a.gif", SampleImages.gif(frames: 3), 4, 4),
            ] {
                try Data(bytes).write(to: folder.path(name))
                let look = try XCTUnwrap(finish { await MediaInfo.ofImage(folder.path(name)) })
                XCTAssert(look.size.map { $0 == (width, height) } == true, name)
                XCTAssertNotNil(look.blurHash.flatMap { BlurHash($0) }, name)
                XCTAssertNil(look.duration)
            }
            try Data("text".utf8).write(to: folder.path("b.png"))
            XCTAssertNil(try finish { await MediaInfo.ofImage(folder.path("b.png")) })
        }
    }

    func testVideoInfoHasSizeDurationAndPoster() throws {
        try onMain {
            let video = try XCTUnwrap(finish { await MediaInfo.ofVideoOrAudio(SampleVideos.rotated) })
            XCTAssert(video.size.map { $0 == (54, 96) } == true, "seen upright")
            XCTAssertEqual(video.duration, 1000)
            XCTAssertNotNil(video.blurHash.flatMap { BlurHash($0) })
            let folder = TemporaryFolder()
            try XCTUnwrap(video.poster).write(to: folder.path("poster.jpg"))
            let poster = try finish { try await ImageDecoder.load(folder.path("poster.jpg"), fitting: 96, by: 96) }
            XCTAssertEqual([poster.width, poster.height], [54, 96])
            let sound = try XCTUnwrap(finish { await MediaInfo.ofVideoOrAudio(SampleVideos.audio) })
            XCTAssertNil(sound.size)
            XCTAssertNil(sound.poster)
            XCTAssertEqual(sound.duration, 2000)
            XCTAssertNil(try finish { await MediaInfo.ofVideoOrAudio(folder.path("poster.jpg")) })
        }
    }
}
