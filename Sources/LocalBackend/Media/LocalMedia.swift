import ChatCore
import ChatStore
import Foundation

/// The files of messages and drafts, in an archive beside the store.
struct LocalMedia: Sendable {
    let archive: MediaArchive

    init(beside store: ChatStore) {
        // Next to the store's folder, which belongs to the store alone.
        archive = MediaArchive(
            folder: store.folder.deletingLastPathComponent()
                .appending(path: store.folder.lastPathComponent + "-media", directoryHint: .isDirectory))
    }

    func store(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        let entry = try await archive.store(content, progress: progress)
        return MediaReference(
            uri: MediaReference.localScheme + entry.digest, name: name, type: type, bytes: entry.bytes)
    }

    /// Stores the image of the guide's greeting, which is sent without it if that fails.
    func store(_ image: GuideImage?) async -> MediaReference? {
        guard let image else { return nil }
        var reference = try? await store(.data(image.png), named: "composer.png", type: "image/png") { _ in }
        reference?.width = image.width
        reference?.height = image.height
        return reference
    }

    /// Returns the file with the content.
    /// - Throws: ``ChatError/notFound``.
    func content(of reference: MediaReference) throws(ChatError) -> URL {
        guard let digest = reference.digest, let url = archive.url(of: digest) else { throw .notFound }
        return url
    }

    /// - Throws: ``ChatError/notFound`` unless the content is there.
    func requireContent(of reference: MediaReference) throws(ChatError) { _ = try content(of: reference) }

    /// Returns the content as a file with its own name.
    func namedFile(of reference: MediaReference) async throws -> URL {
        guard let digest = reference.digest else { throw ChatError.notFound }
        return try await archive.named(reference.name, digest)
    }

    /// Deletes files that nothing refers to.
    func sweep(knownBy store: ChatStore, at now: Date) async {
        await archive.sweep(MediaReference.localScheme, knownBy: store, at: now)
    }
}
