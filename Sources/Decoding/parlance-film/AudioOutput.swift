import CFFmpeg
import ConfinedDecoding
import MediaDecoding

/// Converts audio to the output format and sends it.
final class AudioOutput {
    private var converter: OpaquePointer?
    private var form: (format: Int32, rate: Int32, channels: Int32) = (-1, 0, 0)
    /// The time of the next samples in milliseconds, for frames without a timestamp.
    private var next = 0.0

    /// Sends samples that are heard at or after `start`.
    func send(_ frame: UnsafeMutablePointer<AVFrame>, at time: Double?, from start: Int) {
        let input = frame.pointee
        guard input.nb_samples > 0, (1...64).contains(input.ch_layout.nb_channels),
            (4000...768_000).contains(input.sample_rate)
        else { return }
        let form = (format: input.format, rate: input.sample_rate, channels: input.ch_layout.nb_channels)
        if form != self.form {
            swr_free(&converter)
            converter = shim_to_stereo(frame)
            self.form = form
        }
        guard let converter else { return }
        let room = Int(swr_get_out_samples(converter, input.nb_samples))
        guard room > 0, room <= VideoLimits.samples * 60 else { return }
        var samples = [UInt32](repeating: 0, count: room)
        let count = samples.withUnsafeMutableBytes { buffer in
            var plane = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return shim_convert(converter, &plane, Int32(room), frame)
        }
        let startTime = time ?? next
        next = startTime + Double(max(0, count)) * 1000 / Double(VideoLimits.sampleRate)
        guard next > Double(start) else { return Confinement.allowTimeToStart() }
        guard count > 0, startTime >= -1000, next < Double(Int32.max) else { return }
        let skippedSamples =
            startTime < Double(start) ? Int((Double(start) - startTime) * Double(VideoLimits.sampleRate) / 1000) : 0
        send(samples[min(skippedSamples, Int(count) - 1)..<Int(count)], at: max(startTime, Double(start)))
    }

    private func send(_ samples: ArraySlice<UInt32>, at time: Double) {
        var (rest, time) = (samples, time)
        while !rest.isEmpty {
            let chunk = rest.prefix(VideoLimits.samples)
            Confinement.allowTime()
            RecordOutput.send(.audio(samples: chunk.count, time: max(0, Int(time))))
            chunk.withUnsafeBytes(RecordOutput.write)
            rest = rest.dropFirst(chunk.count)
            time += Double(chunk.count) * 1000 / Double(VideoLimits.sampleRate)
        }
    }
}
