import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

/// A coordinator over a fake service with two rooms and a manual clock. Suites of it are its subclasses.
@MainActor class CoordinatorHarness {
    let service = FakeChatService()
    let clock = ManualClock()
    let wallClock = Recorder<Date>()
    let coordinator: ConversationCoordinator
    let a = RoomID("a")
    let b = RoomID("b")

    init() {
        wallClock.record(localTime(2026, 3, 10))
        coordinator = ConversationCoordinator(
            service: service, time: Timekeeper(clock), now: { [wallClock] in wallClock.values.last! })
        for room in ["a", "b"] {
            service.openings[RoomID(room)] = .opened(
                TimelinePage(messages: [own("m1", in: room), own("m2", in: room)], hasOlder: false),
                members: [Fixtures.own, Fixtures.other], fullyReadMarker: nil)
        }
    }

    func own(_ id: String, in room: String, isDeleted: Bool = false) -> Message {
        Message(
            id: MessageID(id), roomID: RoomID(room), sender: Fixtures.own.id, text: "Text of \(id)",
            sentAt: localTime(2026, 3, 10), position: Int64(id.dropFirst())!, isDeleted: isDeleted)
    }

    func show(_ rooms: [String]) async {
        service.publish(rooms.map { .of($0, at: localTime(2026, 3, 10)) })
        await eventually { [coordinator] in coordinator.rooms.state.rows.map(\.id.rawValue) == rooms }
    }

    /// Opens a room and waits for its messages and its draft.
    @discardableResult
    func open(_ room: RoomID) async -> Conversation {
        coordinator.rooms.send(.select(room))
        let conversation = coordinator.conversation!
        await eventually {
            conversation.roomID == room && conversation.timeline.state.isLoaded
                && conversation.composer.state.isReady
        }
        return conversation
    }

    func start() async -> Conversation {
        coordinator.start(opening: nil)
        await show(["a", "b"])
        return await open(a)
    }

    func type(_ text: String, in conversation: Conversation) {
        for character in text { conversation.composer.handle(.insert(String(character), origin: .typed)) }
    }

    func press(_ chord: String, in conversation: Conversation) {
        conversation.composer.handle(.key(KeyChord(parsing: chord)!))
    }

    func edited(in conversation: Conversation) -> [String] {
        conversation.timeline.items.compactMap(\.message).filter(\.isBeingEdited).map(\.id.rawValue)
    }
}
