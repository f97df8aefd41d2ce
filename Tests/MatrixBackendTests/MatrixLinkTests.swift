import ChatCore
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
}
