/// An attachment of a message: the location of its content, and its description, whose members it exposes as its
/// own.
@dynamicMemberLookup
public struct MediaReference: Hashable, Sendable {
    /// The location of the content: opaque to everything but the backend.
    public var uri: String
    public var thumbnailURI: String?
    public var media: MediaDescription

    /// The prefix of URIs of local content, followed by its digest.
    public static let localScheme = "media:"

    /// The prefix of URIs of encrypted content. The rest is defined by the backend and contains the key, so a URI is
    /// never sent.
    public static let encryptedScheme = "encrypted:"

    public init(uri: String, thumbnailURI: String? = nil, media: MediaDescription) {
        self.uri = uri
        self.thumbnailURI = thumbnailURI
        self.media = media
    }

    public init(
        uri: String, name: String, type: String, bytes: Int? = nil, width: Int? = nil, height: Int? = nil,
        duration: Int? = nil, thumbnailURI: String? = nil, altText: String? = nil, blurHash: String? = nil,
        loudness: [Int]? = nil
    ) {
        self.init(
            uri: uri, thumbnailURI: thumbnailURI,
            media: MediaDescription(
                name: name, type: type, bytes: bytes, width: width, height: height, duration: duration,
                altText: altText, blurHash: blurHash, loudness: loudness))
    }

    public subscript<Value>(dynamicMember member: WritableKeyPath<MediaDescription, Value>) -> Value {
        get { media[keyPath: member] }
        set { media[keyPath: member] = newValue }
    }

    /// The SHA-256 digest of local content, in hexadecimal; `nil` for content on a server.
    public var digest: String? { Self.digest(of: uri) }

    /// Returns the digest of a local URI, such as that of ``thumbnailURI``.
    public static func digest(of uri: String) -> String? {
        uri.hasPrefix(localScheme) ? String(uri.dropFirst(localScheme.count)) : nil
    }

    /// Whether the content is encrypted on the server.
    public var isEncrypted: Bool { uri.hasPrefix(Self.encryptedScheme) }
    /// Whether the reference contains a key: that of the content or that of its thumbnail.
    public var hasKeys: Bool { isEncrypted || thumbnailURI?.hasPrefix(Self.encryptedScheme) == true }

    /// Whether the content has not been uploaded.
    public var isOnlyHere: Bool { digest != nil }
}

/// Encoded as one flat object, the form in which databases store it.
extension MediaReference: Codable {
    private enum CodingKeys: CodingKey {
        case uri, thumbnailURI
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        uri = try container.decode(String.self, forKey: .uri)
        thumbnailURI = try container.decodeIfPresent(String.self, forKey: .thumbnailURI)
        media = try MediaDescription(from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(uri, forKey: .uri)
        try container.encodeIfPresent(thumbnailURI, forKey: .thumbnailURI)
        try media.encode(to: encoder)
    }
}
