import ChatCore
import ChatStore
import JSONReading
import Testing

@testable import MatrixBackend

/// The choice of a room's avatar.
@Suite struct RoomAvatarTests {
    private static let own = MemberID("@me:a")
    private static let ann = MemberID("@ann:a")

    private struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var stored: String?
        var hero: String?
        /// The `m.room.avatar` content, or `nil` for no event.
        var avatar: JSONValue?
        var heroes: [RoomUpdate.Hero]?
        var members: [JSONValue] = []
        var expected: String??
    }

    private static func hero(_ id: String = "@ann:a", _ avatar: String? = nil) -> RoomUpdate.Hero {
        RoomUpdate.Hero(id: MemberID(id), name: nil, avatar: avatar)
    }

    private static func member(_ avatar: JSONValue) -> JSONValue {
        Events.event(
            "$m", "m.room.member", ["membership": "join", "displayname": "Ann", "avatar_url": avatar],
            by: "@ann:a", stateKey: "@ann:a")
    }

    private static let cases: [Case] = [
        Case(testDescription: "nothing told", expected: nil),
        Case(testDescription: "nothing told, one kept", stored: "mxc://a/r", expected: "mxc://a/r"),
        Case(
            testDescription: "its own", avatar: "mxc://a/r", heroes: [hero("@ann:a", "mxc://a/h")],
            expected: "mxc://a/r"),
        Case(testDescription: "no address of a homeserver", avatar: "https://a/r", expected: .some(nil)),
        Case(
            testDescription: "taken away, and one other", stored: "mxc://a/r", hero: "@ann:a", avatar: .null,
            expected: .some(nil)),
        Case(
            testDescription: "the one other's", heroes: [hero("@me:a"), hero("@ann:a", "mxc://a/h")],
            expected: "mxc://a/h"),
        Case(
            testDescription: "told as a member", heroes: [hero()], members: [member("mxc://a/m")], expected: "mxc://a/m"
        ),
        Case(
            testDescription: "the other's new one", hero: "@ann:a", members: [member("mxc://a/n")],
            expected: "mxc://a/n"),
        Case(testDescription: "the other has none now", hero: "@ann:a", members: [member(.null)], expected: .some(nil)),
        Case(testDescription: "somebody else's", hero: "@bob:a", members: [member("mxc://a/n")], expected: nil),
        Case(
            testDescription: "more than one other", hero: "@ann:a", heroes: [hero(), hero("@bob:a", "mxc://a/b")],
            expected: .some(nil)),
    ]

    @Test(arguments: cases) private func avatarIsTheRoomsOrTheOnlyOtherMembers(_ given: Case) throws {
        var update = RoomUpdate(id: RoomID("!r"))
        update.heroes = given.heroes
        var state = given.members
        if let avatar = given.avatar {
            state.append(Events.event("$a", "m.room.avatar", ["url": avatar], by: "@ann:a", stateKey: ""))
        }
        var known = RoomState()
        known.avatar = given.stored
        known.heroes = [given.hero].compactMap { $0.map { MemberID($0) } }
        let parsed = ParsedRoomState(ownUserID: Self.own, state: state.compactMap(MatrixEvent.init), known: known)
        var after = parsed.room
        if let heroes = given.heroes { after.heroes = heroes.map(\.id) }
        #expect(RoomAvatar(state: after, ownUserID: Self.own).change(by: update, parsed) == given.expected)
        #expect(parsed.setsAvatar == (given.avatar != nil))
    }
}
