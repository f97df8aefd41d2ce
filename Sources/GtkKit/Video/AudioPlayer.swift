import CPulse
import Dispatch
import Foundation
import MediaDecoding
import Synchronization

/// Plays the audio of a feed through PulseAudio, or PipeWire's implementation of it, on a thread of its own, and
/// synchronizes the clock with the audible position.
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

    /// Whether playback has ended or no output is available.
    var isDone: Bool { isFinished.load(ordering: .relaxed) }

    /// - Parameter volume: 0 to 1.
    func setVolume(_ volume: Double) {
        self.volume.store(Int(min(max(volume, 0), 1) * 1000), ordering: .relaxed)
    }

    func play() { change { isPlaying.store(true, ordering: .relaxed) } }
    /// Pauses; samples already buffered still play, for up to 100 ms.
    func pause() { change { isPlaying.store(false, ordering: .relaxed) } }
    func stop() { change { isStopped.store(true, ordering: .relaxed) } }

    private func change(_ body: () -> Void) {
        condition.lock()
        body()
        condition.broadcast()
        condition.unlock()
    }

    /// - Parameter startsClock: Whether the clock runs from then on. Within the lock: a pause stops it only afterwards.
    /// - Returns: `false` once stopped.
    private func waitUntilPlaying(startsClock: Bool) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while !isPlaying.load(ordering: .relaxed), !isStopped.load(ordering: .relaxed) { condition.wait() }
        guard !isStopped.load(ordering: .relaxed) else { return false }
        if startsClock { clock.run() }
        return true
    }

    private func run() {
        defer { isFinished.store(true, ordering: .relaxed) }
        guard waitUntilPlaying(startsClock: false) else { return }
        // Without an audio server, the stream plays silently and runs the clock itself.
        guard let server = Self.connect() else { return feed.disableAudio() }
        defer { parlance_pa_simple_free(server) }
        var playbackPosition = Int(clock.position)
        while true {
            switch feed.nextAudio(after: playbackPosition) {
            case .end:
                if !isStopped.load(ordering: .relaxed) { parlance_pa_simple_drain(server, nil) }
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
                // The gap was already filled with silence: drop late samples.
                guard playbackPosition - time < 200 else { continue }
                guard play(gap + samples, server, &playbackPosition) else { return }
            }
        }
    }

    /// Returns the number of sample values for the silence until `time`, at most ten seconds.
    private static func count(until time: Int, _ playbackPosition: Int) -> Int {
        min(max(0, time - playbackPosition), 10_000) * VideoLimits.sampleRate / 1000 * 2
    }

    /// Writes samples in chunks of 40 ms, so that pausing takes effect at once.
    /// - Returns: `false` once stopped or on an output error.
    private func play(_ samples: [Int16], _ server: OpaquePointer, _ playbackPosition: inout Int) -> Bool {
        let length = VideoLimits.sampleRate / 25 * 2
        let start = playbackPosition
        for offset in stride(from: 0, to: samples.count, by: length) {
            guard waitUntilPlaying(startsClock: true) else { return false }
            let volume = self.volume.load(ordering: .relaxed)
            let chunk = samples[offset..<min(offset + length, samples.count)].map { Int16(Int($0) * volume / 1000) }
            guard chunk.withUnsafeBytes({ parlance_pa_simple_write(server, $0.baseAddress, $0.count, nil) }) >= 0 else {
                feed.disableAudio()
                return false
            }
            playbackPosition = start + (offset + chunk.count) / 2 * 1000 / VideoLimits.sampleRate
            // In microseconds.
            let behind = parlance_pa_simple_get_latency(server, nil)
            clock.set(Double(playbackPosition) - (behind == UInt64.max ? 0 : Double(behind) / 1000))
        }
        return true
    }

    private static func connect() -> OpaquePointer? {
        var form = pa_sample_spec(format: PA_SAMPLE_S16LE, rate: UInt32(VideoLimits.sampleRate), channels: 2)
        var buffer = pa_buffer_attr()
        buffer.maxlength = .max
        // 100 ms.
        buffer.tlength = UInt32(VideoLimits.sampleRate / 10 * 4)
        buffer.prebuf = .max
        buffer.minreq = .max
        buffer.fragsize = .max
        return parlance_pa_simple_new(nil, "Parlance", PA_STREAM_PLAYBACK, nil, "Parlance", &form, nil, &buffer, nil)
    }
}
