import ChatCore
import Testing

@Suite struct TranslatorTests {
    /// A language with three plural forms that reorders the placeholders.
    let backwards = Translator(
        translate: { $0 == "{name} left {room}" ? "{room} was left by {name}" : "untranslated" },
        plural: { _, _, count in count == 1 ? "{count} jedna" : count < 5 ? "{count} kilka" : "{count} wiele" })

    @Test func fillsNamedPlaceholdersInTheTranslationsOrder() {
        let values = ["name": "Kim", "room": "Notes"]
        #expect(Translator.untranslated("{name} left {room}", values) == "Kim left Notes")
        #expect(backwards("{name} left {room}", values) == "Notes was left by Kim")
    }

    @Test func neverReplacesPlaceholdersInsideValues() {
        let values = ["name": "{room}", "room": "{name}{"]
        #expect(Translator.untranslated("{name} left {room}", values) == "{room} left {name}{")
    }

    @Test(arguments: ["{other}", "{", "}{", "{{name}", "a { b } c", "{name"])
    func leavesOtherBracesUnchanged(_ text: String) {
        let expected = text == "{{name}" ? "{Kim" : text
        #expect(Translator.untranslated(text, ["name": "Kim"]) == expected)
    }

    @Test func picksThePluralForm() {
        #expect(Translator.untranslated.plural("{count} line", "{count} lines", 1) == "1 line")
        #expect(Translator.untranslated.plural("{count} line", "{count} lines", 0) == "0 lines")
        #expect([1, 3, 7].map { backwards.plural("", "", $0) } == ["1 jedna", "3 kilka", "7 wiele"])
    }

    @Test("Items are joined as usual in the language")
    func joinsLists() {
        #expect(Translator.untranslated.list([]) == "" && Translator.untranslated.list(["a"]) == "a")
        #expect(Translator.untranslated.list(["a", "b", "{c}"]) == "a, b, {c}")
        let other = Translator(
            translate: { $0 == "{list}, {item}" ? "{list}、{item}" : $0 }, plural: { $2 == 1 ? $0 : $1 })
        #expect(other.list(["a", "b", "c"]) == "a、b、c")
    }
}
