public import ChatCore
import Synchronization

/// Stores drafts in memory and records each save.
public final class FakeDraftService: DraftService {
    public struct Save: Equatable, Sendable {
        public var room: RoomID
        public var draft: SavedDraft?
    }

    private let recorded = Mutex<[Save]>([])
    private let failure: ChatError?

    public init(failing failure: ChatError? = nil) { self.failure = failure }

    public var saves: [Save] { recorded.withLock { $0 } }

    public func draft(in room: RoomID) async throws -> SavedDraft? {
        if let failure { throw failure }
        return recorded.withLock { $0.last { $0.room == room }?.draft }
    }

    public func saveDraft(_ draft: SavedDraft?, in room: RoomID) async throws {
        recorded.withLock { $0.append(Save(room: room, draft: draft)) }
        if let failure { throw failure }
    }
}
