public import ChatCore
public import Foundation

/// Stores nothing; a copy finishes, or fails, when the test's closure does.
public final class FakeMediaService: MediaService {
    /// Runs before each copy finishes: may wait, report progress, or throw to fail the copy.
    private let before: @Sendable (_ name: String, _ progress: @Sendable (Double) -> Void) async throws -> Void

    public init(
        before: @escaping @Sendable (String, @Sendable (Double) -> Void) async throws -> Void = { _, _ in }
    ) {
        self.before = before
    }

    public func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        try await before(name, progress)
        return MediaReference(uri: "fake:\(name)", name: name, type: type, bytes: 7)
    }

    public func content(of media: MediaReference) async throws -> URL {
        URL(fileURLWithPath: "/dev/null/\(media.name)")
    }
    public func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }
}
