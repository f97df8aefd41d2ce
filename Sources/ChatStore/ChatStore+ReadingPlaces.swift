public import ChatCore
import Foundation

extension ChatStore {
    private static let readingPlace = "readingPlace"

    /// Where the user reads in the room; nil at the newest message.
    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func readingPlace(in room: RoomID) async throws -> ReadingPlace? {
        guard let stored = try await setting(Self.readingPlace, of: room) else { return nil }
        // What cannot be read is no place: the reader begins at the newest message.
        return try? JSONDecoder().decode(ReadingPlace.self, from: Data(stored.utf8))
    }

    /// - Throws: ``ChatError/notFound`` if there is no such room.
    public func saveReadingPlace(_ place: ReadingPlace?, in room: RoomID) async throws {
        let encoded = try place.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        try await set(encoded, for: Self.readingPlace, of: room)
    }
}
