import Foundation
import MatrixBackend
import ToolSupport

/// Creates accounts with rooms and history on a homeserver, unless they exist.
struct BenchFiller {
    /// Messages per room: more events than a first sync response has.
    private static let messages = 15
    private static let atOnce = 4

    let server: SoakHomeserver

    func account(_ name: String, rooms: Int) async throws -> MatrixSession {
        let session = try await server.signIn(name)
        let existingCount = try await server.rooms(of: session).count
        guard existingCount < rooms else { return session }
        print("making \(rooms - existingCount) rooms")
        try await concurrently(rooms - existingCount) { number in
            let room = try await server.makeRoom(named: "Room \(existingCount + number)", of: session)
            for number in 0..<Self.messages { try await server.send("Message \(number)", to: room, as: session) }
        }
        return session
    }

    /// Creates a room of the user with at least `messages` messages.
    /// - Returns: The room ID.
    func room(_ name: String, of session: MatrixSession, messages: Int) async throws -> String {
        let room: String
        if let existing = try await server.room(aliased: name) {
            room = existing
        } else {
            room = try await server.makeRoom(named: name, alias: name, of: session)
        }
        let existingCount = try await server.messages(in: room, as: session).count
        if existingCount < messages { print("writing \(messages - existingCount) messages") }
        try await concurrently(max(0, messages - existingCount)) { number in
            try await server.send("Message \(number) of many, none of which says much", to: room, as: session)
        }
        return room
    }

    private func concurrently(_ count: Int, _ work: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= Self.atOnce { try await group.next() }
                group.addTask { try await work(number) }
            }
            try await group.waitForAll()
        }
    }
}
