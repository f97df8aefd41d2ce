import ChatCore
import Foundation
import Testing

@Suite struct IdentifierTests {
    @Test func encodesAsPlainString() throws {
        let room = RoomID("!abc")
        let data = try JSONEncoder().encode([room])
        #expect(String(decoding: data, as: UTF8.self) == #"["!abc"]"#)
        #expect(try JSONDecoder().decode([RoomID].self, from: data) == [room])
    }

    @Test func comparesByValueAndHashes() {
        #expect(MemberID("a") == MemberID(rawValue: "a"))
        #expect(Set([MessageID("1"), MessageID("1"), MessageID("2")]).count == 2)
    }

    @Test func canonicallyEquivalentNamesDiffer() {
        let (precomposed, decomposed) = ("@\u{E9}:example.org", "@e\u{301}:example.org")
        #expect(precomposed == decomposed, "for a string they are one")
        #expect(MemberID(precomposed) != MemberID(decomposed))
        #expect(MemberID(precomposed) == MemberID("@" + "\u{E9}" + ":example.org"))
        #expect(Set([precomposed, decomposed, precomposed].map { MemberID($0) }).count == 2)
    }
}
