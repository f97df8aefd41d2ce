public import Foundation

/// What a decoder finds in an image, video or audio file to be sent, before it is shown.
public struct MediaInfo: Sendable {
    /// The display size in pixels; `nil` for audio.
    public var size: (width: Int, height: Int)?
    /// In milliseconds; `nil` for images and files that do not specify it.
    public var duration: Int?
    /// A BlurHash (MSC2448).
    public var blurHash: String?
    /// A frame of a video as JPEG.
    public var poster: Data?

    public init(
        size: (width: Int, height: Int)? = nil, duration: Int? = nil, blurHash: String? = nil, poster: Data? = nil
    ) {
        self.size = size
        self.duration = duration
        self.blurHash = blurHash
        self.poster = poster
    }
}
