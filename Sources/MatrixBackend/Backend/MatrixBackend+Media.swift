public import ChatCore
import ChatStore
public import Foundation

extension MatrixBackend {
    public nonisolated func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        let entry = try await media.store(content, progress: progress)
        return MediaReference(
            uri: MediaReference.localScheme + entry.digest, name: name, type: type, bytes: entry.bytes)
    }

    /// Returns the local file of media, downloading it if it is not cached.
    public nonisolated func content(of reference: MediaReference) async throws -> URL {
        let uri = reference.uri
        if let cached = try await cachedFile(of: uri) { return cached }
        return try await fetches.file(uri) { [self] in
            try await fetch(as: uri) { try await client.download(uri, to: $0) }
        }
    }

    public nonisolated func cachedContent(of reference: MediaReference) async -> URL? {
        (try? await cachedFile(of: reference.uri)) ?? nil
    }

    /// Returns the server's thumbnail where it is smaller than the content, else the content.
    public nonisolated func thumbnail(
        of reference: MediaReference, fitting width: Int, by height: Int
    ) async throws -> URL {
        let uri = reference.uri
        guard uri.hasPrefix("mxc://"), let side = ThumbnailSide(of: reference, fitting: width, by: height)?.pixels
        else { return try await content(of: reference) }
        if let cached = try await cachedFile(of: uri) { return cached }
        let name = "\(uri)#\(side)"
        if let cached = try await fetched.file(of: name) { return cached }
        do {
            return try await fetches.file(name) { [self] in
                try await fetch(as: name) { try await client.downloadThumbnail(of: uri, side: side, to: $0) }
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            // The server cannot make a thumbnail; it may still have the content.
            return try await content(of: reference)
        }
    }

    public nonisolated func namedFile(of reference: MediaReference) async throws -> URL {
        if let digest = reference.digest { return try await media.named(reference.name, digest) }
        _ = try await content(of: reference)
        return try await fetched.named(reference.name, reference.uri)
    }

    /// Deletes media that were sent or discarded, and shrinks the download cache to its limit.
    nonisolated func sweepMedia() async {
        await media.sweep(MediaReference.localScheme, knownBy: store, at: now())
        try? await fetched.purge()
    }

    // MARK: Files

    /// Returns the local file, or `nil` if it has to be downloaded.
    private nonisolated func cachedFile(of uri: String) async throws -> URL? {
        if let digest = MediaReference.digest(of: uri) {
            guard let url = media.url(of: digest) else { throw ChatError.notFound }
            return url
        }
        guard uri.hasPrefix("mxc://") else { throw ChatError.notFound }
        return try await fetched.file(of: uri)
    }

    private nonisolated func fetch(
        as name: String, _ download: @Sendable (URL) async throws -> Void
    ) async throws -> URL {
        try FileManager.default.createDirectory(
            at: fetchFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let file = fetchFolder.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try await download(file)
        } catch MatrixError.tooLarge(let limit) {
            throw ChatError.fileTooLarge(limit: limit)
        } catch {
            throw Self.chatError(error)
        }
        return try await fetched.store(file, as: name)
    }
}

/// The side of a requested thumbnail: one of a few sizes, so windows of different sizes share cached files.
struct ThumbnailSide: Equatable {
    let pixels: Int
    private static let sides = [320, 640, 800]
    /// Media up to this size are downloaded in full.
    private static let smallBytes = 64 << 10

    /// - Returns: `nil` if the content itself should be used.
    init?(of media: MediaReference, fitting width: Int, by height: Int) {
        guard let side = Self.sides.first(where: { $0 >= max(width, height) }),
            // Thumbnails are not animated.
            !["image/gif", "image/webp", "image/apng"].contains(media.type),
            media.bytes ?? .max > Self.smallBytes
        else { return nil }
        if let mediaWidth = media.width, let mediaHeight = media.height, max(mediaWidth, mediaHeight) <= side {
            return nil
        }
        pixels = side
    }
}
