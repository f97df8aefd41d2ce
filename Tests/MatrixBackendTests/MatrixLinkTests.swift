import ChatCore
import ChatStore
import Composer
import JSONReading
import Testing

@testable import MatrixBackend

@Suite struct MatrixLinkTests {
    @Test(arguments: [
        (["@me:a.org"], "?via=a.org"),
        (["@me:a.org", "@b:b.org", "@c:c.org:8448", "@d:c.org:8448"], "?via=a.org&via=c.org%3A8448&via=b.org"),
        (["@me:a.org", "@b:b", "@c:c", "@d:d"], "?via=a.org&via=b&via=c"), (["nobody"], ""),
    ])
    func permalinkNamesTheServersOfMostMembers(_ members: [String], _ via: String) {
        let link = MatrixLink.link(
            to: MessageID("$ev/1"), in: RoomID("!room:a.org"), by: members.map { MemberID($0) })
        #expect(link == "https://matrix.to/#/%21room%3Aa.org/%24ev%2F1" + via)
    }

    @Test("An event links to the room it names only by a room ID")
    func namedRoom() {
        func link(_ room: JSONValue?) -> String? { MatrixLink.link(to: room, by: MemberID("@b:b.org")) }
        #expect(link("!room:a.org") == "https://matrix.to/#/%21room%3Aa.org?via=b.org")
        #expect(link("#alias:a.org") == nil && link("") == nil && link(1) == nil && link(nil) == nil)
    }

    @Test("A mention of a room whose ID names no server names those of its members.")
    func mentionOfARoom() async throws {
        let parts = try await AccountParts.make()
        let known = RoomID("!31hneApxJ_1o-63DmFrpeqnkFfWppnzWso1JvH3ogLM")
        var batch = AccountParts.batch(events: [], gap: nil)
        batch.id = known
        batch.members = ["@me:example.org", "@b:b.org", "@c:c.org", "@d:c.org", "@e:e.org"].map {
            Member(id: MemberID($0), displayName: $0, kind: $0 == "@me:example.org" ? .own : .person)
        }
        _ = try await parts.store.apply(SyncBatch(rooms: [batch]))
        let targets: [MentionTarget] = [
            .room(known.rawValue, via: []), .room("!unknown", via: []), .room("!a:a.org", via: ["a.org"]),
        ]
        let text = WrittenText(
            "#one #two #three", mentioning: zip(["#one", "#two", "#three"], targets).map { Mention($1, text: $0) })
        let found = await RoomMentions(store: parts.store, ownUserID: AccountParts.own).addingServers(to: text)
        #expect(found.source == text.source)
        #expect(
            found.mentions.map(\.target)
                == [.room(known.rawValue, via: ["example.org", "c.org", "b.org"])] + targets.dropFirst())
        await parts.store.close()
    }
}
