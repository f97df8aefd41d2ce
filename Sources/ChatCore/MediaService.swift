public import Foundation

/// A content on its way to be kept.
public enum MediaContent: Sendable, Equatable {
    /// A file on this computer, which may change or vanish while it is read.
    case file(URL)
    case data(Data)
}

/// Files that go with messages.
public protocol MediaService: Sendable {
    /// Keeps a copy, for a draft or a message to refer to. What neither does is deleted some days later.
    ///
    /// - Parameters:
    ///   - name: what the file is called, for those who see it.
    ///   - type: the MIME type.
    ///   - progress: told of the part that is done, from 0 to 1, ascending; from any thread.
    /// - Throws: ``ChatError/unreadableFile``, ``ChatError/fileTooLarge(limit:)``, a storage error, or
    ///   `CancellationError`; nothing is kept then.
    func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference
    /// The file with the content, to be read only.
    /// - Throws: ``ChatError/notFound``.
    func content(of media: MediaReference) async throws -> URL
    /// The same if it is on this computer already; nil if it would have to be fetched.
    func cachedContent(of media: MediaReference) async -> URL?
    /// A file with a picture as large as a box of pixels that it is shown in, or as the picture is: something smaller
    /// than the content where that is to be had.
    /// - Throws: ``ChatError/notFound``, or why it could not be fetched.
    func thumbnail(of media: MediaReference, fitting width: Int, by height: Int) async throws -> URL
    /// The content as a file under its own name, for other programs.
    /// - Throws: ``ChatError/notFound``, or a storage error.
    func namedFile(of media: MediaReference) async throws -> URL
}

extension MediaService {
    public func thumbnail(of media: MediaReference, fitting width: Int, by height: Int) async throws -> URL {
        try await content(of: media)
    }

    public func cachedContent(of media: MediaReference) async -> URL? { try? await content(of: media) }
}

extension ChatLimits {
    /// Bytes in one attachment.
    public static let attachmentBytes = 100 * 1024 * 1024
    /// Attachments of one message.
    public static let attachments = 10
}

extension MediaReference {
    public var isImage: Bool { type.hasPrefix("image/") }

    /// The kind of a message that carries this.
    public var messageKind: Message.Kind {
        switch type.prefix(while: { $0 != "/" }) {
        case "image": .image
        case "audio": .audio
        case "video": .video
        default: .file
        }
    }
}
