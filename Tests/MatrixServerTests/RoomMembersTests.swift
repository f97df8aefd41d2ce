import ChatCore
import Foundation
import Testing

@testable import MatrixBackend

/// Creating rooms with all options, and user search, on a real homeserver.
@Suite(.timeLimit(.minutes(10)))
struct RoomMembersTests {
    @Test func publicRoomIsFoundByAliasWithItsPermissions() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let bo = try await MatrixUser.make("bo", sliding: false)
        let carl = try await MatrixUser.make("carl", sliding: true)
        let address = "garden-\(UUID().uuidString.prefix(8).lowercased())"
        let room = try await ann.backend.createRoom(
            RoomRequest(name: "Garden", topic: "Beds", address: address, invitees: [carl.session.user]))
        await #expect(throws: ChatError.self) {
            try await ann.backend.createRoom(RoomRequest(name: "Garden", address: address))
        }
        await #expect(throws: ChatError.invalidAddress) {
            try await ann.backend.createRoom(RoomRequest(name: "Garden", address: "a b"))
        }
        let server = try #require(MatrixLink.server(ann.session.user))
        #expect(try await bo.backend.join("#\(address):\(server)") == room)
        try await bo.waitForRoom(room) { $0.room.name == "Garden" }
        #expect(try await bo.backend.topic(of: room) == "Beds")

        let members = try await ann.backend.members(of: room)
        #expect(members.entries.map(\.id) == [ann.session.user, bo.session.user, carl.session.user])
        #expect(members.entries.map(\.role) == [.administrator, .member, .member])
        #expect(members.entries.map(\.isInvited) == [false, false, true])
        #expect(members.entries.map(\.canBeRemoved) == [false, true, true])
        #expect(
            members.permissions == [.rename, .setTopic, .invite, .notifyEveryone, .encrypt]
                && members.address == "#\(address):\(server)")
        let seen = try await bo.backend.members(of: room)
        #expect(!seen.permissions.contains(.rename) && seen.entries.allSatisfy { !$0.canBeRemoved })
        await #expect(throws: ChatError.notPermitted) { try await bo.backend.renameRoom(room, to: "Mine") }
        for user in [ann, bo, carl] { await user.close() }
    }

    @Test func usersAreFoundByNameOrMatrixID() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let bo = try await MatrixUser.make("bo", sliding: true)
        let name = "Bo \(UUID().uuidString.prefix(8))"
        try await bo.backend.setDisplayName(name)
        // Synapse's user directory lists members of public rooms and of rooms shared with the searcher.
        let room = try await bo.backend.createRoom(
            RoomRequest(name: "Open", address: "a-\(UUID().uuidString.lowercased())"))
        #expect(try await ann.backend.join(room.rawValue) == room)
        var found: [User] = []
        // The user directory is updated asynchronously.
        while found.isEmpty { found = try await ann.backend.users(matching: name) }
        #expect(found == [User(id: bo.session.user, name: name)])
        #expect(try await bo.backend.users(matching: name).isEmpty, "nobody writes to oneself")
        await ann.close()
        await bo.close()
    }

    /// Members not yet loaded are published on request, also to observers of the room.
    @Test func memberListIsStoredAndPublished() async throws {
        let ann = try await MatrixUser.make("ann", sliding: true)
        let bo = try await MatrixUser.make("bo", sliding: true)
        let room = try await ann.backend.createRoom(
            RoomRequest(name: "Open", address: "a-\(UUID().uuidString.lowercased())"))
        #expect(try await bo.backend.join(room.rawValue) == room)
        try await bo.waitForRoom(room) { $0.room.name == "Open" }
        _ = try await bo.backend.members(of: room)
        let known = try await bo.members(of: room) { $0.contains { $0.id == ann.session.user && !$0.hasLeft } }
        #expect(known.count == 2)
        await #expect(throws: ChatError.notFound) { _ = try await bo.backend.members(of: RoomID("!none")) }
        await ann.close()
        await bo.close()
    }
}
