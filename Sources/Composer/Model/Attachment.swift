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
    public var upload: Upload

    public init(
        type: String, name: String, bytes: Int, source: String? = nil, altText: String? = nil, upload: Upload = .ready
    ) {
        self.type = type
        self.name = name
        self.bytes = bytes
        self.source = source
        self.altText = altText
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
