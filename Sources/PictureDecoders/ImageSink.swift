public import PictureDecoding

/// Takes what a decoder makes of a picture. What it throws ends the decoding.
public protocol ImageSink {
    /// The size as the picture is meant to be seen, in pixels, before anything else.
    func reportInfo(width: Int, height: Int, isAnimated: Bool) throws(ImageFailure)
    /// Before each frame is decoded.
    func startFrame() throws(ImageFailure)
    /// - Parameters:
    ///   - pixels: red, green, blue and alpha of each in sRGB, line by line without gaps.
    ///   - delay: milliseconds until the next one.
    func show(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int, delay: Int) throws(ImageFailure)
}
