import CFilm
import ConfinedDecoding
import PictureDecoding

/// Brings sound to one form and sends it.
final class SoundOutput {
    private var converter: OpaquePointer?
    private var form: (format: Int32, rate: Int32, channels: Int32) = (-1, 0, 0)
    /// When what comes next is heard if it does not tell, in milliseconds.
    private var next = 0.0

    /// Sends what is heard at `start` or later.
    func send(_ frame: UnsafeMutablePointer<AVFrame>, at time: Double?, from start: Int) {
        let given = frame.pointee
        guard given.nb_samples > 0, (1...64).contains(given.ch_layout.nb_channels),
            (4000...768_000).contains(given.sample_rate)
        else { return }
        let form = (format: given.format, rate: given.sample_rate, channels: given.ch_layout.nb_channels)
        if form != self.form {
            swr_free(&converter)
            converter = shim_to_stereo(frame)
            self.form = form
        }
        guard let converter else { return }
        let room = Int(swr_get_out_samples(converter, given.nb_samples))
        guard room > 0, room <= FilmLimits.samples * 60 else { return }
        var samples = [UInt32](repeating: 0, count: room)
        let count = samples.withUnsafeMutableBytes { buffer in
            var plane = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return shim_convert(converter, &plane, Int32(room), frame)
        }
        let begins = time ?? next
        next = begins + Double(max(0, count)) * 1000 / Double(FilmLimits.sampleRate)
        guard next > Double(start) else { return Confinement.allowTimeToBegin() }
        guard count > 0, begins >= -1000, next < Double(Int32.max) else { return }
        let early = begins < Double(start) ? Int((Double(start) - begins) * Double(FilmLimits.sampleRate) / 1000) : 0
        send(samples[min(early, Int(count) - 1)..<Int(count)], at: max(begins, Double(start)))
    }

    private func send(_ samples: ArraySlice<UInt32>, at time: Double) {
        var (rest, time) = (samples, time)
        while !rest.isEmpty {
            let piece = rest.prefix(FilmLimits.samples)
            Confinement.allowTime()
            RecordOutput.send(.sound(samples: piece.count, time: max(0, Int(time))))
            piece.withUnsafeBytes(RecordOutput.write)
            rest = rest.dropFirst(piece.count)
            time += Double(piece.count) * 1000 / Double(FilmLimits.sampleRate)
        }
    }
}
