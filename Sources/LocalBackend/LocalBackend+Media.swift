public import ChatCore
import ChatStore
public import Foundation

extension LocalBackend {
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

    func sweepMedia() async { await media.sweep(Self.scheme, knownBy: store, at: now()) }

    private static func digest(of uri: String) -> String? {
        uri.hasPrefix(scheme) ? String(uri.dropFirst(scheme.count)) : nil
    }
}
