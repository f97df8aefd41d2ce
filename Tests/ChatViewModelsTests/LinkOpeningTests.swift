import ChatCore
import ChatViewModels
import Testing

/// How links are opened, and the confirmations before that.
@Suite struct LinkOpeningTests {
    private func link(_ address: String, shownAs text: String? = nil) throws -> BodyLink {
        BodyLink(to: try #require(LinkTarget(address)), shownAs: text ?? address)
    }

    private func confirmation(_ address: String, shownAs text: String? = nil) throws -> LinkConfirmation? {
        guard case .confirmation(let confirmation) = LinkOpening(try link(address, shownAs: text)) else { return nil }
        return confirmation
    }

    @Test("A link whose address is visible opens at once: rooms and users here, others in the default application")
    func plainLinks() throws {
        let page = "https://a.example/x"
        #expect(LinkOpening(try link(page, shownAs: "a.example/x")) == .application(address: page))
        let room = "https://matrix.to/#/#tea:example.org"
        #expect(LinkOpening(try link(room)) == .address(room))
        #expect(try confirmation(room, shownAs: "tea") != nil, "it was not read")
    }

    @Test("A deceptive link requires confirmation with a warning, one with a hidden address without")
    func doubtfulLinks() throws {
        let evil = try #require(try confirmation("https://evil.example", shownAs: "https://bank.example"))
        #expect(evil.isSuspicious && evil.canOpen && evil.address == "https://evil.example")
        #expect(evil.heading(.untranslated) == "Open Suspicious Link?" && evil.defaultResponse == .cancel)
        let unread = try #require(try confirmation("https://a.example/y", shownAs: "here"))
        #expect(!unread.isSuspicious && unread.canOpen)
        #expect(unread.heading(.untranslated) == "Open Link?" && unread.defaultResponse == .open)
    }

    @Test("An FTP link can only be copied, even if its address is visible")
    func fileTransfers() throws {
        let files = try #require(try confirmation("ftp://a.example/x"))
        #expect(!files.canOpen && !files.isSuspicious)
        #expect(files.heading(.untranslated) == "Copy Link?" && files.defaultResponse == nil)
    }

    @Test("The question shows the target, truncated, and everything suspicious about it")
    func explanations() throws {
        func body(_ address: String, _ text: String) throws -> String {
            try #require(try confirmation(address, shownAs: text)).body(.untranslated) { "ascii(\($0))" }
        }
        #expect(try body("https://a.example/y", "x") == "https://a.example/y")
        #expect(try body("https://a.example/y", "b.example").contains("a different address"))
        #expect(try body("https://bank.example@evil.example/", "x").contains("opens evil.example."))
        #expect(try body("https://аpple.example/", "x").contains("ASCII form is ascii(аpple.example)"))
        #expect(try body("https://a.example/", "a.exa\u{202E}mple").contains("direction-changing characters"))
        let long = "https://a.example/" + String(repeating: "y", count: 400)
        #expect(try body(long, "x") == long.prefix(300) + "…")
    }
}
