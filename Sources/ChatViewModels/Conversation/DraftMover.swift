import ChatCore
import ComposerSessions

/// Moves the draft of an upgraded room to the room that replaced it.
final class DraftMover {
    /// How long the other room's draft may take to load.
    private static let loadingTime = Duration.seconds(10)

    private let rooms: RoomListViewModel
    private let composers: RoomComposers
    private let navigator: RoomNavigator
    private let time: Timekeeper

    init(rooms: RoomListViewModel, composers: RoomComposers, navigator: RoomNavigator, time: Timekeeper) {
        self.rooms = rooms
        self.composers = composers
        self.navigator = navigator
        self.time = time
    }

    /// Returns the listed room with this link.
    func room(at link: String) -> RoomID? {
        let address = ChatAddress(link)?.room?.address ?? link
        return rooms.state.rows.first { $0.id.rawValue == address || $0.address == address }?.id
    }

    /// Puts the new message of a composer before what is written in another room, and opens that. It leaves the first
    /// composer once the other draft is stored. A reply, which is to a message of the former room, is dropped.
    func move(from composer: ComposerViewModel, to room: RoomID) async {
        let target = composers.composer(of: room)
        await time.wait(atMost: Self.loadingTime) { target.state.isReady }
        guard target.state.isReady, let draft = composer.movableDraft, target.add(draft) else { return }
        // On failure, the error is shown, and both rooms have it.
        if await target.flushDraft(), composer.movableDraft == draft { await composer.removeMovedDraft() }
        navigator.show(nil, in: room)
    }
}
