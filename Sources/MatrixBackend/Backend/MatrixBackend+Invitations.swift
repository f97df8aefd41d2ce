public import ChatCore
import ChatStore
import Foundation

extension MatrixBackend {
    public nonisolated func invitations() -> AsyncStream<[Invitation]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [Invitation].self, bufferingPolicy: .bufferingNewest(1))
        Task { await observeInvitations(with: continuation) }
        return stream
    }

    public func accept(_ invitation: RoomID) async throws {
        let storedInvitation = invited.first { $0.room == invitation }
        let room = try await performDecision(invitation) {
            // A server that is not in the room needs a server to join by; the inviter's is.
            let via = [storedInvitation?.inviter.flatMap(MatrixLink.server)].compactMap { $0 }
            return try await client.join(invitation.rawValue, via: via)
        }
        if let storedInvitation, storedInvitation.isDirect, let partner = storedInvitation.inviter {
            await noteDirect(room, with: partner.rawValue)
        }
        try await enter(room, name: storedInvitation?.title)
    }

    public func decline(_ invitation: RoomID) async throws {
        try await performDecision(invitation) { try await client.leave(invitation) }
        try await forget(invitation)
    }

    /// Removes an invitation that was withdrawn: it can neither be accepted nor declined.
    private func performDecision<T: Sendable>(_ invitation: RoomID, _ work: () async throws -> T) async throws -> T {
        do {
            return try await asking(work)
        } catch ChatError.notPermitted, ChatError.notFound {
            try await forget(invitation)
            throw ChatError.notFound
        }
    }

    private func forget(_ invitation: RoomID) async throws {
        try await serialized {
            let batch = SyncBatch(rooms: [.left(invitation, at: now())])
            for roomChange in try await store.apply(batch) { await publish(roomChange) }
            try await invitationsChanged(by: batch)
        }
    }

    /// Publishes the invitations if a batch changed them.
    func invitationsChanged(by batch: SyncBatch) async throws {
        guard
            batch.areInvitationsWhole || !batch.invitations.isEmpty
                || batch.rooms.contains(where: { room in invited.contains { $0.room == room.id } })
        else { return }
        let now = try await store.invitations()
        guard now != invited else { return }
        invited = now
        invitationObservers.yield(now)
    }

    private func observeInvitations(with continuation: AsyncStream<[Invitation]>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        continuation.yield(invited)
        _ = invitationObservers.add(continuation)
    }
}
