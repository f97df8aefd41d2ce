import CPulse
import Dispatch
import Foundation
import PictureDecoding
import Synchronization

/// Plays the sound of a feed through PulseAudio, or PipeWire in its place, on a thread of its own, and sets the clock
/// by what is heard.
nonisolated final class AudioPlayer: Sendable {
    private let feed: VideoFeed
    private let clock: VideoClock
    private let isPlaying = Atomic(false)
    private let isStopped = Atomic(false)
    private let isFinished = Atomic(false)
    /// In thousandths.
    private let volume = Atomic(1000)
    private let condition = NSCondition()

    init(_ feed: VideoFeed, _ clock: VideoClock) {
        self.feed = feed
        self.clock = clock
        DispatchQueue(label: "sound-player", qos: .userInteractive).async { [self] in run() }
    }

    /// Whether all was heard, or none can be.
    var isDone: Bool { isFinished.load(ordering: .relaxed) }

    /// - Parameter volume: 0 to 1.
    func setVolume(_ volume: Double) {
        self.volume.store(Int(min(max(volume, 0), 1) * 1000), ordering: .relaxed)
    }

    func play() { change { isPlaying.store(true, ordering: .relaxed) } }
    /// What is on its way is still heard, for a tenth of a second.
    func pause() { change { isPlaying.store(false, ordering: .relaxed) } }
    func stop() { change { isStopped.store(true, ordering: .relaxed) } }

    private func change(_ body: () -> Void) {
        condition.lock()
        body()
        condition.broadcast()
        condition.unlock()
    }

    /// - Returns: false if it is over.
    private func waitUntilPlaying() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while !isPlaying.load(ordering: .relaxed), !isStopped.load(ordering: .relaxed) { condition.wait() }
        return !isStopped.load(ordering: .relaxed)
    }

    private func run() {
        defer { isFinished.store(true, ordering: .relaxed) }
        guard waitUntilPlaying() else { return }
        guard let server = Self.connect() else {
            // Films are shown without sound then.
            feed.disableAudio()
            clock.run()
            return
        }
        defer { pa_simple_free(server) }
        var playbackPosition = Int(clock.position)
        clock.run()
        while true {
            switch feed.nextAudio(after: playbackPosition) {
            case .end:
                if !isStopped.load(ordering: .relaxed) { pa_simple_drain(server, nil) }
                return
            case .silence(let time):
                guard
                    play(
                        [Int16](repeating: 0, count: Self.count(until: time, playbackPosition)), server,
                        &playbackPosition)
                else { return }
            case .samples(let samples, let time):
                let gap = [Int16](
                    repeating: 0, count: time - playbackPosition > 40 ? Self.count(until: time, playbackPosition) : 0)
                // What comes too late was silence already.
                guard playbackPosition - time < 200 else { continue }
                guard play(gap + samples, server, &playbackPosition) else { return }
            }
        }
    }

    /// Numbers in so much silence, at most ten seconds of it.
    private static func count(until time: Int, _ playbackPosition: Int) -> Int {
        min(max(0, time - playbackPosition), 10_000) * VideoLimits.sampleRate / 1000 * 2
    }

    /// Plays samples in small pieces, so that a pause is one at once.
    /// - Returns: false if it is over.
    private func play(_ samples: [Int16], _ server: OpaquePointer, _ playbackPosition: inout Int) -> Bool {
        let length = VideoLimits.sampleRate / 25 * 2
        let start = playbackPosition
        for offset in stride(from: 0, to: samples.count, by: length) {
            guard waitUntilPlaying() else { return false }
            let volume = self.volume.load(ordering: .relaxed)
            let chunk = samples[offset..<min(offset + length, samples.count)].map { Int16(Int($0) * volume / 1000) }
            guard chunk.withUnsafeBytes({ pa_simple_write(server, $0.baseAddress, $0.count, nil) }) >= 0 else {
                feed.disableAudio()
                return false
            }
            playbackPosition = start + (offset + chunk.count) / 2 * 1000 / VideoLimits.sampleRate
            // In microseconds.
            let behind = pa_simple_get_latency(server, nil)
            clock.set(Double(playbackPosition) - (behind == UInt64.max ? 0 : Double(behind) / 1000))
        }
        return true
    }

    private static func connect() -> OpaquePointer? {
        var form = pa_sample_spec(format: PA_SAMPLE_S16LE, rate: UInt32(VideoLimits.sampleRate), channels: 2)
        var buffer = pa_buffer_attr()
        buffer.maxlength = .max
        // A tenth of a second.
        buffer.tlength = UInt32(VideoLimits.sampleRate / 10 * 4)
        buffer.prebuf = .max
        buffer.minreq = .max
        buffer.fragsize = .max
        return pa_simple_new(nil, "Parlance", PA_STREAM_PLAYBACK, nil, "Parlance", &form, nil, &buffer, nil)
    }
}
