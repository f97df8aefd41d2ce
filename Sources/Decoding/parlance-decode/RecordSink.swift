import ConfinedDecoding
import ImageDecoders
import MediaDecoding

/// Writes decoded frames as records and renews the time limit for each.
struct RecordSink: ImageSink {
    func reportInfo(width: Int, height: Int, isAnimated: Bool) {
        RecordOutput.send(.info(width: width, height: height, isAnimated: isAnimated))
    }

    func startFrame() { Confinement.allowTime() }

    func show(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int, delay: Int) {
        RecordOutput.send(.frame(width: width, height: height, delay: delay))
        RecordOutput.write(pixels)
    }
}
