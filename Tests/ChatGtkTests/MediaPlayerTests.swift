import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk

/// Sounds and films in messages, played by the real GStreamer.
final class MediaPlayerTests: GtkTestCase {
    private struct Files: MediaService {
        let folder: URL
        func content(of media: MediaReference) async throws -> URL { folder.appending(path: media.uri) }
        func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }
        func takeIn(
            _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
        ) async throws -> MediaReference { throw ChatError.unreadableFile }
    }

    /// A second of silence, 8,000 samples of 8 bits.
    private static var silence: Data {
        func number<N: FixedWidthInteger>(_ value: N) -> [UInt8] { withUnsafeBytes(of: value.littleEndian, Array.init) }
        var bytes = Array("RIFF".utf8) + number(UInt32(36 + 8000)) + Array("WAVEfmt ".utf8) + number(UInt32(16))
        bytes += number(UInt16(1)) + number(UInt16(1)) + number(UInt32(8000)) + number(UInt32(8000))
        bytes += number(UInt16(1)) + number(UInt16(8)) + Array("data".utf8) + number(UInt32(8000))
        return Data(bytes + [UInt8](repeating: 128, count: 8000))
    }

    func testASoundIsPlayedWhenAskedFor() throws {
        try onMain {
            let folder = TemporaryFolder()
            try Self.silence.write(to: folder.url.appending(path: "s.wav"))
            let media = MediaPresenter(service: Files(folder: folder.url))
            let files = AttachmentView(media: media)
            files.show([MediaReference(uri: "s.wav", name: "s.wav", type: "audio/x-wav")])
            let window = TestWindow(files.widget)
            let player = try XCTUnwrap(files.player)
            XCTAssertNil(player.stream, "nothing is read before")
            try RealInput.activate(window.window)
            try RealInput.point(at: player.play)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { player.stream.map { gtk_media_stream_is_prepared($0.cast()) != 0 } ?? false })
            XCTAssertNil(player.problem)
            let stream = try XCTUnwrap(player.stream)
            XCTAssertEqual(gtk_media_stream_get_duration(stream.cast()), 1_000_000, "microseconds")
            files.widget.isVisible = false
            XCTAssertTrue(MainLoop.pump { gtk_media_stream_get_playing(stream.cast()) == 0 }, "not out of sight")
            window.close()
        }
    }

    func testWhatCannotBePlayedSaysSo() throws {
        try onMain {
            let folder = TemporaryFolder()
            try Data("no film".utf8).write(to: folder.url.appending(path: "f.mp4"))
            let files = AttachmentView(media: MediaPresenter(service: Files(folder: folder.url)))
            files.show([MediaReference(uri: "f.mp4", name: "f.mp4", type: "video/mp4", width: 320, height: 180)])
            let window = TestWindow(files.widget)
            let player = try XCTUnwrap(files.player)
            try RealInput.activate(window.window)
            try RealInput.point(at: player.play)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { player.problem != nil })
            XCTAssertNil(player.stream)
            window.close()
        }
    }
}
