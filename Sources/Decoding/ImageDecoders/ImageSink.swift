public import MediaDecoding

/// Receives a decoded image. An error thrown here ends the decoding.
public protocol ImageSink {
    /// Reports the size in pixels after orientation is applied; called first.
    func reportInfo(width: Int, height: Int, isAnimated: Bool) throws(ImageFailure)
    /// Called before each frame is decoded.
    func startFrame() throws(ImageFailure)
    /// Shows a frame.
    /// - Parameters:
    ///   - pixels: RGBA in sRGB, without padding between lines.
    ///   - delay: Milliseconds until the next frame.
    func show(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int, delay: Int) throws(ImageFailure)
}
