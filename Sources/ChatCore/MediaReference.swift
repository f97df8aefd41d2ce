/// A file that belongs to a message, and where its content is found.
public struct MediaReference: Hashable, Sendable, Codable {
    /// Where the content is: opaque to all but the backend.
    public var uri: String
    public var name: String
    /// The MIME type.
    public var type: String
    /// The content's size; nil if it is not known.
    public var bytes: Int?
    /// In pixels, of pictures and films.
    public var width: Int?
    public var height: Int?
    /// In milliseconds, of sounds and films.
    public var duration: Int?
    /// Where a smaller picture of it is found.
    public var thumbnailURI: String?
    /// A description for those who can't see it.
    public var altText: String?
    /// What is seen in its place before it is there (MSC2448): from anyone, and not to be trusted.
    public var blurHash: String?
    /// How loud a voice message is as time passes, from 0 to ``maxAmplitude``, at most ``maxWaveformSamples`` of them; empty if
    /// that was not told, nil if it is no voice message.
    public var loudness: [Int]?

    /// With what the URI of a content begins that is kept on this computer, under its digest.
    public static let localScheme = "media:"

    /// What names the content, SHA-256 in hexadecimal, where it is kept on this computer; nil of one that a server has.
    public var digest: String? { Self.digest(of: uri) }

    /// The same of a URI by itself, such as ``thumbnailURI``.
    public static func digest(of uri: String) -> String? {
        uri.hasPrefix(localScheme) ? String(uri.dropFirst(localScheme.count)) : nil
    }

    /// Whether no server has it yet.
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
