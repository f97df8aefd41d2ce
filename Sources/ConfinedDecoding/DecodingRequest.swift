import PictureDecoding

/// How much of a picture is wanted.
public enum DecodingMode: String {
    /// Its size alone.
    case size
    /// One frame.
    case still
    /// All frames, again and again: as fast as they are taken.
    case play
}

/// What is asked for.
public struct DecodingRequest {
    public var mode: DecodingMode
    /// The box that the picture has to fit in, in pixels.
    public var width: Int
    public var height: Int
    /// Pixels that a picture may have.
    public var maxPixels = ImageLimits.pixels

    public init(mode: DecodingMode, width: Int, height: Int) {
        self.mode = mode
        self.width = width
        self.height = height
    }

    /// The size to decode a stored picture in: within the box or the box turned, since how a camera was held is known
    /// later, and never larger than it is.
    public func displaySize(width storedWidth: Int, height storedHeight: Int) -> (width: Int, height: Int) {
        let (storedWidth, storedHeight) = (Double(storedWidth), Double(storedHeight))
        let upright = min(Double(width) / storedWidth, Double(height) / storedHeight)
        let turned = min(Double(height) / storedWidth, Double(width) / storedHeight)
        let maxScale = (Double(ImageLimits.displayPixels) / (storedWidth * storedHeight)).squareRoot()
        let scale = min(1, max(upright, turned), maxScale)
        return (max(1, Int(storedWidth * scale)), max(1, Int(storedHeight * scale)))
    }
}
