import ChatCore
import ChatOutbox
import ChatStore
import Synchronization

/// Stores changes to rooms and publishes them.
///
/// Store and publish in a single operation of ``serialized(_:)``, so that updates are published in commit order and
/// a new observer misses none.
struct RoomWriter: Sendable {
    /// More events than one sync returns for a room.
    private static let openingLimit = 200

    /// Whether the stored invitations could not be read when they were to be published.
    final class InvitationStatus: Sendable {
        private let mark = Atomic(false)

        var isStale: Bool {
            get { mark.load(ordering: .acquiring) }
            set { mark.store(newValue, ordering: .releasing) }
        }
    }

    let ownUserID: MemberID
    let store: ChatStore
    let outbox: Outbox
    let gate: SerialGate
    let unsent: UnsentMessages
    let timelines: TimelineFeeds
    let rooms: RoomListFeed
    let invitations: ValueFeed<[Invitation]>
    let ownNames: OwnNames
    let latestEvents = LatestEvents()
    let sentState = SentState()
    let invitationStatus = InvitationStatus()

    /// Runs operations one at a time in FIFO order, across their suspensions.
    func serialized<T>(_ operation: () async throws -> T) async rethrows -> T {
        try await gate.runEvenIfCanceled(operation)
    }

    /// Stores a batch and publishes what it changed, except to the observers of the room list.
    func write(_ batch: SyncBatch) async throws {
        for change in try await store.apply(batch) { await publish(change) }
        // If that fails, what is stored next publishes them.
        try? await publishInvitations(after: batch)
    }

    /// Publishes a change that continues the observers' range.
    func publish(_ change: RoomChange) async {
        if change.isLeft { return await close(change.room) }
        if change.needsReload { return await reopen(after: change) }
        timelines.publish(change)
        await finish(change.room, members: change.members)
    }

    /// Publishes a change after a gap, or one of which messages are shown. Observers hold a contiguous range, so they
    /// start over after the last gap. If that fails, their streams end, because they could not learn of the change.
    func reopen(after change: RoomChange) async {
        let room = change.room
        if let members = change.members { timelines.publish(members, in: room) }
        timelines.endEchoes(of: change.changed, in: room)
        if timelines.isObserved(room) {
            do {
                if let snapshot = try await store.snapshot(of: room, limit: Self.openingLimit) {
                    timelines.reopen(snapshot, behind: try await store.lastGap(in: room))
                }
            } catch {
                timelines.end(room)
            }
        }
        await finish(room, members: change.members)
    }

    /// Discards the state of a room that was left, and ends its streams.
    func close(_ room: RoomID) async {
        unsent.forget(room)
        latestEvents.forget(room)
        // The store has deleted the requests with the room. Any request still in memory fails when it is sent.
        try? await outbox.forget(room)
        timelines.close(room)
    }

    /// Publishes the user's own name, and updates the outbox from the store.
    func finish(_ room: RoomID, members: [Member]?) async {
        if let me = members?.first(where: { $0.id == ownUserID }), !me.hasLeft { ownNames.publish(me.displayName) }
        await confirmStored(in: room)
    }

    /// Tells the outbox which accepted messages it need not retain, because the store has them.
    func confirmStored(in room: RoomID) async {
        let stored = unsent.withEchoes { $0.stored(in: room) }
        if !stored.isEmpty { await outbox.confirm(stored, in: room) }
    }

    /// Publishes the invitations if a batch changed them, or an earlier one of which they could not be read.
    func publishInvitations(after batch: SyncBatch) async throws {
        let known = Set(invitations.value.map(\.room))
        guard
            invitationStatus.isStale || batch.areInvitationsWhole || batch.endsInvitations && !known.isEmpty
                || !batch.invitations.isEmpty || batch.rooms.contains(where: { known.contains($0.id) })
                // Those by ignored users are hidden, too.
                || batch.ignoredUsers != nil
        else { return }
        invitationStatus.isStale = true
        invitations.set(try await store.invitations())
        invitationStatus.isStale = false
    }

    /// Ends all streams, including any that begin later.
    func finish() {
        timelines.finish()
        rooms.finish()
        invitations.finish()
        ownNames.finish()
    }
}
