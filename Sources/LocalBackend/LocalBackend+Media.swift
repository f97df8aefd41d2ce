public import ChatCore
import ChatStore
public import Foundation

extension LocalBackend {
    /// Contents that nothing refers to are kept for so long, in seconds: a draft may be written a moment later.
    static let mediaGrace: TimeInterval = 3 * 24 * 60 * 60
    private static let scheme = "media:"

    public nonisolated func takeIn(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        let entry = try await media.takeIn(content, progress: progress)
        return MediaReference(uri: Self.scheme + entry.digest, name: name, type: type, bytes: entry.bytes)
    }

    public nonisolated func content(of reference: MediaReference) async throws -> URL {
        guard let digest = Self.digest(of: reference.uri), let url = media.url(of: digest) else {
            throw ChatError.notFound
        }
        return url
    }

    public nonisolated func namedFile(of reference: MediaReference) async throws -> URL {
        guard let digest = Self.digest(of: reference.uri) else { throw ChatError.notFound }
        return try await media.named(reference.name, digest)
    }

    /// Deletes the contents of messages that were deleted, and of drafts that were dropped, some days afterwards.
    func sweepMedia() async {
        // Asked for anew at each start: what goes wrong now is done then.
        guard let known = try? await store.mediaReferences(scheme: Self.scheme) else { return }
        _ = try? await media.sweep(before: now().addingTimeInterval(-Self.mediaGrace)) { digest in
            known.contains(Self.scheme + digest)
        }
    }

    private static func digest(of uri: String) -> String? {
        uri.hasPrefix(scheme) ? String(uri.dropFirst(scheme.count)) : nil
    }
}
