import ChatCore
import Foundation

/// Has no files: media is tested with `FakeMediaService`.
extension FakeChatService {
    nonisolated func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        throw ChatError.unreadableFile
    }

    nonisolated func content(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
    @MainActor func unencrypted(_ media: MediaReference) async throws -> MediaReference {
        try await record(.decrypt(media.uri))
        var copy = media
        copy.uri = "copy of \(media.uri)"
        return copy
    }
    nonisolated func namedFile(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
}
