import ChatCore
import ChatStore

/// The rooms created at the first start: the user's notes, and the guide's room, which is the more recent one.
struct FirstRooms {
    let rooms: [NewRoom]

    init(backend: isolated LocalBackend) {
        let translator = backend.translator
        let time = backend.now()
        let ownMember = Member(id: LocalBackend.ownUserID, displayName: backend.ownDisplayName, kind: .own)
        let guide = Member(id: LocalBackend.guideID, displayName: translator("Guide"), kind: .guide)
        let notes = NewRoom(
            room: Room(id: RoomID(backend.makeID()), name: translator("Notes"), kind: .notes), members: [ownMember],
            createdAt: time)
        let greeting = backend.guide.greeting.map { text in
            NewMessage(id: MessageID(backend.makeID()), sender: guide.id, text: text, sentAt: time)
        }
        let welcome = NewRoom(
            room: Room(id: RoomID(backend.makeID()), name: translator("Welcome"), kind: .guide),
            members: [ownMember, guide],
            messages: greeting, createdAt: time,
            settings: [GuideMemory.setting: GuideMemory(introduced: backend.guide.topics.map(\.id)).encoded])
        rooms = [notes, welcome]
    }
}
