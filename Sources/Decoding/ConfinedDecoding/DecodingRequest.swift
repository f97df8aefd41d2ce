import MediaDecoding

/// How much of an image to decode.
public enum DecodingMode: String {
    /// Only the size.
    case size
    /// One frame.
    case still
    /// All frames, repeated as the file specifies, as fast as the reader accepts them.
    case play
}

/// The parameters of a decoding process.
public struct DecodingRequest {
    public var mode: DecodingMode
    /// The box to fit the image in, in pixels.
    public var width: Int
    public var height: Int
    /// The maximum number of pixels of the stored image.
    public var maxPixels = ImageLimits.pixels

    public init(mode: DecodingMode, width: Int, height: Int) {
        self.mode = mode
        self.width = width
        self.height = height
    }

    /// Returns the size to decode to: fitting the box in either orientation, because Exif orientation is applied later,
    /// and never larger than the image.
    public func displaySize(width storedWidth: Int, height storedHeight: Int) -> (width: Int, height: Int) {
        let (storedWidth, storedHeight) = (Double(storedWidth), Double(storedHeight))
        let upright = min(Double(width) / storedWidth, Double(height) / storedHeight)
        let turned = min(Double(height) / storedWidth, Double(width) / storedHeight)
        let maxScale = (Double(ImageLimits.displayPixels) / (storedWidth * storedHeight)).squareRoot()
        let scale = min(1, max(upright, turned), maxScale)
        return (max(1, Int(storedWidth * scale)), max(1, Int(storedHeight * scale)))
    }
}
