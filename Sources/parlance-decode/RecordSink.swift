import ConfinedDecoding
import PictureDecoders
import PictureDecoding

/// Writes what is decoded as records, each frame with a time of its own.
struct RecordSink: PictureSink {
    func tell(width: Int, height: Int, isAnimated: Bool) {
        RecordOutput.send(.info(width: width, height: height, isAnimated: isAnimated))
    }

    func beginFrame() { Confinement.allowTime() }

    func show(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int, delay: Int) {
        RecordOutput.send(.frame(width: width, height: height, delay: delay))
        RecordOutput.write(pixels)
    }
}
