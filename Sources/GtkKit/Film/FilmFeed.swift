import Dispatch
import Foundation
import PictureDecoding

/// What a process decodes of a film or a sound from some time on: read ahead on a thread of its own, as far as a bound.
nonisolated final class FilmFeed: Sendable {
    struct Media: Sendable {
        /// Milliseconds.
        var duration: Int
        /// Of a frame, in pixels; 0 for a sound alone.
        var width: Int
        var height: Int
        var hasSound: Bool
    }

    enum Sound: Sendable {
        /// Samples of two channels, 16 bits each, to be heard from `time` on.
        case samples([Int16], time: Int)
        /// Nothing is heard until then.
        case silence(until: Int)
        case end
    }

    /// The most that waits to be shown and heard: bytes of frames, milliseconds of sound.
    private static let most = (frames: 48 << 20, sound: 3000)

    private struct State {
        var media: Media?
        /// Weighed in bytes.
        var frames = FilmQueue<(picture: Picture, time: Int)>()
        /// Weighed in numbers.
        var sound = FilmQueue<(samples: [Int16], time: Int)>()
        var failure: PictureFailure?
        var takesSound = true
        var isRead = false
        var isStopped = false

        var soundTime: Int { sound.weight / 2 * 1000 / FilmLimits.sampleRate }
        var isFull: Bool {
            (frames.count >= 8 && frames.weight >= FilmFeed.most.frames) || frames.count >= 48
                || soundTime >= FilmFeed.most.sound
        }
    }

    private let process: PictureProcess
    // All of it behind the condition.
    private nonisolated(unsafe) var state = State()
    private let condition = NSCondition()

    /// - Parameter start: in milliseconds.
    init(_ path: String, fitting width: Int, by height: Int, from start: Int) throws(PictureFailure) {
        process = try PictureProcess(film: .film, path: path, width: width, height: height, from: start)
    }

    /// Begins to read.
    /// - Parameter notice: called on the main queue when it is known what it is, and once more at the end.
    func start(_ notice: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue(label: "film-feed", qos: .userInitiated).async { [self] in
            while take(process.filmRecord(), notice) {}
            withState { $0.isRead = true }
            process.finish()
            DispatchQueue.main.async(execute: notice)
        }
    }

    /// Ends it; nothing comes any more.
    func stop() {
        withState { $0.isStopped = true }
        process.interrupt()
    }

    var media: Media? { withState { $0.media } }
    var failure: PictureFailure? { withState { $0.failure } }
    var hasFrames: Bool { withState { !$0.frames.isEmpty } }
    var hasSound: Bool { withState { !$0.sound.isEmpty } }
    /// Whether all has been read, and taken.
    var isUsedUp: Bool { withState { $0.isRead && $0.frames.isEmpty && $0.sound.isEmpty } }

    /// Whether there is nobody to hear it: its time passes all the same.
    var isUnheard: Bool { withState { !$0.takesSound } }

    /// There is nobody to hear it.
    func refuseSound() {
        withState { state in
            state.takesSound = false
            state.sound.removeAll()
        }
    }

    /// The last frame that is due at a time, in milliseconds; those before it are forgotten.
    func frame(at time: Double) -> Picture? {
        withState { state in
            var picture: Picture?
            while let next = state.frames.first, Double(next.time) <= time {
                picture = state.frames.popFirst()?.picture
            }
            return picture
        }
    }

    /// The first frame, whenever it is due.
    func firstFrame() -> Picture? {
        withState { $0.frames.popFirst()?.picture }
    }

    /// Waits for what is heard after `heard`, in milliseconds. Not for the main thread.
    func nextSound(after heard: Int) -> Sound {
        condition.lock()
        defer {
            condition.broadcast()
            condition.unlock()
        }
        while !state.isStopped {
            if let next = state.sound.popFirst() { return .samples(next.samples, time: next.time) }
            if state.isRead { break }
            // As much film as may wait and no sound: there is none for so long.
            if state.isFull, let last = state.frames.last, last.time > heard { return .silence(until: last.time) }
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
    private func take(_ record: FilmRecord, _ notice: @escaping @MainActor @Sendable () -> Void) -> Bool {
        switch record {
        case .media(let duration, let width, let height, let hasSound):
            withState { $0.media = Media(duration: duration, width: width, height: height, hasSound: hasSound) }
            DispatchQueue.main.async(execute: notice)
        case .frame(let width, let height, let time):
            guard let picture = Picture(reading: process, width: width, height: height, isAnimated: true) else {
                return false
            }
            return append { $0.frames.append((picture, time), weight: picture.bytes) }
        case .sound(let count, let time):
            var samples = [Int16](repeating: 0, count: count * 2)
            guard samples.withUnsafeMutableBytes({ process.read(into: $0) }) else { return false }
            return append { if $0.takesSound { $0.sound.append((samples, time), weight: samples.count) } }
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
