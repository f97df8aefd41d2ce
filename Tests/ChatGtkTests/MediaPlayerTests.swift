import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk

/// Audio and video in messages, decoded by `parlance-video`.
final class MediaPlayerTests: GtkTestCase {
    struct Files: MediaService {
        let folder: URL
        func content(of media: MediaReference) async throws -> URL { folder.appending(path: media.uri) }
        func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }
        func storeMedia(
            _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
        ) async throws -> MediaReference { throw ChatError.unreadableFile }
    }

    /// One second of silence.
    private static var silence: Data { silence(seconds: 1) }

    /// Silence as WAV: 8,000 8-bit samples a second.
    static func silence(seconds: Int) -> Data {
        let count = 8000 * seconds
        func number<N: FixedWidthInteger>(_ value: N) -> [UInt8] { withUnsafeBytes(of: value.littleEndian, Array.init) }
        var bytes = Array("RIFF".utf8) + number(UInt32(36 + count)) + Array("WAVEfmt ".utf8) + number(UInt32(16))
        bytes += number(UInt16(1)) + number(UInt16(1)) + number(UInt32(8000)) + number(UInt32(8000))
        bytes += number(UInt16(1)) + number(UInt16(8)) + Array("data".utf8) + number(UInt32(count))
        return Data(bytes + [UInt8](repeating: 128, count: count))
    }

    func testAudioPlaysOnRequest() throws {
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

    @MainActor
    private static func view(_ file: URL, _ type: String, width: Int? = nil, height: Int? = nil) -> AttachmentView {
        let media = MediaPresenter(service: Files(folder: file.deletingLastPathComponent()))
        let files = AttachmentView(media: media)
        files.show([
            MediaReference(uri: file.lastPathComponent, name: "film", type: type, width: width, height: height)
        ])
        // In the application the row list retains the presenter; here the view must.
        files.widget.onFinalize { _ = media }
        return files
    }

    /// A video shows its poster, plays to the end, seeks and plays again.
    func testVideoShowsPosterPlaysAndSeeks() throws {
        try onMain {
            let files = Self.view(SampleVideos.rotated, "video/mp4", width: 54, height: 96)
            let window = TestWindow(files.widget)
            let player = try XCTUnwrap(files.player)
            XCTAssertTrue(MainLoop.pump { player.showsPoster })
            XCTAssertNil(player.stream, "but nothing is played before")
            let height = files.widget.height
            try RealInput.activate(window.window)
            try RealInput.point(at: player.play)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { player.stream != nil })
            let stream = try XCTUnwrap(player.stream)
            XCTAssertTrue(MainLoop.pump { gtk_media_stream_get_ended(stream.cast()) != 0 })
            XCTAssertEqual(files.widget.height, height, "nothing moved")
            XCTAssertEqual(gdk_paintable_get_intrinsic_width(stream.cast()), 54)
            XCTAssertEqual(gtk_media_stream_get_duration(stream.cast()), 1_000_000, "microseconds")
            XCTAssertEqual(gtk_media_stream_has_audio(stream.cast()), 0)
            gtk_media_stream_play(stream.cast())
            gtk_media_stream_seek(stream.cast(), 800_000)
            XCTAssertTrue(MainLoop.pump { gtk_media_stream_get_timestamp(stream.cast()) >= 800_000 })
            XCTAssertTrue(MainLoop.pump { gtk_media_stream_get_ended(stream.cast()) != 0 })
            window.close()
        }
    }

    /// Without an audio device, a video with sound follows the wall clock.
    func testVideoWithSoundPlaysWithoutAnAudioDevice() throws {
        try onMain {
            let files = Self.view(SampleVideos.webM, "video/webm", width: 160, height: 90)
            let window = TestWindow(files.widget)
            let player = try XCTUnwrap(files.player)
            try RealInput.activate(window.window)
            try RealInput.point(at: player.play)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { player.stream != nil })
            let stream = try XCTUnwrap(player.stream)
            XCTAssertTrue(MainLoop.pump { gtk_media_stream_get_timestamp(stream.cast()) > 300_000 })
            XCTAssertEqual(gtk_media_stream_has_audio(stream.cast()), 1)
            gtk_media_stream_pause(stream.cast())
            let place = gtk_media_stream_get_timestamp(stream.cast())
            gtk_media_stream_seek(stream.cast(), 2_500_000)
            gtk_media_stream_play(stream.cast())
            XCTAssertTrue(MainLoop.pump { gtk_media_stream_get_ended(stream.cast()) != 0 })
            XCTAssertGreaterThan(gtk_media_stream_get_timestamp(stream.cast()), place)
            window.close()
        }
    }

    /// Without a seek in between, which begins a new process and clock.
    func testPlaybackGoesOnAfterAPause() {
        onMain {
            for (file, isVideo) in [(SampleVideos.audio, false), (SampleVideos.webM, true)] {
                let stream = VideoStream.open(file, fitting: 160, by: 90)
                stream.play()
                XCTAssertTrue(MainLoop.pump { stream.position > 200_000 })
                stream.pause()
                let position = stream.position
                _ = MainLoop.pump(forAtMost: 0.1) { false }
                XCTAssertEqual(stream.position, position)
                stream.play()
                XCTAssertTrue(MainLoop.pump { stream.position > position + 200_000 }, "\(isVideo)")
                XCTAssertTrue(MainLoop.pump { stream.hasEnded }, "\(isVideo)")
            }
        }
    }

    /// Behind the last frame nothing is left to wait for.
    func testPausedVideoAtItsEndWakesNothingUp() {
        onMain {
            // With sound, and without.
            for file in [SampleVideos.webM, SampleVideos.rotated] {
                let object = VideoStream.open(file, fitting: 160, by: 90)
                XCTAssertTrue(MainLoop.pump { object.isPrepared })
                object.seek(to: object.duration)
                let stream = VideoStreamType.stream(of: object.pointer)
                XCTAssertTrue(MainLoop.pump { stream?.isActive == false })
                object.play()
                XCTAssertTrue(MainLoop.pump { object.hasEnded }, file.lastPathComponent)
                XCTAssertFalse(object.isPlaying)
            }
        }
    }

    func testOneMessagePlaysAtATime() throws {
        try onMain {
            let media = MediaPresenter(service: Files(folder: SampleVideos.audio.deletingLastPathComponent()))
            let name = SampleVideos.audio.lastPathComponent
            let box = Box(.vertical)
            let views = [1, 2].map { _ in
                let view = AttachmentView(media: media)
                view.show([MediaReference(uri: name, name: name, type: "audio/ogg", duration: 2000, loudness: [1, 2])])
                box.append(view.widget)
                return view
            }
            let window = TestWindow(box)
            let voices = try views.map { try XCTUnwrap($0.voice) }
            try RealInput.activate(window.window)
            for voice in voices {
                try RealInput.point(at: voice.play)
                // The pointer may take longer than the two seconds of the first.
                voices[0].stream?.play()
                voices[0].stream?.seek(to: 0)
                try RealInput.click()
                XCTAssertTrue(MainLoop.pump { voice.stream?.isPlaying == true })
            }
            XCTAssertEqual(voices.map { $0.stream?.isPlaying }, [false, true])
            XCTAssertEqual(voices[0].stream?.hasEnded, false)
            voices[0].stream?.play()
            XCTAssertEqual(voices.map { $0.stream?.isPlaying }, [true, false])
            window.close()
        }
    }

    func testPlayingByKeyboardMovesTheFocusToTheControls() throws {
        try onMain {
            for (file, type) in [(SampleVideos.webM, "video/webm"), (SampleVideos.audio, "audio/ogg")] {
                let files = Self.view(file, type, width: 160, height: 90)
                let window = TestWindow(files.widget)
                let player = try XCTUnwrap(files.player)
                try RealInput.activate(window.window)
                player.play.grabFocus()
                try RealInput.press("space")
                XCTAssertTrue(MainLoop.pump { player.stream != nil })
                XCTAssertTrue(MainLoop.pump { player.widget.root?.focus != nil }, type)
                let stream = try XCTUnwrap(player.stream)
                XCTAssertTrue(MainLoop.pump { stream.isPlaying })
                try RealInput.press("space")
                XCTAssertTrue(MainLoop.pump { !stream.isPlaying }, type)
                XCTAssertFalse(stream.hasEnded, type)
                window.close()
            }
        }
    }

    /// Dropping the last reference to a stream finalizes it and ends its process.
    func testStreamIsFinalizedWithItsView() {
        onMain {
            var stream: Object? = VideoStream.open(SampleVideos.webM, fitting: 160, by: 90)
            var isGone = false
            stream?.onFinalize { isGone = true }
            if let stream {
                gtk_media_stream_play(stream.cast())
                XCTAssertTrue(MainLoop.pump { gtk_media_stream_is_prepared(stream.cast()) != 0 })
            }
            stream = nil
            XCTAssertTrue(MainLoop.pump { isGone })
        }
    }

    /// Without an audio device, playback follows the wall clock.
    func testVoiceMessagePlaysAndSeeks() throws {
        try onMain {
            let media = MediaPresenter(service: Files(folder: SampleVideos.audio.deletingLastPathComponent()))
            let files = AttachmentView(media: media)
            let name = SampleVideos.audio.lastPathComponent
            let loudness = (0..<50).map { $0 * 20 }
            files.show([
                MediaReference(uri: name, name: name, type: "audio/ogg", duration: 2000, loudness: loudness)
            ])
            let window = TestWindow(files.widget)
            let voice = try XCTUnwrap(files.voice)
            XCTAssertNil(files.player, "there is one way to play it")
            XCTAssertNil(voice.stream, "nothing is read before")
            try RealInput.activate(window.window)
            try RealInput.point(at: voice.play)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { voice.bars.playbackPosition > 0.05 })
            XCTAssertEqual(voice.play.tooltip, "Pause")
            let stream = try XCTUnwrap(voice.stream)
            voice.bars.onSeek?(0.9)
            XCTAssertTrue(MainLoop.pump { voice.bars.playbackPosition >= 0.9 })
            XCTAssertTrue(
                MainLoop.pump { gtk_media_stream_get_ended(stream.cast()) != 0 && voice.bars.playbackPosition == 0 })
            XCTAssertTrue(MainLoop.pump { voice.play.tooltip == "Play" })
            files.widget.isVisible = false
            XCTAssertNil(voice.problem)
            window.close()
        }
    }

    /// An arrow key seeks by five seconds, in so short a message to one of its ends.
    func testArrowKeysSeekInAVoiceMessage() throws {
        try onMain {
            let media = MediaPresenter(service: Files(folder: SampleVideos.audio.deletingLastPathComponent()))
            let files = AttachmentView(media: media)
            let name = SampleVideos.audio.lastPathComponent
            files.show([MediaReference(uri: name, name: name, type: "audio/ogg", duration: 2000, loudness: [1, 2])])
            let window = TestWindow(files.widget)
            let voice = try XCTUnwrap(files.voice)
            try RealInput.activate(window.window)
            try RealInput.point(at: voice.play)
            try RealInput.click()
            XCTAssertTrue(MainLoop.pump { voice.bars.playbackPosition > 0.05 })
            let stream = try XCTUnwrap(voice.stream)
            stream.pause()
            voice.bars.onSeek?(0.5)
            XCTAssertTrue(
                MainLoop.pump { abs(voice.bars.playbackPosition - 0.5) < 0.01 }, "\(voice.bars.playbackPosition)")
            voice.play.grabFocus()
            try RealInput.press("Left")
            XCTAssertTrue(MainLoop.pump { stream.position == 0 }, "\(stream.position)")
            try RealInput.press("Right")
            XCTAssertTrue(MainLoop.pump { stream.position == stream.duration }, "\(stream.position)")
            XCTAssertTrue(voice.play.isFocus, "the keys do not move the focus")
            window.close()
        }
    }

    /// Each video has its own process and thread, and never blocks another.
    func testTwoVideosPlayConcurrently() {
        onMain {
            let videos = [SampleVideos.webM, SampleVideos.rotated].map { VideoStream.open($0, fitting: 160, by: 160) }
            for video in videos { gtk_media_stream_play(video.cast()) }
            XCTAssertTrue(MainLoop.pump { videos.allSatisfy { gtk_media_stream_get_timestamp($0.cast()) > 200_000 } })
            XCTAssertTrue(
                videos.contains { gtk_media_stream_get_ended($0.cast()) == 0 }, "the longer one is still on its way")
            XCTAssertTrue(MainLoop.pump { videos.allSatisfy { gtk_media_stream_get_ended($0.cast()) != 0 } })
        }
    }

    /// The disk may be slow, also to say that a file is missing.
    func testFileIsOpenedWithoutTheMainThread() {
        onMain {
            let stream = VideoStream.open(URL(fileURLWithPath: "/nowhere/film.webm"), fitting: 160, by: 90)
            stream.play()
            XCTAssertFalse(stream.hasFailed, "it is not looked for yet")
            XCTAssertTrue(MainLoop.pump { stream.hasFailed })
        }
    }

    func testUnplayableVideoShowsAnError() throws {
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
