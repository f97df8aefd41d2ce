public import ChatCore
import ChatStore
public import Foundation

extension MatrixBackend {
    static let mediaScheme = "media:"
    /// Under which the store keeps what a fetched file is called here.
    private static let fetchedSetting = "matrix.fetched."

    public nonisolated func takeIn(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        let entry = try await media.takeIn(content, progress: progress)
        return MediaReference(uri: Self.mediaScheme + entry.digest, name: name, type: type, bytes: entry.bytes)
    }

    /// Fetches it from the server if it is not here.
    public nonisolated func content(of reference: MediaReference) async throws -> URL {
        guard let url = media.url(of: try await digest(of: reference.uri)) else { throw ChatError.notFound }
        return url
    }

    public nonisolated func contentAtHand(of reference: MediaReference) async -> URL? {
        guard let digest = try? await keptDigest(of: reference.uri) else { return nil }
        return media.url(of: digest)
    }

    public nonisolated func namedFile(of reference: MediaReference) async throws -> URL {
        try await media.named(reference.name, try await digest(of: reference.uri))
    }

    /// Of what is here; nil if it is not.
    private nonisolated func keptDigest(of uri: String) async throws -> String? {
        if uri.hasPrefix(Self.mediaScheme) { return String(uri.dropFirst(Self.mediaScheme.count)) }
        guard let known = try await store.setting(Self.fetchedSetting + uri), media.url(of: known) != nil else {
            return nil
        }
        return known
    }

    private nonisolated func digest(of uri: String) async throws -> String {
        if let known = try await keptDigest(of: uri) { return known }
        guard uri.hasPrefix("mxc://") else { throw ChatError.notFound }
        try FileManager.default.createDirectory(
            at: fetchFolder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let file = fetchFolder.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try await client.download(uri, to: file)
        } catch MatrixError.tooLarge(let limit) {
            throw ChatError.fileTooLarge(limit: limit)
        } catch {
            throw Self.chatError(error)
        }
        let entry = try await media.takeIn(.file(file)) { _ in }
        try await store.setSetting(entry.digest, for: Self.fetchedSetting + uri)
        return entry.digest
    }
}
