/// An attachment of a message.
public struct MediaReference: Hashable, Sendable, Codable {
    /// The location of the content: opaque to everything but the backend.
    public var uri: String
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
    /// The URI of a thumbnail.
    public var thumbnailURI: String?
    /// A description for users who cannot see the content.
    public var altText: String?
    /// A BlurHash placeholder (MSC2448). Untrusted.
    public var blurHash: String?
    /// The waveform of a voice message: at most ``maxWaveformSamples`` values from 0 to ``maxAmplitude``. Empty if the
    /// sender provided none, `nil` if it is not a voice message.
    public var loudness: [Int]?

    /// The prefix of URIs of local content, followed by its digest.
    public static let localScheme = "media:"

    /// The SHA-256 digest of local content, in hexadecimal; `nil` for content on a server.
    public var digest: String? { Self.digest(of: uri) }

    /// Returns the digest of a local URI, such as that of ``thumbnailURI``.
    public static func digest(of uri: String) -> String? {
        uri.hasPrefix(localScheme) ? String(uri.dropFirst(localScheme.count)) : nil
    }

    /// Whether the content has not been uploaded.
    public var isOnlyHere: Bool { digest != nil }

    public static let maxAmplitude = 1024
    public static let maxWaveformSamples = 100

    public init(
        uri: String, name: String, type: String, bytes: Int? = nil, width: Int? = nil, height: Int? = nil,
        duration: Int? = nil, thumbnailURI: String? = nil, altText: String? = nil, blurHash: String? = nil,
        loudness: [Int]? = nil
    ) {
        self.uri = uri
        self.name = name
        self.type = type
        self.bytes = bytes
        self.width = width
        self.height = height
        self.duration = duration
        self.thumbnailURI = thumbnailURI
        self.altText = altText
        self.blurHash = blurHash
        self.loudness = loudness
    }
}
