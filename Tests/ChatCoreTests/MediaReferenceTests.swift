import ChatCore
import Foundation
import Testing

struct MediaReferenceTests {
    private static let full = MediaReference(
        uri: "media:00", name: "a.mp4", type: "video/mp4", bytes: 3, width: 4, height: 5, duration: 6,
        thumbnailURI: "media:01", altText: "A film", blurHash: "00TI:j", loudness: [1, 2])

    @Test("A reference is stored as one flat object and read back")
    func isFlat() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let stored = #"""
            {"altText":"A film","blurHash":"00TI:j","bytes":3,"duration":6,"height":5,"loudness":[1,2],"name":"a.mp4",\#
            "thumbnailURI":"media:01","type":"video\/mp4","uri":"media:00","width":4}
            """#
        #expect(String(decoding: try encoder.encode(Self.full), as: UTF8.self) == stored)
        #expect(try JSONDecoder().decode(MediaReference.self, from: Data(stored.utf8)) == Self.full)
    }

    @Test func whatIsUnknownIsLeftOut() throws {
        let plain = MediaReference(uri: "mxc://a/b", name: "b", type: "text/plain")
        let data = try JSONEncoder().encode(plain)
        #expect(try JSONDecoder().decode([String: String].self, from: data).keys.sorted() == ["name", "type", "uri"])
        #expect(try JSONDecoder().decode(MediaReference.self, from: data) == plain)
    }

    @Test func membersOfTheDescriptionAreItsOwn() {
        var reference = Self.full
        reference.altText = nil
        #expect(reference.media.altText == nil && reference.duration == 6)
        #expect(reference != Self.full)
    }
}
