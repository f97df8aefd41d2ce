import ChatCore
import Foundation

/// Stores imported rooms in memory.
actor FakeImportService: ImportService, MediaService {
    private(set) var staged: [RoomID: Int] = [:]
    private(set) var shown: [String] = []
    /// The size of the text in each call, in bytes.
    private(set) var batches: [Int] = []
    private(set) var changed: [ImportedChange] = []
    private var number = 0

    var importingMember: Member { Member(id: MemberID("own"), displayName: "Robin", kind: .own) }

    func startImport(of source: String?) async throws -> RoomID {
        number += 1
        staged[RoomID("\(number)")] = 0
        return RoomID("\(number)")
    }

    func addImported(_ messages: [ImportedMessage], by members: [Member], to room: RoomID) async throws -> Int {
        staged[room, default: 0] += messages.count
        batches.append(messages.reduce(0) { $0 + $1.text.text.utf8.count })
        return messages.count
    }

    func applyImported(
        _ changes: [ImportedChange], by members: [Member], to room: RoomID
    ) async throws -> [ImportedChange] {
        batches.append(
            changes.reduce(0) { sum, change in
                if case .edit(let said) = change.kind { sum + said.text.utf8.count } else { sum }
            })
        changed += changes
        return []
    }

    func earlierImports(of rooms: [RoomID]) async throws -> [EarlierImport] { [] }

    func finishImport(_ rooms: [FinishedImport]) async throws -> [RoomID: Int] {
        for room in rooms {
            staged[room.staged] = nil
            shown.append(room.name)
        }
        return [:]
    }

    func discardImport(_ rooms: [RoomID]) async { for room in rooms { staged[room] = nil } }

    func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference { MediaReference(uri: "fake:\(name)", name: name, type: type) }
    func content(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
    func namedFile(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
}

/// A source without rooms.
struct FakeSource: TimelineService, MediaService, AnnotationService, RoomCapabilityService {
    func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> { AsyncStream { $0.finish() } }
    func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        throw ChatError.notFound
    }
    func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        throw ChatError.notFound
    }
    func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        throw ChatError.notFound
    }
    func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] { [] }
    func markRead(_ message: MessageID, in room: RoomID) async throws {}
    func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference { throw ChatError.notPermitted }
    func content(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
    func namedFile(of media: MediaReference) async throws -> URL { throw ChatError.notFound }
}
