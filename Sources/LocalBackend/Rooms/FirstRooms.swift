import ChatCore
import ChatStore
import Foundation

/// The rooms created at the first start: the user's notes, and the guide's room, which is the more recent one.
struct FirstRooms {
    /// The setting that records that they were created.
    static let setting = "local.firstRooms"

    let rooms: [NewRoom]

    init(
        own: Member, guide: Guide, image: MediaReference?, translator: Translator, createdAt time: Date,
        makeID: () -> String
    ) throws {
        let guideMember = Member(id: LocalBackend.guideID, displayName: translator("Guide"), kind: .guide)
        let notes = NewRoom(
            room: Room(id: RoomID(makeID()), name: translator("Notes"), kind: .notes), members: [own],
            createdAt: time)
        var greeting = guide.greeting.map { text in
            NewMessage(id: MessageID(makeID()), sender: guideMember.id, text: text, sentAt: time)
        }
        if var image {
            image.altText = guide.imageDescription
            greeting[Guide.imageIndex].attachments = [image]
            greeting[Guide.imageIndex].kind = image.messageKind
        }
        let memory = GuideMemory(introduced: guide.topics.map(\.id))
        let welcome = NewRoom(
            room: Room(id: RoomID(makeID()), name: translator("Welcome"), kind: .guide),
            members: [own, guideMember], messages: greeting, createdAt: time,
            settings: [GuideMemory.setting: try memory.encoded()])
        rooms = [notes, welcome]
    }
}
