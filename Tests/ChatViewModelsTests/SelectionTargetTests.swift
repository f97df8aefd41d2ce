import ChatCore
import Testing

@testable import ChatViewModels

struct SelectionTargetTests {
    private let rooms = [RoomID("a"), RoomID("b")]

    @Test("Initially the last open room is selected, or else the first listed one")
    func initialSelectionIsTheLastOpenRoom() {
        var target = SelectionTarget.initial(RoomID("b"))
        #expect(target.resolve(in: [], current: nil) == nil && target == .initial(RoomID("b")))
        #expect(target.resolve(in: rooms, current: nil) == RoomID("b") && target == .none)
        target = .initial(RoomID("gone"))
        #expect(target.resolve(in: rooms, current: nil) == RoomID("a"))
    }

    @Test("A pending room is selected once, when it is listed")
    func pendingRoomIsSelectedOnceListed() {
        var target = SelectionTarget.room(RoomID("c"))
        #expect(target.resolve(in: rooms, current: RoomID("a")) == RoomID("a"))
        #expect(target.resolve(in: rooms + [RoomID("c")], current: RoomID("a")) == RoomID("c"))
        #expect(target.resolve(in: rooms + [RoomID("c")], current: RoomID("b")) == RoomID("b"))
    }
}
