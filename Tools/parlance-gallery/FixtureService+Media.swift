import ChatCore
import Foundation

/// Media files of the fixtures, stored in a separate folder.
extension FixtureService {
    nonisolated func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        guard case .file(let url) = content else { throw ChatError.unreadableFile }
        return MediaReference(uri: url.absoluteString, name: name, type: type)
    }

    nonisolated func content(of media: MediaReference) async throws -> URL {
        if media.uri.hasPrefix("never:") { try await Task.sleep(for: .seconds(86400)) }
        guard let url = URL(string: media.uri), url.isFileURL else { throw ChatError.notFound }
        return URL(fileURLWithPath: url.path)
    }

    nonisolated func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }
}
