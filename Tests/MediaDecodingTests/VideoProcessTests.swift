import ChatTestSupport
import Foundation
import MediaDecoding
import Testing

/// The process that decodes video and audio, started as the application starts it.
struct VideoProcessTests {
    /// The records of a process.
    private struct Playback {
        var media: VideoRecord?
        var frames: [(width: Int, height: Int, time: Int)] = []
        var samples = 0
        var firstAudio: Int?
        var end: VideoRecord?
    }

    private func play(_ path: String, _ width: Int = 320, _ height: Int = 320, from time: Int = 0) throws -> Playback {
        let process = try ImageProcess(film: .video, path: path, width: width, height: height, from: time)
        defer { process.finish() }
        var playback = Playback()
        while playback.end == nil {
            let record = process.videoRecord()
            switch record {
            case .media: playback.media = record
            case .frame(let width, let height, let time):
                playback.frames.append((width, height, time))
                skip(width * height * 4, process)
            case .audio(let samples, let time):
                playback.samples += samples
                playback.firstAudio = playback.firstAudio ?? time
                skip(samples * 4, process)
            case .end, .failure: playback.end = record
            }
        }
        return playback
    }

    private func skip(_ count: Int, _ process: ImageProcess) {
        var bytes = [UInt8](repeating: 0, count: count)
        _ = bytes.withUnsafeMutableBytes { process.read(into: $0) }
    }

    @Test func framesAndAudioHaveTimestamps() throws {
        let playback = try play(SampleVideos.webM.path)
        #expect(playback.media == .media(duration: 3008, width: 160, height: 90, hasAudio: true))
        #expect(playback.frames.count == 30)
        #expect(playback.frames.map(\.time) == playback.frames.map(\.time).sorted())
        #expect(playback.frames.allSatisfy { $0.width == 160 && $0.height == 90 })
        #expect(abs(playback.samples - 3 * VideoLimits.sampleRate) < 2000)
        #expect(playback.end == .end)
    }

    /// Returns the native display size, with rotation and aspect ratio applied, whatever size was requested.
    @Test func sizeAndDurationCanBeReadAlone() throws {
        for (file, record) in [
            (SampleVideos.webM, VideoRecord.media(duration: 3008, width: 160, height: 90, hasAudio: true)),
            (SampleVideos.rotated, .media(duration: 1000, width: 54, height: 96, hasAudio: false)),
            (SampleVideos.audio, .media(duration: 2000, width: 0, height: 0, hasAudio: true)),
        ] {
            let process = try ImageProcess(film: .size, path: file.path, width: 16, height: 16)
            defer { process.finish() }
            #expect(process.videoRecord() == record)
            #expect(process.videoRecord() == .end)
        }
    }

    @Test func playbackStartsAtTheRequestedTime() throws {
        let playback = try play(SampleVideos.webM.path, from: 2000)
        #expect((1999...2120).contains(playback.frames.first?.time ?? 0))
        #expect((2000...2030).contains(playback.firstAudio ?? 0))
        #expect((9...11).contains(playback.frames.count))
        #expect(try play(SampleVideos.webM.path, from: 100_000).frames.isEmpty, "beyond the end there is nothing")
    }

    @Test func framesAreScaledToTheDisplaySize() throws {
        #expect(try play(SampleVideos.webM.path, 80, 80).frames.allSatisfy { $0.width == 80 && $0.height == 45 })
    }

    @Test func audioHasNoFrames() throws {
        let playback = try play(SampleVideos.audio.path)
        #expect(playback.media == .media(duration: 2000, width: 0, height: 0, hasAudio: true))
        #expect(playback.frames.isEmpty)
        #expect(abs(playback.samples - 2 * VideoLimits.sampleRate) < 2000)
    }

    @Test func rotatedVideoIsDisplayedUpright() throws {
        let process = try ImageProcess(film: .still, path: SampleVideos.rotated.path, width: 320, height: 320)
        defer { process.finish() }
        #expect(process.record() == .info(width: 54, height: 96, isAnimated: false))
        #expect(process.record() == .frame(width: 54, height: 96, delay: 0))
        var pixels = [UInt8](repeating: 0, count: 54 * 96 * 4)
        #expect(pixels.withUnsafeMutableBytes { process.read(into: $0) })
        // The stored color bars are vertical; rotated they are horizontal, white at the top and black at the bottom.
        func brightness(_ x: Int, _ y: Int) -> Int { (0..<3).reduce(0) { $0 + Int(pixels[(y * 54 + x) * 4 + $1]) } }
        #expect(brightness(20, 5) > 700)
        #expect(brightness(20, 92) < 60)
    }

    /// The process blocks on its output pipe here; meanwhile its confinement can be inspected.
    @Test func decoderCannotOpenFiles() throws {
        let process = try ImageProcess(film: .video, path: SampleVideos.webM.path, width: 320, height: 320)
        defer { process.finish() }
        _ = process.videoRecord()
        let folder = "/proc/\(process.identifier)"
        let limits = try String(contentsOfFile: "\(folder)/limits", encoding: .utf8)
        let status = try String(contentsOfFile: "\(folder)/status", encoding: .utf8)
        #expect(limits.contains(#/Max open files +3 /#))
        #expect(limits.contains(#/Max file size +0 /#))
        #expect(limits.contains(try Regex("Max address space +\(VideoLimits.memory) ")))
        #expect(status.contains("\nSeccomp:\t2\n"))
        #expect(status.contains("\nNoNewPrivs:\t1\n"))
    }

    /// Playlists, which name files and URLs, are rejected, and so are images.
    @Test(arguments: [
        "#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "ffconcat version 1.0\nfile /etc/passwd\n", "no film", "",
        "<?xml version=\"1.0\"?><MPD><Period/></MPD>",
    ])
    func nonVideoFilesAreRejected(text: String) throws {
        let folder = TemporaryFolder()
        try Data(text.utf8).write(to: folder.path("f"))
        #expect(try play(folder.path("f").path).end == .failure(.unknownFormat))
        try Data(SampleImages.png(width: 8, height: 8)).write(to: folder.path("f"))
        #expect(try play(folder.path("f").path).end == .failure(.unknownFormat))
        #expect(throws: ImageFailure.broken) { try play("/dev/zero") }
    }

    /// Damaged at many different positions, decoding ends with or without an error, within its resource limits.
    @Test(arguments: [SampleVideos.webM, SampleVideos.rotated, SampleVideos.audio])
    func damagedVideosEndWithinTheirLimits(file: URL) throws {
        let whole = [UInt8](try Data(contentsOf: file))
        let folder = TemporaryFolder()
        for seed in 0..<25 {
            var bytes = whole
            var state = UInt64(seed + 1) &* 0x9E37_79B9_7F4A_7C15
            for _ in 0..<(seed % 5 + 1) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 20)
            }
            if seed % 3 == 0 { bytes.removeLast(bytes.count * (seed % 7) / 8) }
            try Data(bytes).write(to: folder.path("f"))
            let playback = try play(folder.path("f").path)
            #expect(playback.end != nil)
            #expect(playback.frames.count < 1000 && playback.samples < 100 * VideoLimits.sampleRate)
        }
    }

    @Test func decoderRecordsAreValidated() {
        let records: [VideoRecord] = [
            .media(duration: 7, width: 320, height: 200, hasAudio: true), .frame(width: 2, height: 3, time: 99),
            .audio(samples: 480, time: 3), .end, .failure(.tooLarge),
        ]
        for record in records { #expect(VideoRecord(record.bytes) == record) }
        #expect(VideoRecord(VideoRecord.frame(width: 16000, height: 16000, time: 0).bytes) == nil)
        #expect(VideoRecord(VideoRecord.audio(samples: VideoLimits.samples + 1, time: 0).bytes) == nil)
        #expect(VideoRecord(ImageRecord.frame(width: 2, height: 2, delay: 0).bytes) == nil)
    }
}
