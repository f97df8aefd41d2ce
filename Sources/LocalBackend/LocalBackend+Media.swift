public import ChatCore
import ChatStore
public import Foundation

extension LocalBackend {
    public nonisolated func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        let entry = try await media.store(content, progress: progress)
        return MediaReference(
            uri: MediaReference.localScheme + entry.digest, name: name, type: type, bytes: entry.bytes)
    }

    public nonisolated func content(of reference: MediaReference) async throws -> URL {
        guard let digest = reference.digest, let url = media.url(of: digest) else {
            throw ChatError.notFound
        }
        return url
    }

    public nonisolated func namedFile(of reference: MediaReference) async throws -> URL {
        guard let digest = reference.digest else { throw ChatError.notFound }
        return try await media.named(reference.name, digest)
    }

    func sweepMedia() async { await media.sweep(MediaReference.localScheme, knownBy: store, at: now()) }
}
