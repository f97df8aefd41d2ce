import ChatCore
import Testing

/// Values in sentences of a right-to-left language.
@Suite struct IsolationTests {
    private let arabic = Translator(
        translate: {
            [
                "Cancel": "ألغِ", "Invitation from {name}": "دعوة من {name}", "{list}, {item}": "{list}، {item}",
                "{first} and {last}": "{first} و{last}", "/{name} is unknown": "الأمر \u{200E}/{name} غير معروف",
                "Unknown filter has:{value}": "المرشّح «has:{value}» غير معروف",
                "Enter a value after {filter}:": "أدخل قيمة بعد «{filter}:\u{200E}»",
                "Name: <b>{name}</b>": "الاسم <b>{name}</b>", "{name} joined": "{name} انضم",
            ][$0] ?? $0
        }, plural: { _, _, count in count == 1 ? "رسالة من {name}" : "{count} رسائل من {name}" })

    private func invitation(from name: String) -> String { arabic("Invitation from {name}", ["name": name]) }

    @Test(
        "A value whose punctuation or order the sentence would change is isolated",
        arguments: [
            "@ann:example.org", "#room:example.org", "Hello!", "آن (Ann)", "2024-05-31", "10:30", ":-)", "\u{F8FF}",
        ])
    func isolated(value: String) {
        #expect(invitation(from: value) == "دعوة من \u{2068}\(value)\u{2069}")
    }

    @Test(
        "Numbers and texts in the same script stay as they are",
        arguments: ["", "3", "1,234", "٣", "آن", "3 آخرون", "آن!"])
    func unchanged(value: String) {
        #expect(invitation(from: value) == "دعوة من \(value)")
    }

    @Test("Left-to-right sentences stay as they are, also those that a catalog does not translate")
    func leftToRight() {
        for value in ["@ann:example.org", "آن", "2024-05-31"] {
            #expect(Translator.untranslated("Invitation from {name}", ["name": value]) == "Invitation from \(value)")
            #expect(Translator.untranslated("{name}: {text}", ["name": value, "text": "x"]) == "\(value): x")
            #expect(arabic("{name} left", ["name": value]) == "\(value) left")
        }
    }

    @Test("A sentence without letters has the direction of its language")
    func withoutLetters() {
        #expect(
            arabic("{name}: {text}", ["name": "@ann:x", "text": "Hello!"])
                == "\u{200F}\u{2068}@ann:x\u{2069}: \u{2068}Hello!\u{2069}")
        #expect(arabic("{name}: {text}", ["name": "آن", "text": "x"]) == "آن: \u{2068}x\u{2069}")
    }

    @Test("A sentence that an isolated value begins has a mark of its own direction before it")
    func beginningWithAValue() {
        func joined(_ name: String) -> String { arabic("{name} joined", ["name": name]) }
        for value in ["Ann", "!", "{0}"] { #expect(joined(value) == "\u{200F}\u{2068}\(value)\u{2069} انضم") }
        for value in ["آن", "3"] { #expect(joined(value) == "\(value) انضم") }
        #expect(arabic.plain("{name} joined", ["name": "Ann"]) == "Ann انضم")
    }

    @Test("What a translation writes beside a placeholder from left to right is isolated with the value")
    func joinedWords() {
        #expect(
            arabic("/{name} is unknown", ["name": "shrug"]) == "الأمر \u{2068}\u{200E}/shrug\u{2069} غير معروف")
        #expect(
            arabic("Unknown filter has:{value}", ["value": "x!"]) == "المرشّح «\u{2068}has:x!\u{2069}» غير معروف")
        #expect(
            arabic("Enter a value after {filter}:", ["filter": "from"])
                == "أدخل قيمة بعد «\u{2068}from:\u{200E}\u{2069}»")
        #expect(arabic("Name: <b>{name}</b>", ["name": "Ann"]) == "الاسم <b>\u{2068}Ann\u{2069}</b>", "tags stay whole")
    }

    @Test("Lists of isolated values are in the sentence's order, however long")
    func lists() {
        let list = arabic.list(["Ann", "Bo", "Cy"])
        #expect(list == "\u{200F}\u{2068}Ann\u{2069}، \u{2068}Bo\u{2069}، \u{2068}Cy\u{2069}")
        #expect(invitation(from: list) == "دعوة من \(list)")
        let both = arabic("{first} and {last}", ["first": "Ann", "last": "آن"])
        #expect(both == "\u{200F}\u{2068}Ann\u{2069} وآن" && invitation(from: both) == "دعوة من \(both)")
    }

    @Test(
        "No value closes its isolate or leaves one open",
        arguments: [
            ("Ann\u{2069} and Bo", "Ann and Bo"), ("\u{2067}Ann", "Ann"), ("\u{2069}\u{2068}Ann", "Ann"),
            ("\u{2066}Ann\u{2069} Bo", "\u{2066}Ann\u{2069} Bo"), ("\u{202E}آن", "\u{202E}آن"),
        ])
    func hostile(value: String, shown: String) {
        #expect(invitation(from: value) == "دعوة من \u{2068}\(shown)\u{2069}")
    }

    @Test("Plural forms isolate their values, but not the count")
    func plurals() {
        #expect(arabic.plural("", "", 1, ["name": "Ann"]) == "رسالة من \u{2068}Ann\u{2069}")
        #expect(arabic.plural("", "", 12, ["name": "Ann"]) == "12 رسائل من \u{2068}Ann\u{2069}")
    }

    @Test("Plain texts contain no isolates")
    func plain() {
        #expect(arabic.plain("Invitation from {name}", ["name": "@ann:x"]) == "دعوة من @ann:x")
        #expect(arabic.plain("{name}: {text}", ["name": "@ann:x", "text": "!"]) == "@ann:x: !")
        #expect(arabic.plain.plural("", "", 2, ["name": "Ann"]) == "2 رسائل من Ann")
        #expect(arabic.plain.list(["Ann", "Bo"]) == "Ann، Bo")
    }
}
