public import ChatCore
public import Foundation
import Synchronization

/// Keeps the names of what is taken in; a copy is done when the test lets it, and fails if it says so.
public final class FakeMediaService: MediaService {
    /// Comes before each copy ends: may wait, tell progress, or throw in its place.
    private let before: @Sendable (_ name: String, _ progress: @Sendable (Double) -> Void) async throws -> Void
    private let recorded = Mutex<[String]>([])

    public init(
        before: @escaping @Sendable (String, @Sendable (Double) -> Void) async throws -> Void = { _, _ in }
    ) {
        self.before = before
    }

    /// The names of what was kept, in order.
    public var taken: [String] { recorded.withLock { $0 } }

    public func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        try await before(name, progress)
        recorded.withLock { $0.append(name) }
        return MediaReference(uri: "fake:\(name)", name: name, type: type, bytes: 7)
    }

    public func content(of media: MediaReference) async throws -> URL {
        URL(fileURLWithPath: "/dev/null/\(media.name)")
    }
    public func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }
}
