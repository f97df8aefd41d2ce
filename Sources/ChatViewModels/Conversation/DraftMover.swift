import ChatCore
import Composer
import ComposerSessions

/// Moves the draft of an upgraded room to the room that replaced it.
final class DraftMover {
    /// How long the other room's draft may take to load.
    private static let loadingTime = Duration.seconds(10)

    private let rooms: RoomListViewModel
    private let composers: RoomComposers
    private let time: Timekeeper
    /// What another room has but could not store, so that the room it comes from still has it.
    private var unstored: [RoomID: (target: RoomID, drafts: [ComposerDraft])] = [:]

    init(rooms: RoomListViewModel, composers: RoomComposers, time: Timekeeper) {
        self.rooms = rooms
        self.composers = composers
        self.time = time
    }

    /// Returns the listed room with this link.
    func room(at link: String) -> RoomID? {
        let address = ChatAddress(link)?.room?.address ?? link
        return rooms.state.rows.first { $0.id.rawValue == address || $0.address == address }?.id
    }

    /// Puts what is written in a composer before what is written in another room. It leaves the first composer once the
    /// other draft is stored. A reply, which is to a message of the former room, is dropped.
    /// - Returns: whether the other room has it. If it could not be stored, both have it.
    func move(from composer: ComposerViewModel, to room: RoomID) async -> Bool {
        let target = composers.composer(of: room)
        await time.wait(atMost: Self.loadingTime) { target.state.isReady }
        let drafts = composer.movableDrafts
        guard target.state.isReady, !drafts.isEmpty else { return false }
        let isThere = unstored[composer.roomID].map { $0 == (room, drafts) && target.begins(with: drafts) } ?? false
        guard isThere || target.add(drafts) else { return false }
        unstored[composer.roomID] = (room, drafts)
        if await target.flushDraft(), composer.movableDrafts == drafts, target.begins(with: drafts) {
            unstored[composer.roomID] = nil
            await composer.removeMovedDraft(drafts)
        }
        return true
    }
}
