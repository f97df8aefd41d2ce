import ChatCore
import Composer
import MessageMarkup
import Testing

/// Link targets, and the warnings for misleading links.
struct LinkTargetTests {
    @Test(arguments: [
        ("https://a.example", "https://a.example"),
        (" HTTPS://a.example/ x ", "https://a.example/%20x"),
        ("mailto:a@b.example", "mailto:a@b.example"),
        ("magnet:?xt=1", "magnet:?xt=1"),
        ("matrix:u/ann:a.example", "matrix:u/ann:a.example"),
        ("ftp://a.example/f", "ftp://a.example/f"),
        ("https://good.example\\@bad.example/", "https://good.example%5C@bad.example/"),
        ("https://a.example/\u{202E}gpj.exe", "https://a.example/%E2%80%AEgpj.exe"),
        ("https://[::1]:80/", "https://[::1]:80/"),
        ("javascript:alert(1)", nil), ("java\nscript:alert(1)", nil), ("data:text/html,x", nil), ("file:///etc", nil),
        ("vbscript:x", nil), ("//a.example", nil), ("/path", nil), ("", nil), (":", nil), ("https:", nil),
        ("https://", nil), ("https:///x", nil), ("https:a.example", nil), ("https://:80", nil), ("https://u@/", nil),
        ("blob:https://a.example/x", nil), ("steam://run", nil), ("http\u{0}s://a.example", "https://a.example"),
    ])
    func parsesLinkTargets(text: String, address: String?) {
        #expect(LinkTarget(text)?.address == address)
    }

    @Test(
        arguments: [
            ("https://a.example/x", "https://a.example/x", []),
            ("a.example", "https://www.a.example/", []),
            ("a@b.example", "mailto:a@b.example", []),
            ("click here", "https://a.example", .textDiffers),
            ("https://a.example", "https://b.example", [.textDiffers, .namesAnotherHost]),
            ("paypal.com", "https://evil.example/paypal.com", [.textDiffers, .namesAnotherHost]),
            ("see paypal.com/login", "https://evil.example", [.textDiffers, .namesAnotherHost]),
            ("a.example/other", "https://a.example/x", .textDiffers),
            ("version 1.2", "https://a.example", .textDiffers),
            ("https://bank.example@evil.example/", "https://bank.example@evil.example/", .credentials),
            ("https://аpple.example", "https://аpple.example", .internationalHost),
            ("xn--pple-43d.com", "https://xn--pple-43d.com", .internationalHost),
            ("a\u{202E}b", "https://a.example", [.textDiffers, .hiddenCharacters]),
            ("good.example", "https://evil.example/\u{301}@good.example/", [.textDiffers, .namesAnotherHost]),
            ("x", "https://good.example@\u{301}evil.example/", [.textDiffers, .credentials, .internationalHost]),
            ("pay\u{200B}pal.com", "https://evil.example", [.textDiffers, .namesAnotherHost, .hiddenCharacters]),
        ] as [(String, String, BodyLink.Warnings)])
    func suspiciousLinksHaveWarnings(text: String, address: String, warnings: BodyLink.Warnings) throws {
        let target = try #require(LinkTarget(address))
        #expect(BodyLink(to: target, shownAs: text).warnings == warnings)
    }

    /// The first is displayed as `https://bank.com/elpmaxe.evil//:sptth`.
    @Test(arguments: [
        ("\u{202E}https://live.example/moc.knab//:sptth", true), ("\u{202E}a **b** https://a.example", true),
        ("https://a.example \u{2067}x", true), ("\u{2068}x\u{2069} https://a.example", true),
        ("\u{200F}https://a.example", false), ("https://a.example \u{200B}x", false),
        ("\u{202E}x\n\nhttps://a.example", false),
    ])
    func bidirectionalOverridesAreReported(text: String, isReported: Bool) {
        let warnings: BodyLink.Warnings = isReported ? .hiddenCharacters : []
        #expect(links(in: MessageMarkup.body(markdown: text)).map(\.warnings) == [warnings])
        let html = "<p>" + text.replacing("\n\n", with: "</p><p>")
        #expect(links(in: MessageMarkup.body(html: html)).map(\.warnings) == [warnings])
    }

    @Test func senderNameCannotOverrideLinkDirection() {
        let body = MessageMarkup.body(plain: "sees https://a.example", isEmote: true)
        #expect(body.selectableText(by: "A\u{202E}nn\u{2067}") == "* Ann sees https://a.example")
        #expect(body.selectableText(by: "A\u{200D}\u{200F}nn") == "* A\u{200D}\u{200F}nn sees https://a.example")
    }

    private func links(in body: MessageBody) -> [BodyLink] {
        body.blocks.flatMap { block -> [BodyLink] in
            guard case .text(let text) = block else { return [] }
            return text.runs.compactMap(\.link)
        }
    }

    @Test(arguments: [
        ("https://matrix.to/#/@ann:a.example", MentionTarget.member("@ann:a.example")),
        ("https://matrix.to/#/%40ann%3Aa.example?via=x", .member("@ann:a.example")),
        ("https://matrix.to/#/#room:a.example", .room("#room:a.example")),
        ("https://matrix.to/#/!id:a.example/$event", nil),
        ("https://matrix.to.evil.example/#/@ann:a.example", nil),
        ("https://matrix.to/#/@ann", nil),
        ("matrix:u/ann:a.example?action=chat", .member("@ann:a.example")),
        ("matrix:roomid/id:a.example/e/event", nil),
    ])
    func parsesMentionLinks(address: String, mention: MentionTarget?) {
        #expect(LinkTarget(address)?.mention == mention)
    }

    @Test func colorsHaveSixHexadecimalDigits() {
        #expect(BodyColor(hexadecimal: "#0aF9c3")?.hexadecimal == "#0af9c3")
        for wrong in ["", "#fff", "red", "#12345g", "#1234567", "0aF9c3x", "#+12345", "#é1234"] {
            #expect(BodyColor(hexadecimal: wrong) == nil)
        }
    }
}
