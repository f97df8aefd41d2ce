public import Foundation

/// Content to be stored.
public enum MediaContent: Sendable, Equatable {
    /// A local file, which may change or disappear while it is read.
    case file(URL)
    case data(Data)
}

/// The files of messages.
public protocol MediaService: Sendable {
    /// Stores a copy, for a draft or message to refer to. An unreferenced copy is deleted some days later.
    ///
    /// - Parameters:
    ///   - name: The file name that is shown.
    ///   - type: The MIME type.
    ///   - progress: Receives ascending values from 0 to 1, on any thread.
    /// - Throws: ``ChatError/unreadableFile``, ``ChatError/fileTooLarge(limit:)``, a storage error, or
    ///   `CancellationError`; nothing is stored then.
    func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference
    /// Returns the file with the content, downloading it if needed. It is read-only.
    /// - Throws: ``ChatError/notFound``.
    func content(of media: MediaReference) async throws -> URL
    /// Returns the file with the content, or `nil` if it would have to be downloaded.
    func cachedContent(of media: MediaReference) async -> URL?
    /// Returns an image file large enough for a box of the given size in pixels, or of the original size: a thumbnail
    /// where one is available, otherwise the content.
    /// - Throws: ``ChatError/notFound``, or a download error.
    func thumbnail(of media: MediaReference, fitting width: Int, by height: Int) async throws -> URL
    /// Returns the content as a file with its own name, for other programs.
    /// - Throws: ``ChatError/notFound``, or a storage error.
    func namedFile(of media: MediaReference) async throws -> URL
    /// Returns a file that may be sent into an unencrypted room. An encrypted file is decrypted into a local copy,
    /// which is then uploaded.
    func unencrypted(_ media: MediaReference) async throws -> MediaReference
}

extension MediaService {
    public func thumbnail(of media: MediaReference, fitting width: Int, by height: Int) async throws -> URL {
        try await content(of: media)
    }

    /// For backends without encryption.
    public func unencrypted(_ media: MediaReference) async throws -> MediaReference { media }

    /// For backends without downloads: content that cannot be read counts as missing.
    public func cachedContent(of media: MediaReference) async -> URL? { try? await content(of: media) }
}

extension ChatLimits {
    /// The maximum size of an attachment, in bytes.
    public static let attachmentBytes = 100 * 1024 * 1024
    /// The maximum number of attachments of a message.
    public static let attachments = 10
}

extension MediaReference {
    public var isImage: Bool { media.type.hasPrefix("image/") }

    /// The kind of a message with this attachment.
    public var messageKind: Message.Kind {
        switch media.type.prefix(while: { $0 != "/" }) {
        case "image": .image
        case "audio": .audio
        case "video": .video
        default: .file
        }
    }
}
