/// A file that goes with the message (MIB-36).
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
    /// Where the host finds the content; opaque to the composer.
    public var source: String?
    /// A description for those who can't see it.
    public var altText: String?
    /// In pixels, of a picture or film; known before it is shown, so that nothing moves when it appears.
    public var width: Int?
    public var height: Int?
    /// In milliseconds, of a film or sound.
    public var duration: Int?
    /// Where a smaller picture of it is found; opaque to the composer.
    public var thumbnail: String?
    /// What is seen in its place before it is there; opaque to the composer.
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
}

/// How much may be attached.
public struct AttachmentLimits: Hashable, Sendable, Codable {
    /// The most attachments of a message; nil for any number.
    public var count: Int?
    /// The most bytes of one attachment; nil for any size.
    public var bytes: Int?
    /// The MIME types that paste and drop take as media, `image/*` standing for all images (SLK-36).
    public var pastedTypes: [String]

    public init(count: Int? = nil, bytes: Int? = nil, pastedTypes: [String] = AttachmentLimits.commonMedia) {
        self.count = count
        self.bytes = bytes
        self.pastedTypes = pastedTypes
    }

    /// Lossless forms before lossy ones: the order in which one of several offered forms is chosen (SLK-36).
    public static let commonMedia = [
        "text/uri-list", "image/png", "image/tiff", "image/webp", "image/gif", "image/jpeg",
        "video/mp4", "video/quicktime", "application/vnd.apple.pkpass",
    ]

    /// The place of a type in the order of preference; nil if it isn't taken.
    public func preference(of type: String) -> Int? {
        let type = type.lowercased()
        return pastedTypes.firstIndex { accepted in
            accepted == type || accepted == "*/*"
                || (accepted.hasSuffix("/*") && type.hasPrefix(accepted.dropLast()))
        }
    }
}

/// What is taken of a clipboard or a drop.
public enum PasteChoice: Hashable, Sendable {
    /// The composer's own form.
    case fragment
    /// Every file of a list of files.
    case files
    /// The content in this form, as one attachment.
    case media(String)
    case text
    case nothing
}

extension AttachmentLimits {
    /// What is to be taken of what is offered in these forms, as advertised: files rather than pictures of them, then
    /// what comes first of text and media, media in its most faithful form (SLK-36, SLK-37, MIB-19).
    ///
    /// - Parameter types: MIME types.
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
