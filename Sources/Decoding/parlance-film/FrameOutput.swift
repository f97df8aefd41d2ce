import CFFmpeg
import ConfinedDecoding
import MediaDecoding

/// Scales and rotates frames, and sends them.
final class FrameOutput {
    struct Drawn {
        var width: Int
        var height: Int
        /// RGBA pixels.
        var pixels: [UInt32]
    }

    /// The displayed size in pixels, with rotation and aspect ratio applied.
    let width: Int
    let height: Int
    /// The size of sent frames.
    let displaySize: (width: Int, height: Int)
    /// Clockwise quarter turns to the upright orientation.
    private let quarters: Int
    private var scaler: UnsafeMutableRawPointer?
    /// In milliseconds.
    private var lastTime = -1000.0
    private var sent = 0

    init(_ stream: UnsafeMutablePointer<AVStream>, _ request: DecodingRequest) {
        let (stored, ratio) = (stream.pointee.codecpar.pointee, stream.pointee.codecpar.pointee.sample_aspect_ratio)
        guard stored.width > 0, stored.height > 0 else { RecordOutput.fail(.broken) }
        guard Int(stored.width) * Int(stored.height) <= VideoLimits.pixels else { RecordOutput.fail(.tooLarge) }
        // The displayed width with the pixel aspect ratio, which is clamped to plausible values.
        let pixelAspectRatio = ratio.num > 0 && ratio.den > 0 ? Double(ratio.num) / Double(ratio.den) : 1
        let across = max(1, Int(Double(stored.width) * min(max(pixelAspectRatio, 0.25), 4)))
        let turned = shim_turned(stream)
        quarters = turned.isFinite ? ((Int((-turned / 90).rounded()) % 4) + 4) % 4 : 0
        (width, height) =
            quarters % 2 == 0 ? (across, Int(stored.height)) : (Int(stored.height), across)
        displaySize = request.displaySize(width: width, height: height)
    }

    /// Sends a frame that is displayed at or after `start`. A frame without a timestamp follows the previous one.
    func send(_ frame: UnsafeMutablePointer<AVFrame>, at time: Double?, from start: Int) {
        let time = time ?? lastTime + 40
        guard time >= Double(start) - 1 else { return Confinement.allowTimeToStart() }
        // Limits the frame rate to about 140 frames per second.
        guard time < Double(Int32.max), sent == 0 || time - lastTime > 7 else { return }
        lastTime = time
        guard let drawn = draw(frame) else { return }
        sent += 1
        Confinement.allowTime()
        RecordOutput.send(VideoRecord.frame(width: drawn.width, height: drawn.height, time: max(0, Int(time))))
        drawn.pixels.withUnsafeBytes(RecordOutput.write)
    }

    /// - Returns: `nil` for an invalid frame.
    func draw(_ frame: UnsafeMutablePointer<AVFrame>) -> Drawn? {
        let (storedWidth, storedHeight) = (Int(frame.pointee.width), Int(frame.pointee.height))
        guard storedWidth > 0, storedHeight > 0, storedWidth * storedHeight <= VideoLimits.pixels else { return nil }
        let flat = quarters % 2 == 0 ? displaySize : (width: displaySize.height, height: displaySize.width)
        var pixels = [UInt32](repeating: 0, count: flat.width * flat.height)
        let isDrawn = pixels.withUnsafeMutableBytes { buffer in
            shim_draw(
                &scaler, frame, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(flat.width),
                Int32(flat.height)) == 0
        }
        guard isDrawn else { return nil }
        return upright(Drawn(width: flat.width, height: flat.height, pixels: pixels))
    }

    private func upright(_ drawn: Drawn) -> Drawn {
        let (width, height) = (drawn.width, drawn.height)
        switch quarters {
        case 1:
            let turned = (0..<width).flatMap { x in (0..<height).map { drawn.pixels[(height - 1 - $0) * width + x] } }
            return Drawn(width: height, height: width, pixels: turned)
        case 2: return Drawn(width: width, height: height, pixels: drawn.pixels.reversed())
        case 3:
            let turned = (0..<width).flatMap { x in (0..<height).map { drawn.pixels[$0 * width + width - 1 - x] } }
            return Drawn(width: height, height: width, pixels: turned)
        default: return drawn
        }
    }
}
