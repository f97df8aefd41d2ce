import ChatCore
import Testing

@testable import ChatViewModels

struct SelectionTargetTests {
    private let rooms = [RoomID("a"), RoomID("b")]

    @Test("At the start the last room is selected, or else the first of the list, and an empty list is waited out")
    func initial() {
        var target = SelectionTarget.initial(RoomID("b"))
        #expect(target.resolve(in: [], current: nil) == nil && target == .initial(RoomID("b")))
        #expect(target.resolve(in: rooms, current: nil) == RoomID("b") && target == .none)
        target = .initial(RoomID("gone"))
        #expect(target.resolve(in: rooms, current: nil) == RoomID("a"))
    }

    @Test("A room is selected when it is listed, once")
    func pending() {
        var target = SelectionTarget.room(RoomID("c"))
        #expect(target.resolve(in: rooms, current: RoomID("a")) == RoomID("a"))
        #expect(target.resolve(in: rooms + [RoomID("c")], current: RoomID("a")) == RoomID("c"))
        #expect(target.resolve(in: rooms + [RoomID("c")], current: RoomID("b")) == RoomID("b"))
    }
}
