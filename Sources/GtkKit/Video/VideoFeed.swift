import Dispatch
import Foundation
import MediaDecoding

/// Decodes a video or audio file from a start time on a thread of its own, and reads ahead up to a limit.
nonisolated final class VideoFeed: Sendable {
    struct Media: Sendable {
        /// In milliseconds.
        var duration: Int
        /// The frame size in pixels; zero for audio alone.
        var width: Int
        var height: Int
        var hasAudio: Bool
    }

    enum Audio: Sendable {
        /// Interleaved 16-bit stereo samples, to be played from `time` on.
        case samples([Int16], time: Int)
        /// No audio until the given time.
        case silence(until: Int)
        case end
    }

    /// The read-ahead limits: bytes of frames, milliseconds of audio.
    private static let maxBuffered = (frames: 48 << 20, sound: 3000)

    private struct State {
        var media: Media?
        /// Weighted by bytes.
        var frames = VideoQueue<(picture: DecodedImage, time: Int)>()
        /// Weighted by sample values, two per stereo sample.
        var audio = VideoQueue<(samples: [Int16], time: Int)>()
        var failure: ImageFailure?
        var acceptsAudio = true
        var isRead = false
        var isStopped = false
        /// The decoder, once it has been started.
        var process: ImageProcess?

        var audioDuration: Int { audio.weight / 2 * 1000 / VideoLimits.sampleRate }
        var isFull: Bool {
            (frames.count >= 8 && frames.weight >= VideoFeed.maxBuffered.frames) || frames.count >= 48
                || audioDuration >= VideoFeed.maxBuffered.sound
        }
    }

    private let path: String
    private let box: (width: Int, height: Int)
    private let startTime: Int
    // Guarded by `condition`.
    private nonisolated(unsafe) var state = State()
    private let condition = NSCondition()

    /// - Parameter start: The start time in milliseconds.
    init(_ path: String, fitting width: Int, by height: Int, from start: Int) {
        self.path = path
        box = (width, height)
        startTime = start
    }

    /// Starts the decoder and reading, on a thread of its own: the disk may be slow to open the file and the program.
    /// - Parameter onChange: Called on the main queue when the media properties are known, and once more at the end.
    func start(_ onChange: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue(label: "film-feed", qos: .userInitiated).async { [self] in
            let process = startedProcess()
            if let process { while handle(process.videoRecord(), from: process, onChange) {} }
            withState { $0.isRead = true }
            process?.finish()
            DispatchQueue.main.async(execute: onChange)
        }
    }

    /// - Returns: `nil` if the decoder cannot be started, or is no longer needed.
    private func startedProcess() -> ImageProcess? {
        guard withState({ !$0.isStopped }) else { return nil }
        do {
            let process = try ImageProcess(
                film: .video, path: path, width: box.width, height: box.height, from: startTime)
            let isStopped = withState { state in
                state.process = process
                return state.isStopped
            }
            // Too late for ``stop()``, which did not know the process.
            if isStopped { process.interrupt() }
            return process
        } catch {
            withState { if !$0.isStopped { $0.failure = error } }
            return nil
        }
    }

    /// Stops decoding; no more frames or samples arrive.
    func stop() {
        let process = withState { state in
            state.isStopped = true
            return state.process
        }
        process?.interrupt()
    }

    var media: Media? { withState { $0.media } }
    var failure: ImageFailure? { withState { $0.failure } }
    var hasFrames: Bool { withState { !$0.frames.isEmpty } }
    var hasAudio: Bool { withState { !$0.audio.isEmpty } }
    /// Whether the file has been read to its end and all buffers are empty.
    var isExhausted: Bool { withState { $0.isRead && $0.frames.isEmpty && $0.audio.isEmpty } }

    /// Whether no frame comes before audio has been played: all are read, or the buffers are full without one. Not after
    /// a failure, which is reported a moment later.
    var lacksFrames: Bool {
        withState { $0.frames.isEmpty && $0.failure == nil && ($0.isRead || $0.isFull) }
    }

    /// Whether audio is discarded because there is no output; the clock runs nevertheless.
    var isUnheard: Bool { withState { !$0.acceptsAudio } }

    /// Discards all audio, because there is no output.
    func disableAudio() {
        withState { state in
            state.acceptsAudio = false
            state.audio.removeAll()
        }
    }

    /// Returns the latest frame that is due at `time` in milliseconds, and drops earlier ones.
    func frame(at time: Double) -> DecodedImage? {
        withState { state in
            var image: DecodedImage?
            while let next = state.frames.first, Double(next.time) <= time {
                image = state.frames.popFirst()?.picture
            }
            return image
        }
    }

    /// Returns the first frame, regardless of its timestamp.
    func firstFrame() -> DecodedImage? {
        withState { $0.frames.popFirst()?.picture }
    }

    /// Blocks until audio after `playbackPosition` (milliseconds) is available. Not for the main thread.
    func nextAudio(after playbackPosition: Int) -> Audio {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        while !state.isStopped {
            if let next = state.audio.popFirst() { return .samples(next.samples, time: next.time) }
            if state.isRead { break }
            // The frame buffer is full without any audio: the audio track has a gap until the last frame.
            if state.isFull, let last = state.frames.last, last.time > playbackPosition {
                return .silence(until: last.time)
            }
            condition.wait()
        }
        return .end
    }

    private func withState<T>(_ body: (inout State) -> T) -> T {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        return body(&state)
    }

    /// - Returns: Whether to continue reading.
    private func handle(
        _ record: VideoRecord, from process: ImageProcess, _ onChange: @escaping @MainActor @Sendable () -> Void
    ) -> Bool {
        switch record {
        case .media(let duration, let width, let height, let hasAudio):
            withState { $0.media = Media(duration: duration, width: width, height: height, hasAudio: hasAudio) }
            DispatchQueue.main.async(execute: onChange)
        case .frame(let width, let height, let time):
            guard let image = DecodedImage(reading: process, width: width, height: height, isAnimated: true) else {
                return false
            }
            return append { $0.frames.append((image, time), weight: image.bytes) }
        case .audio(let count, let time):
            var samples = [Int16](repeating: 0, count: count * 2)
            guard samples.withUnsafeMutableBytes({ process.read(into: $0) }) else { return false }
            return append { if $0.acceptsAudio { $0.audio.append((samples, time), weight: samples.count) } }
        case .failure(let failure):
            withState { if !$0.isStopped { $0.failure = failure } }
            return false
        case .end: return false
        }
        return true
    }

    /// Blocks while the buffers are full.
    /// - Returns: `false` once stopped.
    private func append(_ body: (inout State) -> Void) -> Bool {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        while state.isFull, !state.isStopped {
            // Lets `nextAudio` detect a gap in the audio track.
            condition.broadcast()
            condition.wait()
        }
        guard !state.isStopped else { return false }
        body(&state)
        return true
    }
}
