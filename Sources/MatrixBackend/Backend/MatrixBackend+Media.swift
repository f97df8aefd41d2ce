public import ChatCore
import ChatStore
public import Foundation

/// Media and link previews.
extension MatrixBackend {
    public nonisolated func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        try await media.store(content, named: name, type: type, progress: progress)
    }

    public nonisolated func content(of reference: MediaReference) async throws -> URL {
        try await media.content(of: reference)
    }

    public nonisolated func cachedContent(of reference: MediaReference) async -> URL? {
        await media.cachedContent(of: reference)
    }

    public nonisolated func thumbnail(
        of reference: MediaReference, fitting width: Int, by height: Int
    ) async throws -> URL {
        try await media.thumbnail(of: reference, fitting: width, by: height)
    }

    public nonisolated func namedFile(of reference: MediaReference) async throws -> URL {
        try await media.namedFile(of: reference)
    }

    public nonisolated func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview? {
        // The URL is part of the message: never disclose it from an encrypted room.
        guard try await !isEncrypted(room) else { return nil }
        return try await LinkPreviews(client: client, store: store).preview(of: address)
    }

    public nonisolated func isEncrypted(_ room: RoomID) async throws -> Bool {
        switch try await store.roomState(of: room).encryption {
        case .on: return true
        case .off: return false
        case .unknown:
            do {
                let isOn = try await client.state("m.room.encryption", of: room) != nil
                // Final, unlike the opposite, which the next sync may correct.
                if isOn { try await store.updateRoomState(of: room) { $0.encryption = .on } }
                return isOn
            } catch {
                throw ChatError.translated(error)
            }
        }
    }
}
