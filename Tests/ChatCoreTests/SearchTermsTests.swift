import Testing

@testable import ChatCore

@Suite struct SearchTermsTests {
    /// Returns the parts of a text that a search highlights.
    private func highlighted(_ terms: String, in text: String) -> [String] {
        let utf8 = Array(text.utf8)
        return SearchTerms(terms).ranges(in: text).map { String(decoding: utf8[$0], as: UTF8.self) }
    }

    @Test(arguments: [
        ("naive", "A NAÏVE plan", ["NAÏVE"]),
        ("NAÏVE", "a naive plan", ["naive"]),
        ("cafe", "cafe\u{301}s", ["cafe\u{301}"]),
        ("schiff", "Dampfschifffahrt", ["schiff"]),
        ("東京", "私は東京都に住む", ["東京"]),
        ("か", "がか", ["か"]),
        ("ab", "crab abbey", ["ab"]),
        ("1", "21 1x", ["1"]),
        ("ＡＢＣ", "abc", ["abc"]),
        ("->", "a->b", ["->"]),
        ("🎉", "so 🎉!", ["🎉"]),
        ("👍", "👍🏽", ["👍"]),
        ("one two", "two one", ["two", "one"]),
        ("\"one two\"", "two one two", ["one two"]),
        ("aba", "ababa", ["aba"]),
        ("abc bcd", "abcd", ["abcd"]),
        ("привет", "ПРИВЕТ", ["ПРИВЕТ"]),
        ("كتب", "كَتَبَ", ["كَتَبَ"]),
        ("x", "", []),
        ("", "text", []),
    ])
    func highlightsMatchingRanges(_ terms: String, _ text: String, _ expected: [String]) {
        #expect(highlighted(terms, in: text) == expected)
    }

    @Test func everyTermMustMatch() {
        #expect(SearchTerms("one two").matches("Two and one"))
        #expect(!SearchTerms("one two").matches("one"))
        #expect(SearchTerms("").matches("anything"))
        #expect(!SearchTerms("\"one two\"").matches("one and two"))
        #expect(SearchTerms("“one two").matches("one two"), "a quote that is still open")
    }

    @Test func namesMatchAtWordStarts() {
        #expect(SearchTerms("lee").matchesWordStarts(of: "Ann Lee"))
        #expect(SearchTerms("ann le").matchesWordStarts(of: "Ann Lee"))
        #expect(!SearchTerms("nn").matchesWordStarts(of: "Ann Lee"))
        #expect(SearchTerms("edith").matchesWordStarts(of: "Édith"))
    }

    @Test func termCountAndLengthAreBounded() {
        let terms = SearchTerms(String(repeating: "word ", count: 1000) + String(repeating: "x", count: 100_000))
        #expect(terms.terms.count == SearchTerms.maxTerms)
        #expect(SearchTerms(String(repeating: "x", count: 100_000)).terms[0].count == SearchTerms.maxScalars)
    }

    /// Ranges never split a UTF-8 sequence, whatever the terms and the text.
    @Test func rangesNeverSplitCharacters() {
        var random = SystemRandomNumberGenerator()
        let letters = Array("aAäÄàbße\u{301}東京が\u{3099}🎉👩‍👩‍👧👍🏽 ا\u{64E}-\n".unicodeScalars)
        for _ in 0..<2000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...20, using: &random) {
                text.unicodeScalars.append(letters.randomElement(using: &random) ?? "a")
            }
            let start = text.unicodeScalars.prefix(Int.random(in: 0...5, using: &random))
            let ranges = SearchTerms(String(String.UnicodeScalarView(start))).ranges(in: text)
            let utf8 = Array(text.utf8)
            for range in ranges {
                #expect(String(validating: utf8[range], as: UTF8.self) != nil, "\(text.debugDescription)")
            }
            for (first, second) in zip(ranges, ranges.dropFirst()) { #expect(first.upperBound < second.lowerBound) }
        }
    }
}
