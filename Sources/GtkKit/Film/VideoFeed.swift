import Dispatch
import Foundation
import PictureDecoding

/// What a process decodes of a film or a sound from some time on: read ahead on a thread of its own, as far as a bound.
nonisolated final class VideoFeed: Sendable {
    struct Media: Sendable {
        /// Milliseconds.
        var duration: Int
        /// Of a frame, in pixels; 0 for a sound alone.
        var width: Int
        var height: Int
        var hasAudio: Bool
    }

    enum Audio: Sendable {
        /// Samples of two channels, 16 bits each, to be heard from `time` on.
        case samples([Int16], time: Int)
        /// Nothing is heard until then.
        case silence(until: Int)
        case end
    }

    /// The most that waits to be shown and heard: bytes of frames, milliseconds of sound.
    private static let maxBuffered = (frames: 48 << 20, sound: 3000)

    private struct State {
        var media: Media?
        /// Weighed in bytes.
        var frames = VideoQueue<(picture: DecodedImage, time: Int)>()
        /// Weighed in numbers.
        var audio = VideoQueue<(samples: [Int16], time: Int)>()
        var failure: ImageFailure?
        var acceptsAudio = true
        var isRead = false
        var isStopped = false

        var audioDuration: Int { audio.weight / 2 * 1000 / VideoLimits.sampleRate }
        var isFull: Bool {
            (frames.count >= 8 && frames.weight >= VideoFeed.maxBuffered.frames) || frames.count >= 48
                || audioDuration >= VideoFeed.maxBuffered.sound
        }
    }

    private let process: ImageProcess
    // All of it behind the condition.
    private nonisolated(unsafe) var state = State()
    private let condition = NSCondition()

    /// - Parameter start: in milliseconds.
    init(_ path: String, fitting width: Int, by height: Int, from start: Int) throws(ImageFailure) {
        process = try ImageProcess(film: .video, path: path, width: width, height: height, from: start)
    }

    /// Begins to read.
    /// - Parameter onChange: called on the main queue when it is known what it is, and once more at the end.
    func start(_ onChange: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue(label: "film-feed", qos: .userInitiated).async { [self] in
            while handle(process.videoRecord(), onChange) {}
            withState { $0.isRead = true }
            process.finish()
            DispatchQueue.main.async(execute: onChange)
        }
    }

    /// Ends it; nothing comes any more.
    func stop() {
        withState { $0.isStopped = true }
        process.interrupt()
    }

    var media: Media? { withState { $0.media } }
    var failure: ImageFailure? { withState { $0.failure } }
    var hasFrames: Bool { withState { !$0.frames.isEmpty } }
    var hasAudio: Bool { withState { !$0.audio.isEmpty } }
    /// Whether all has been read, and taken.
    var isExhausted: Bool { withState { $0.isRead && $0.frames.isEmpty && $0.audio.isEmpty } }

    /// Whether there is nobody to hear it: its time passes all the same.
    var isUnheard: Bool { withState { !$0.acceptsAudio } }

    /// There is nobody to hear it.
    func disableAudio() {
        withState { state in
            state.acceptsAudio = false
            state.audio.removeAll()
        }
    }

    /// The last frame that is due at a time, in milliseconds; those before it are forgotten.
    func frame(at time: Double) -> DecodedImage? {
        withState { state in
            var image: DecodedImage?
            while let next = state.frames.first, Double(next.time) <= time {
                image = state.frames.popFirst()?.picture
            }
            return image
        }
    }

    /// The first frame, whenever it is due.
    func firstFrame() -> DecodedImage? {
        withState { $0.frames.popFirst()?.picture }
    }

    /// Waits for what is heard after `playbackPosition`, in milliseconds. Not for the main thread.
    func nextAudio(after playbackPosition: Int) -> Audio {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        while !state.isStopped {
            if let next = state.audio.popFirst() { return .samples(next.samples, time: next.time) }
            if state.isRead { break }
            // As much film as may wait and no sound: there is none for so long.
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

    /// - Returns: whether more may come.
    private func handle(_ record: VideoRecord, _ onChange: @escaping @MainActor @Sendable () -> Void) -> Bool {
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

    /// Waits while as much as may wait is there.
    private func append(_ body: (inout State) -> Void) -> Bool {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        while state.isFull, !state.isStopped {
            // Who waits for sound learns that there is none.
            condition.broadcast()
            condition.wait()
        }
        guard !state.isStopped else { return false }
        body(&state)
        return true
    }
}
