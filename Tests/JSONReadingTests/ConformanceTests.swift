import Foundation
import Fuzzing
import JSONReading
import Testing

/// RFC 8259 conformance of both parsers.
struct ConformanceTests {
    @Test func casesAreComplete() {
        #expect(ConformanceCase.all.count >= 400, "\(ConformanceCase.all.count)")
    }

    @Test(arguments: ConformanceCase.all)
    func parsesAsTheStandardRequires(_ example: ConformanceCase) {
        // `nil` is the expected result of an invalid document.
        let value = try? JSONValue(parsing: Data(example.document))
        switch example.verdict {
        case .accept: #expect(value != nil)
        case .reject: #expect(value == nil)
        case .either(let expected): #expect(value == expected)
        }
    }

    @Test("A strict parser rejects what the lenient one repairs, and nothing else", arguments: ConformanceCase.all)
    func strictParsing(_ example: ConformanceCase) {
        // `nil` is the expected result of an invalid document.
        let value = try? JSONValue(parsing: Data(example.document), isStrict: true)
        switch example.verdict {
        case .accept: #expect(value != nil)
        case .reject: #expect(value == nil)
        case .either(let expected): #expect(value == (expected?.isRepaired == true ? nil : expected))
        }
    }

    @Test func strictErrorsSayWhatAndWhere() {
        for text in [Array(#"\ud83d"#.utf8), [0xFF], Array(#"\n\udc00x"#.utf8), Array(#"\n"#.utf8) + [0xC3]] {
            let document = Array("[1,\n\"".utf8) + text + Array("\"]".utf8)
            #expect(throws: JSONError.malformed(line: 2, reason: "a text that is not Unicode")) {
                try JSONValue(parsing: Data(document), isStrict: true)
            }
        }
        for number in ["[\n1e999]", "\n-1e999"] {
            #expect(throws: JSONError.malformed(line: 2, reason: "a number out of range")) {
                try JSONValue(parsing: Data(number.utf8), isStrict: true)
            }
        }
    }

    /// The streaming parser agrees for any chunking, and Foundation agrees where both accept a document.
    @Test(arguments: ConformanceCase.all)
    func parsersAgree(_ example: ConformanceCase) {
        #expect(JSONInvariants.violation(of: example.document) == nil)
    }

    @Test func valuesAreParsedExactly() throws {
        let document = #"""
            {"a":[0,-0,1.5,9223372036854775807,-9223372036854775808,9223372036854775808,1e2,12.0],
             "b":"\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t\u0000","c":{"d":null,"e":true,"f":false},"g":[],"h":{},"a b":"é"}
            """#
        let expected: JSONValue = [
            "a": [
                0, 0, .number(1.5), .integer(.max), .integer(.min), .number(9_223_372_036_854_775_808), .number(100),
                .number(12),
            ],
            "b": "é😀\"\\/\u{8}\u{C}\n\r\t\0", "c": ["d": .null, "e": true, "f": false], "g": [], "h": [:], "a b": "é",
        ]
        #expect(try JSONValue(parsing: Data(document.utf8)) == expected)
    }

    @Test func lastDuplicateKeyWins() throws {
        #expect(try JSONValue(parsing: Data(#"{"a":1,"b":2,"a":{"a":3}}"#.utf8)) == ["a": ["a": 3], "b": 2])
    }

    /// Truncated input is distinguished from malformed input, whose line is reported.
    @Test(arguments: [
        ("{\"a\":\n[1,\n2", JSONError.truncated), ("\"a", .truncated), ("nul", .truncated), ("[1.", .truncated),
        ("", .truncated), ("\u{FEFF}", .truncated), ("-", .truncated),
        ("[1}", .malformed(line: 1, reason: "“}” where “,” or “]” must stand")),
        ("{\n\"a\":\r\n1,}", .malformed(line: 3, reason: "“}” where a key must stand")),
        ("{\n\n1:2}", .malformed(line: 3, reason: "something else where a key or “}” must stand")),
        ("[01]", .malformed(line: 1, reason: "a number of no number's form")),
        ("[\"\n\"]", .malformed(line: 1, reason: "a control character in a text")),
        ("[\"\\x\"]", .malformed(line: 1, reason: "an escape of no known kind")),
        ("[\"\\u12x4\"]", .malformed(line: 1, reason: "an escape that is cut off")),
        ("[]\n\n[]", .malformed(line: 3, reason: "“[” where nothing more must stand")),
    ])
    func errorsHaveReasonAndLine(_ document: String, _ error: JSONError) {
        #expect(throws: error) { try JSONValue(parsing: Data(document.utf8)) }
    }
}

extension JSONValue {
    fileprivate var isRepaired: Bool {
        switch self {
        case .string(let text): text.unicodeScalars.contains("\u{FFFD}")
        case .number(let number): !number.isFinite
        case .array(let values): values.contains(where: \.isRepaired)
        case .object(let members): members.contains { JSONValue.string($0).isRepaired || $1.isRepaired }
        default: false
        }
    }
}
