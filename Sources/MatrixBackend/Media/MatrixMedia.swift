import ChatCore
import ChatStore
import Foundation

/// The media of an account, both those to be sent and those that were downloaded.
struct MatrixMedia: Sendable {
    /// Media that will be sent, or may be.
    let archive: MediaArchive
    /// The cache of downloaded media.
    let cache: MediaCache
    private let client: MatrixClient
    private let references: ChatStore
    private let now: @Sendable () -> Date
    /// Apart, so that thumbnails and avatars do not wait for long downloads.
    private let fetches = MediaFetches(limit: 2)
    private let thumbnailFetches = MediaFetches(limit: 3)
    /// The folder of incomplete downloads.
    private let incomplete: URL

    init(client: MatrixClient, store: ChatStore, now: @escaping @Sendable () -> Date) {
        self.client = client
        references = store
        self.now = now
        // Next to the store's folder, which belongs to the store alone.
        let beside = store.folder.deletingLastPathComponent()
        let name = store.folder.lastPathComponent
        func folder(_ suffix: String) -> URL { beside.appending(path: name + suffix, directoryHint: .isDirectory) }
        archive = MediaArchive(folder: folder("-media"))
        cache = MediaCache(folder: folder("-cache"), index: store, now: now)
        incomplete = folder("-fetched")
    }

    /// Deletes what is left of downloads that an earlier process did not complete. No download may be running.
    func removeIncomplete() {
        // Usually there is none. What cannot be deleted only takes up space.
        try? FileManager.default.removeItem(at: incomplete)
    }

    /// Deletes media that were sent or discarded, and shrinks the cache to its limit.
    func sweep() async {
        await archive.sweep(MediaReference.localScheme, knownBy: references, at: now())
        // The next start tries again.
        try? await cache.purge()
    }

    func store(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        let entry = try await archive.store(content, progress: progress)
        return MediaReference(
            uri: MediaReference.localScheme + entry.digest, name: name, type: type, bytes: entry.bytes)
    }

    /// Returns the local file of media, downloading it if it is not cached.
    func content(of reference: MediaReference) async throws -> URL {
        let uri = reference.uri
        if let cached = try await cachedFile(of: uri) { return cached }
        return try await fetches.file(uri) { [self] in
            try await fetch(as: uri) { try await download(uri, to: $0) }
        }
    }

    /// Returns the local file of media that need no download.
    func cachedContent(of reference: MediaReference) async -> URL? {
        // What cannot be looked up is requested again, and reports its error then.
        (try? await cachedFile(of: reference.uri)) ?? nil
    }

    /// Returns the server's thumbnail where it is smaller than the content, else the content.
    func thumbnail(of reference: MediaReference, fitting width: Int, by height: Int) async throws -> URL {
        if reference.isEncrypted { return try await ownThumbnail(of: reference, fitting: width, by: height) }
        let uri = reference.uri
        guard uri.hasPrefix("mxc://"), let side = ThumbnailSide(of: reference, fitting: width, by: height)?.pixels
        else { return try await content(of: reference) }
        if let cached = try await cachedFile(of: uri) { return cached }
        let name = "\(uri)#\(side)"
        if let cached = try await cache.file(of: name) { return cached }
        do {
            return try await thumbnailFetches.file(name) { [self] in
                try await fetch(as: name) { try await client.downloadThumbnail(of: uri, side: side, to: $0) }
            }
        } catch ChatError.notFound, ChatError.notPermitted, ChatError.rejected,
            ChatError.downloadTooLarge, ChatError.unreadableFile
        {
            // The server cannot make a thumbnail; it may still have the content. One that is busy or unreachable must
            // not be asked for more.
            return try await content(of: reference)
        }
    }

    /// Returns the thumbnail that the sender of an encrypted image has uploaded, if it is large enough, otherwise the
    /// content: the server cannot create thumbnails of encrypted images.
    private func ownThumbnail(of reference: MediaReference, fitting width: Int, by height: Int) async throws -> URL {
        guard reference.isImage, let thumbnail = reference.thumbnailURI,
            ThumbnailSide(of: reference, fitting: width, by: height) != nil,
            await cachedContent(of: reference) == nil
        else { return try await content(of: reference) }
        do {
            return try await content(of: MediaReference(uri: thumbnail, name: reference.name, type: reference.type))
        } catch is CancellationError {
            throw CancellationError()
        } catch let error as ChatError where error == .busy || error == .unreachable {
            throw error
        } catch {
            return try await content(of: reference)
        }
    }

    /// Returns a file with the media's own name.
    func namedFile(of reference: MediaReference) async throws -> URL {
        if let digest = reference.digest { return try await archive.named(reference.name, digest) }
        _ = try await content(of: reference)
        return try await cache.named(reference.name, reference.uri)
    }

    /// Returns the local file, or `nil` if it has to be downloaded.
    private func cachedFile(of uri: String) async throws -> URL? {
        if let digest = MediaReference.digest(of: uri) {
            guard let url = archive.url(of: digest) else { throw ChatError.notFound }
            return url
        }
        guard uri.hasPrefix("mxc://") || EncryptedFile(uri: uri) != nil else { throw ChatError.notFound }
        return try await cache.file(of: uri)
    }

    private func download(_ uri: String, to file: URL) async throws {
        guard uri.hasPrefix(MediaReference.encryptedScheme) else { return try await client.download(uri, to: file) }
        guard let encrypted = EncryptedFile(uri: uri) else { throw ChatError.notFound }
        let sealed = file.appendingPathExtension("sealed")
        // If this fails, the next start deletes the file.
        defer { try? FileManager.default.removeItem(at: sealed) }
        try await client.download(encrypted.address, to: sealed)
        try await encrypted.decrypt(sealed, to: file)
    }

    /// Returns a path for a temporary file. The next start deletes what is left of it.
    func incompleteFile() throws -> URL {
        try FileManager.default.createDirectory(
            at: incomplete, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return incomplete.appending(path: UUID().uuidString)
    }

    private func fetch(as name: String, _ download: @Sendable (URL) async throws -> Void) async throws -> URL {
        let file = try incompleteFile()
        // The cache moves a file that was downloaded; otherwise the next start deletes it.
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try await download(file)
        } catch MatrixError.tooLarge(let limit) {
            throw ChatError.downloadTooLarge(limit: limit)
        } catch {
            throw ChatError.translated(error)
        }
        return try await cache.store(file, as: name)
    }
}
