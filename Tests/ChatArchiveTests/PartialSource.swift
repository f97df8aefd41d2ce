import ChatCore
import Foundation
import LocalBackend

/// A backend whose history is complete from a position on, as one is whose server cannot be reached.
struct PartialSource: TimelineService, MediaService, AnnotationService, RoomCapabilityService {
    let backend: LocalBackend
    var start: Int64?
    let respond: @Sendable (MediaReference) throws -> URL

    init(
        backend: LocalBackend, start: Int64? = nil, respond: @escaping @Sendable (MediaReference) throws -> URL
    ) {
        self.backend = backend
        self.start = start
        self.respond = respond
    }

    /// One whose files are not there, either.
    static func unreachable(behind start: Int64, _ backend: LocalBackend) -> PartialSource {
        PartialSource(backend: backend, start: start) { _ in throw ChatError.unreachable }
    }

    func fetchHistory(of room: RoomID, progress: @escaping @Sendable (Int) -> Void) async throws -> Int64? { start }
    func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        backend.timeline(of: room, limit: limit)
    }
    /// Fails if the page would begin with what is missing.
    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        var page = try await backend.messages(in: room, before: position, limit: limit)
        page.messages.removeAll { $0.position < start ?? .min }
        if page.messages.isEmpty, start != nil { throw ChatError.unreachable }
        return page
    }
    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        if let start, position < start { throw ChatError.unreachable }
        return try await backend.messages(in: room, after: position, limit: limit)
    }
    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await backend.messages(in: room, around: target, limit: limit)
    }
    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] { [] }
    func markRead(_ message: MessageID, in room: RoomID) async throws {}
    func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference { throw ChatError.notPermitted }
    func content(of media: MediaReference) async throws -> URL { try respond(media) }
    func cachedContent(of media: MediaReference) async -> URL? { nil }
    func namedFile(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
}
