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
        let known = invited.first { $0.room == invitation }
        let room = try await answering(invitation) {
            // A server that is not in the room yet asks that of whoever invites.
            let via = [known?.inviter.flatMap(MatrixLink.server)].compactMap { $0 }
            return try await client.join(invitation.rawValue, via: via)
        }
        if let known, known.isDirect, let partner = known.inviter {
            await noteDirect(room, with: partner.rawValue)
        }
        try await enter(room, name: known?.title)
    }

    public func decline(_ invitation: RoomID) async throws {
        try await answering(invitation) { try await client.leave(invitation) }
        try await forget(invitation)
    }

    /// An invitation that was taken back can neither be accepted nor declined.
    private func answering<T: Sendable>(_ invitation: RoomID, _ work: () async throws -> T) async throws -> T {
        do {
            return try await asking(work)
        } catch ChatError.notPermitted, ChatError.notFound {
            try await forget(invitation)
            throw ChatError.notFound
        }
    }

    private func forget(_ invitation: RoomID) async throws {
        var left = RoomBatch(id: invitation, createdAt: now())
        left.isLeft = true
        try await inTurn {
            let batch = SyncBatch(rooms: [left])
            for outcome in try await store.apply(batch) { await tell(outcome) }
            try await invitationsChanged(by: batch)
        }
    }

    /// Tells of invitations, if a batch that is in the store concerns them.
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

    /// Where a room that the user is in becomes one to be invited into, it was left before.
    func invitation(_ update: RoomUpdate, into batch: inout SyncBatch) async {
        batch.invitations.append(Invitation(to: update.id, of: own, by: update.invitation, at: now()))
        guard (try? await store.room(update.id)) != nil else { return }
        var left = RoomBatch(id: update.id, createdAt: now())
        left.isLeft = true
        batch.rooms.append(left)
    }

    private func observeInvitations(with continuation: AsyncStream<[Invitation]>.Continuation) {
        guard !isClosed else { return continuation.finish() }
        continuation.yield(invited)
        _ = invitationObservers.add(continuation)
    }
}
