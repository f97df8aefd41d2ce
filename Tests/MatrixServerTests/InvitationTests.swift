import ChatCore
import ChatStore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Two users on a real homeserver who invite each other, with sliding and plain sync.
@Suite(.timeLimit(.minutes(10)))
struct InvitationTests {
    private func pair(sliding: Bool) async throws -> (ann: MatrixUser, bo: MatrixUser) {
        (try await MatrixUser.make("ann", sliding: true), try await MatrixUser.make("bo", sliding: sliding))
    }

    private func invitation(
        to room: RoomID, for user: MatrixUser, where condition: (Invitation) -> Bool = { _ in true }
    ) async throws -> Invitation {
        for await all in user.backend.invitations() {
            if let found = all.first(where: { $0.room == room }), condition(found) { return found }
        }
        throw CancellationError()
    }

    private func waitUntilGone(_ room: RoomID, for user: MatrixUser) async throws {
        for await all in user.backend.invitations() where !all.contains(where: { $0.room == room }) { return }
        throw CancellationError()
    }

    @Test(arguments: [true, false]) func invitationDescribesTheRoomAndCanBeAccepted(_ sliding: Bool) async throws {
        var (ann, bo) = try await pair(sliding: sliding)
        try await ann.backend.setDisplayName("Ann Smith")
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.backend.setTopic("Beds and borders", of: room)
        try await ann.backend.invite(bo.session.user.rawValue, to: room)
        let received = try await invitation(to: room, for: bo)
        #expect(
            received.name == "Garden" && received.topic == "Beds and borders" && !received.isEncrypted
                && !received.isDirect)
        #expect(received.inviter == ann.session.user && received.inviterName == "Ann Smith")
        // The invitation is stored: available offline, and not duplicated.
        bo = try await bo.restarted()
        #expect(try await bo.store.invitations().map(\.room) == [room])
        #expect(try await invitation(to: room, for: bo).title == "Garden")
        try await bo.backend.accept(room)
        try await bo.waitForRoom(room) { $0.room.name == "Garden" && $0.room.kind == .group }
        try await waitUntilGone(room, for: bo)
        try await ann.say("Welcome", in: room)
        try await bo.messages(in: room) { $0.contains { $0.text == "Welcome" } }
        await ann.close()
        await bo.close()
    }

    @Test(arguments: [true, false]) func withdrawnInvitationIsRemoved(_ sliding: Bool) async throws {
        let (ann, bo) = try await pair(sliding: sliding)
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.backend.invite(bo.session.user.rawValue, to: room)
        _ = try await invitation(to: room, for: bo)
        try await ann.client.remove(bo.session.user, from: room)
        try await waitUntilGone(room, for: bo)
        await #expect(throws: ChatError.notFound) { try await bo.backend.accept(room) }
        // The user can be invited again.
        try await ann.backend.invite(bo.session.user.rawValue, to: room)
        _ = try await invitation(to: room, for: bo)
        await ann.close()
        await bo.close()
    }

    @Test(arguments: [true, false]) func declinedInvitationStaysRemoved(_ sliding: Bool) async throws {
        var (ann, bo) = try await pair(sliding: sliding)
        let room = try await ann.backend.createRoom(named: "Garden")
        try await ann.backend.invite(bo.session.user.rawValue, to: room)
        _ = try await invitation(to: room, for: bo)
        try await bo.backend.decline(room)
        #expect(try await bo.store.invitations().isEmpty)
        #expect(try await ann.client.membership(of: bo.session.user.rawValue, in: room) == "leave")
        // Later syncs, also after a restart, do not restore it.
        let other = try await ann.backend.createRoom(named: "Other")
        try await ann.backend.invite(bo.session.user.rawValue, to: other)
        _ = try await invitation(to: other, for: bo)
        bo = try await bo.restarted()
        #expect(try await bo.store.invitations().map(\.room) == [other])
        await ann.close()
        await bo.close()
    }

    /// A direct chat is direct for the inviter, the invitee, and their other clients.
    @Test(arguments: [true, false]) func directChatIsDirectForBoth(_ sliding: Bool) async throws {
        let (ann, bo) = try await pair(sliding: sliding)
        try await ann.backend.setDisplayName("Ann Smith")
        let room = try await ann.backend.openDirect(with: bo.session.user.rawValue)
        try await ann.waitForRoom(room) { $0.room.kind == .direct }
        let received = try await invitation(to: room, for: bo)
        #expect(received.isDirect && received.title == "Ann Smith")
        // Opening a direct chat with the inviter accepts the pending invitation.
        #expect(try await bo.backend.openDirect(with: ann.session.user.rawValue) == room)
        try await bo.waitForRoom(room) { $0.room.kind == .direct && $0.room.name == "Ann Smith" }
        let marked = DirectRooms(.object(try await bo.client.directRooms(of: bo.session.user)))
        #expect(marked.partners == [room: ann.session.user])
        // Another client of the user removes the room from `m.direct` and adds it again.
        try await bo.client.setDirectRooms([:], of: bo.session.user)
        try await bo.waitForRoom(room) { $0.room.kind == .group }
        try await bo.client.setDirectRooms(marked.json.object ?? [:], of: bo.session.user)
        try await bo.waitForRoom(room) { $0.room.kind == .direct }
        // A chat that the other user has left is not reused.
        try await bo.backend.leaveRoom(room)
        #expect(try await ann.backend.openDirect(with: bo.session.user.rawValue) != room)
        await ann.close()
        await bo.close()
    }

    /// An initial sync removes invitations withdrawn while offline, although the server does not report the withdrawal.
    @Test(arguments: [true, false]) func initialSyncRemovesWithdrawnInvitations(_ sliding: Bool) async throws {
        var (ann, bo) = try await pair(sliding: sliding)
        let gone = try await ann.backend.createRoom(named: "Gone")
        let kept = try await ann.backend.createRoom(named: "Kept")
        for room in [gone, kept] { try await ann.backend.invite(bo.session.user.rawValue, to: room) }
        for room in [gone, kept] { _ = try await invitation(to: room, for: bo) }
        await bo.backend.close()
        try await ann.client.remove(bo.session.user, from: gone)
        for setting in ["matrix.sync.sliding", "matrix.sync.plain"] { try await bo.store.setSetting("", for: setting) }
        bo = try await bo.restarted()
        // Synapse may repeat its last response and return the rest in the next.
        for await all in bo.backend.invitations() where all.map(\.room) == [kept] { break }
        await ann.close()
        await bo.close()
    }
}
