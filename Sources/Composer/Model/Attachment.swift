/// A file attached to a message (MIB-36).
public struct Attachment: Hashable, Sendable, Codable {
    public enum Upload: Hashable, Sendable, Codable {
        case ready
        /// From 0 to 1.
        case running(Double)
        case failed
    }

    /// The MIME type.
    public var type: String
    public var name: String
    /// The size in bytes.
    public var bytes: Int
    /// The host's reference to the content; opaque to the composer.
    public var source: String?
    /// The alternative text for people who can't see it.
    public var altText: String?
    /// The size of an image or video in pixels, used to reserve its space before it loads.
    public var width: Int?
    public var height: Int?
    /// The duration of a video or audio in milliseconds.
    public var duration: Int?
    /// The host's reference to a thumbnail; opaque to the composer.
    public var thumbnail: String?
    /// The BlurHash shown while it loads; opaque to the composer.
    public var blurHash: String?
    public var upload: Upload

    public init(
        type: String, name: String, bytes: Int, source: String? = nil, altText: String? = nil, width: Int? = nil,
        height: Int? = nil, upload: Upload = .ready
    ) {
        self.type = type
        self.name = name
        self.bytes = bytes
        self.source = source
        self.altText = altText
        self.width = width
        self.height = height
        self.upload = upload
    }

    /// The source and the thumbnail, if it has them.
    var fileSources: [String] { [source, thumbnail].compactMap { $0 } }
}

/// The limits on attachments.
public struct AttachmentLimits: Hashable, Sendable, Codable {
    /// The maximum number of attachments per message; `nil` for no limit.
    public var count: Int?
    /// The maximum size of an attachment in bytes; `nil` for no limit.
    public var bytes: Int?
    /// The MIME types that paste and drop accept as media, in order of preference; `image/*` stands for all images
    /// (SLK-36).
    public var pastedTypes: [String]

    public init(count: Int? = nil, bytes: Int? = nil, pastedTypes: [String] = AttachmentLimits.commonMedia) {
        self.count = count
        self.bytes = bytes
        self.pastedTypes = pastedTypes
    }

    /// Common media types. Lossless formats precede lossy ones, as the first of several offered formats wins (SLK-36).
    public static let commonMedia = [
        "text/uri-list", "image/png", "image/tiff", "image/webp", "image/gif", "image/jpeg",
        "video/mp4", "video/quicktime", "application/vnd.apple.pkpass",
    ]

    /// Returns the rank of a type in ``pastedTypes``, or `nil` if it isn't accepted.
    public func preference(of type: String) -> Int? {
        let type = type.lowercased()
        return pastedTypes.firstIndex { accepted in
            accepted == type || accepted == "*/*"
                || (accepted.hasSuffix("/*") && type.hasPrefix(accepted.dropLast()))
        }
    }
}

/// The format to read from a clipboard or a drop.
public enum PasteChoice: Hashable, Sendable {
    /// The composer's own format.
    case fragment
    /// All files of a file list.
    case files
    /// The content in this MIME type, as one attachment.
    case media(String)
    case text
    case nothing
}

extension AttachmentLimits {
    /// Returns the format to read: files in preference to their images; otherwise text or media, whichever is
    /// advertised first, with media in the preferred format (SLK-36, SLK-37, MIB-19).
    ///
    /// - Parameter types: the advertised MIME types, in order.
    public func choice(among types: [String]) -> PasteChoice {
        if types.contains(ClipboardFragment.mediaType) { return .fragment }
        if types.contains("text/uri-list"), preference(of: "text/uri-list") != nil { return .files }
        let text = types.firstIndex { $0.hasPrefix("text/plain") || $0 == "UTF8_STRING" || $0 == "STRING" }
        let media = types.indices.compactMap { index in
            preference(of: types[index]).map { (place: index, preference: $0) }
        }
        let first = media.map(\.place).min()
        if let first, text.map({ first < $0 }) ?? true, let best = media.min(by: { $0.preference < $1.preference }) {
            return .media(types[best.place])
        }
        return text == nil ? .nothing : .text
    }
}
