/// What is known about a media file without its content. Messages, exports and imports all use this description.
public struct MediaDescription: Hashable, Sendable, Codable {
    public var name: String
    /// The MIME type.
    public var type: String
    /// The size in bytes, if known.
    public var bytes: Int?
    /// The dimensions of an image or video, in pixels.
    public var width: Int?
    public var height: Int?
    /// The duration of audio or video, in milliseconds.
    public var duration: Int?
    /// A description for users who cannot see the content.
    public var altText: String?
    /// A BlurHash placeholder (MSC2448). Untrusted.
    public var blurHash: String?
    /// The waveform of a voice message: at most ``maxWaveformSamples`` values from 0 to ``maxAmplitude``. Empty if the
    /// sender provided none, `nil` if it is not a voice message.
    public var loudness: [Int]?

    public static let maxAmplitude = 1024
    public static let maxWaveformSamples = 100

    public init(
        name: String, type: String, bytes: Int? = nil, width: Int? = nil, height: Int? = nil, duration: Int? = nil,
        altText: String? = nil, blurHash: String? = nil, loudness: [Int]? = nil
    ) {
        self.name = name
        self.type = type
        self.bytes = bytes
        self.width = width
        self.height = height
        self.duration = duration
        self.altText = altText
        self.blurHash = blurHash
        self.loudness = loudness
    }
}
