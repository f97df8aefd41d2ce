import ChatCore
import Testing

struct ChatAddressTests {
    @Test(arguments: [
        ("@ann:example.org", ChatAddress.user("@ann:example.org")),
        (" #beans:example.org\n", .room("#beans:example.org", via: [])),
        ("!abc", .room("!abc", via: [])), ("matrix:u/ann:example.org", .user("@ann:example.org")),
        ("matrix:r/beans:example.org?action=join", .room("#beans:example.org", via: [])),
        (
            "MATRIX:roomid/abc:example.org/e/xyz?via=a.org&via=b.org",
            .message(MessageID("$xyz"), room: "!abc:example.org", via: ["a.org", "b.org"])
        ),
        ("https://matrix.to/#/%23beans:example.org", .room("#beans:example.org", via: [])),
        (
            "https://matrix.to/#/!abc:example.org/$event?via=a.org",
            .message(MessageID("$event"), room: "!abc:example.org", via: ["a.org"])
        ),
        (
            "https://matrix.to/#/%21abc/%24ev%2F1%2B?via=a.org%3A8448",
            .message(MessageID("$ev/1+"), room: "!abc", via: ["a.org:8448"])
        ),
        (
            "https://matrix.to/#/#beans:example.org/$ev/1",
            .message(MessageID("$ev/1"), room: "#beans:example.org", via: [])
        ),
        ("matrix:r/beans:example.org/event/e1", .message(MessageID("$e1"), room: "#beans:example.org", via: [])),
        ("https://matrix.to/#/!abc:example.org/$", .room("!abc:example.org", via: [])),
        ("https://matrix.to/#/!abc:example.org/event", .room("!abc:example.org", via: [])),
        ("https://matrix.to/#/@ann:example.org/$event", .user("@ann:example.org")),
        ("https://matrix.to/#/@ann:example.org", .user("@ann:example.org")),
    ])
    func parsesAddresses(text: String, address: ChatAddress) {
        #expect(ChatAddress(text) == address)
    }

    @Test(arguments: [
        "", "@", "#:", "@ann", "#beans", "@:x", "!", "beans", "matrix:", "matrix:x/y:z", "matrix:r/", "matrix:u/ann",
        "https://matrix.to/", "https://matrix.to/#/", "https://matrix.to/#/x", "http://matrix.to/#/@ann:example.org",
        "https://example.org/#/@ann:example.org", "#be ans:example.org", "@ann:example.org/x",
        String(repeating: "@a:", count: 2000),
    ])
    func rejectsInvalidAddresses(text: String) {
        #expect(ChatAddress(text) == nil)
    }
}
