import JSONReading
import Testing

/// A document with the verdict of RFC 8259.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
    enum Verdict: Sendable {
        case accept
        case reject
        /// RFC 8259 leaves it to the implementation, or it is invalid UTF-8; `nil` if this parser rejects it.
        case either(JSONValue?)
    }

    let document: [UInt8]
    let verdict: Verdict

    init(_ document: String, _ verdict: Verdict) { self.init(Array(document.utf8), verdict) }

    init(_ document: [UInt8], _ verdict: Verdict) {
        self.document = document
        self.verdict = verdict
    }

    var testDescription: String {
        document.count > 60
            ? "\(document.count) bytes" : String(decoding: document, as: UTF8.self).debugDescription
    }

    static let all = accepted + rejected + either

    // MARK: Accepted

    private static let accepted =
        [
            // Structure and whitespace.
            "[]", "{}", "[[]]", "[{}]", "{\"a\":{}}", "[[[[]]],[]]", " [] ", "\t\n\r []\r\n\t", "[ ]", "{ }", "[\n]",
            "{\r\n}", "[1 , 2]", "{ \"a\" : 1 }", "{\"a\"\n:\n1}", "[null,1,\"1\",{}]", "[1,null,null,null,2]",
            "{\"a\":[]}", "{\"a\":{\"b\":{\"c\":[1,{\"d\":null}]}}}", "[\"a\",{\"b\":1},[2]]",
            // Keys.
            "{\"\":0}", "{\"a\":1,\"b\":2}", "{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":1}", "{\"\\u0000\":1}",
            "{\"\\n\":\"\\t\"}", "{\"a b\":1}", "{\"é\":1}", "{\"\\u00e9\":1}", "{\"asd\":\"sdf\",\"dfg\":\"fgh\"}",
            "{\"null\":null,\"true\":true}", "{\"a\":\"\\\"\"}", "{\"\\\"\":1}", "{\"\\\\\":1}",
            // Literals, and top-level scalars.
            "null", "true", "false", "[null]", "[true]", "[false]", " true ", "\"\"", "\"a\"", " \"a\" ", "0", "-0",
            "42", "-1", "3.25", "1e3", " 7 ", "1\n",
            // Numbers.
            "[0]", "[-0]", "[-1]", "[1]", "[10]", "[123]", "[123456789]", "[1.0]", "[0.5]", "[-0.5]", "[0.0]",
            "[1.25]", "[0e1]", "[0e+1]", "[0e-1]", "[0E0]", "[1e0]", "[1E1]", "[1e+2]", "[1E+2]", "[1e-2]",
            "[1E-2]", "[1.5e3]", "[1.5E-3]", "[123.456e78]", "[123.456e-78]", "[1e-400]", "[-1e-400]",
            "[9007199254740993]", "[9223372036854775807]", "[-9223372036854775808]", "[9223372036854775808]",
            "[18446744073709551616]", "[-9223372036854775809]", "[0.1]", "[1.7976931348623157e308]", "[5e-324]",
            "[0.00000000000000000000000000000000000001]", "[100000000000000000000000000000000000000000]",
            "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]", "[20e1]",
            "[1.000000000000000000000000000000000001]", "[1e00]", "[1e007]", "[-1.5]", "[-1e1]",
            // Strings.
            "[\"\"]", "[\"a\"]", "[\" \"]", "[\"\\\"\"]", "[\"\\\\\"]", "[\"\\/\"]", "[\"/\"]", "[\"\\b\"]",
            "[\"\\f\"]", "[\"\\n\"]", "[\"\\r\"]", "[\"\\t\"]", "[\"\\b\\f\\n\\r\\t\"]", "[\"\\u0041\"]",
            "[\"\\u00e9\"]", "[\"\\u00E9\"]", "[\"\\uABCD\"]", "[\"\\uabcd\"]", "[\"\\u0000\"]", "[\"\\u001f\"]",
            "[\"\\u007f\"]", "[\"\u{7F}\"]", "[\"é\"]", "[\"日本語\"]", "[\"👍\"]", "[\"\\ud83d\\ude00\"]",
            "[\"\\uD83D\\uDE00\"]", "[\"\\uD834\\uDD1E\"]", "[\"\\uDBFF\\uDFFF\"]", "[\"\\u2028\\u2029\"]",
            "[\"\u{2028}\u{2029}\"]", "[\"\\uFFFF\"]", "[\"\u{FFFD}\"]", "[\"\u{FFFE}\"]", "[\"\\uFEFF\"]",
            "[\"\u{FEFF}\"]", "[\"\u{10FFFF}\"]", "[\"\u{10FFFE}\"]", "[\"\\uFDD0\"]", "[\"'\"]",
            "[\"a/*b*/c\"]", "[\"//\"]", "[\"\\\\u0041\"]", "[\"\\\\\\\"\"]", "[\"\\\\n\"]", "[\"]\"]", "[\"}\",\"{\"]",
            "[\",:\"]", "[\"e\u{301}\"]", "[\"\\u0065\\u0301\"]", "[\"\\u200B\"]", "[\"\u{202E}\"]", "[\"null\"]",
            "[\"\\u0022\"]", "[\"\\u005C\"]", "[\"\\u0061\\u30af\\u30EA\\u30b9\"]", "[\"new\\u00A0line\"]",
            "[\"\\u0012\"]", "[\"\u{00A0}\"]", "[\"⍂㈴⍂\"]", "[\"\\uD801\\udc37\"]",
            "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]",
            "[\"abcdefgh\"]", "[\"abcdefg\\nh\"]", "[\"1234567\",\"12345678\",\"123456789\"]",
        ].map { ConformanceCase($0, .accept) } + [
            ConformanceCase([0x5B, 0x22, 0xEF, 0xB7, 0x90, 0x22, 0x5D], .accept),
            ConformanceCase(
                String(repeating: "[", count: JSONStream.maxDepth) + String(repeating: "]", count: JSONStream.maxDepth),
                .accept),
            ConformanceCase("[\"" + String(repeating: "é", count: 5000) + "\"]", .accept),
            ConformanceCase("[" + String(repeating: "0,", count: 5000) + "0]", .accept),
            ConformanceCase("[0." + String(repeating: "3", count: 3000) + "]", .accept),
            ConformanceCase(String(repeating: " \n", count: 3000) + "{}", .accept),
        ]

    // MARK: Rejected

    private static let rejected =
        [
            // Empty input, and trailing content.
            "", " ", "\n", "[][]", "{}{}", "[]]", "{}}", "[1]x", "[1],", "1 2", "1,2", "null null", "\"a\"\"b\"",
            "{}[]", "[]\0", "{\"a\":1}#", "[];", "true,", "{\"a\":true}/", "{\"a\":true}//", "{\"a\":true}/**/", "] [",
            // Containers.
            "[", "{", "]", "}", "[[", "[}", "{]", "[1", "[1,", "[1,2", "[,]", "[,1]", "[1,]", "[1,,2]", "[1,,]", "[,,]",
            "[1 2]", "[1:2]", "[1;2]", "[\"a\" \"b\"]", "[\"a\":1]", "[{]", "[{}", "[1}", "[\"\"", "[\n", "[1\n",
            "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{,}", "{\"a\"}", "{\"a\":}", "{:1}", "{\"a\":1,}",
            "{\"a\":1,,\"b\":2}", "{\"a\",1}", "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1 \"b\":2}", "{\"a\":1:2}", "{1:1}",
            "{null:1}", "{true:1}", "{[]:1}", "{{}:1}", "{a:1}", "{'a':1}", "{\"a\":1]", "{\"a\":a}", "{\"a\":\"b",
            "{\"a\":\"b\"", "{9999E9999:1}", "[\"a\",\n4\n,1,", "{\"a\":1,\"b\"}", "{\"a\":1;\"b\":2}", "{,\"a\":1}",
            "[[]", "[[],", "{\"a\":[}", "{\"a\":{]}", "[{\"a\":1]", "((1))", "<null>", "[<null>]", "[1)",
            // Literals.
            "nul", "tru", "fals", "n", "t", "f", "nulL", "Null", "NULL", "True", "TRUE", "False", "FALSE", "nullx",
            "truex", "[nul]", "[tru]", "[fals]", "[nulll]", "[truee]", "[undefined]", "[none]", "[nil]", "[yes]",
            "[nottrue]", "[t]", "[n ull]", "[nan]",
            // Numbers.
            "[-]", "[+1]", "[+]", "[.]", "[.5]", "[-.5]", "[1.]", "[0.]", "[-1.]", "[1.e1]", "[0.e1]", "[.e1]", "[1e]",
            "[1e+]", "[1E-]", "[0e]", "[0e+]", "[0E]", "[1e1.5]", "[1ee1]", "[1e+-1]", "[e1]", "[E]", "[01]", "[-01]",
            "[00]", "[007]", "[-00]", "[1.2.3]", "[--1]", "[-+1]", "[1-1]", "[1+1]", "[1_000]", "[1 000]", "[0x1]",
            "[0X1]", "[0b1]", "[0o7]", "[1f]", "[1a]", "[1e1a]", "[-a]", "[- 1]", "[1,000.0.0]", "[NaN]", "[-NaN]",
            "[Infinity]", "[-Infinity]", "[Inf]", "[1.0e]", "[1.0e+]", "[2.e3]", "[0.1.2]", "[0.3e]", "[1/2]", "[½]",
            "[１]", "-", "1.", "1e", "-x", "01", "[-foo]", "[0.e-]", "[1\u{B5}]",
            // Strings.
            "\"", "\"a", "[\"]", "[\"a]", "['a']", "['a\"]", "[\"a'", "[“a”]", "[a]", "[\"\\\"]", "[\"\\", "[\"\\\"",
            "[\"\\a\"]", "[\"\\v\"]", "[\"\\0\"]", "[\"\\x41\"]", "[\"\\'\"]", "[\"\\U0041\"]", "[\"\\ \"]",
            "[\"\\\n\"]",
            "[\"\\é\"]", "[\"\\u\"]", "[\"\\u0\"]", "[\"\\u00\"]", "[\"\\u004\"]", "[\"\\u004g\"]", "[\"\\u00G0\"]",
            "[\"\\u-041\"]", "[\"\\u+041\"]", "[\"\\u 041\"]", "[\"\\u{41}\"]", "[\"\\u0041", "[\"\\ud83d\\u\"]",
            "[\"\\ud83d\\ude0\"]", "[\"\\ud83d\\", "[\"\\uD800\\x\"]", "[\"\n\"]", "[\"\t\"]", "[\"\r\"]", "[\"\0\"]",
            "[\"\u{1}\"]", "[\"\u{1F}\"]", "[\"a\u{1B}b\"]", "[\"abcdefgh\ni\"]", "{\"a\n\":1}", "[\\n]", "[\\u0041]",
            "[\"a\"b]", "[\"a\"1]", "[\"\"\"]", "[\"\" \"\"]", "[\\u0020\"a\"]", "\\u0061", "[\"x\", truth]",
            // Invalid whitespace, and comments.
            "[\u{0B}]", "[\u{0C}]", "[\u{A0}1]", "[\u{2028}1]", "[\u{2060}]", "[\u{85}]", "[\0]", "\0", "[1\0]",
            "\u{0C}[]", "[//\n]", "[/**/]", "/**/[]", "[]//", "#\n[]", "[1/**/]", "{/**/}", "[\u{3000}]", "*", "@",
            "[*]",
            "<a>", "abc", "[\u{0}1]", "&", "\u{200B}[]",
        ].map { ConformanceCase($0, .reject) }
        + [
            [0xFF], [0x80], [0xC3], [0xC3, 0xA9], [0x5B, 0xFF, 0x5D], [0x5B, 0x31, 0xFF, 0x5D],
            [0x5B, 0x61, 0xE5, 0x5D],
            [0x5B, 0x2D, 0x31, 0xE5, 0x5D], [0x5B, 0x30, 0x65, 0x31, 0xE5, 0x5D], [0xEF, 0xBB, 0xBF], [0xEF, 0xBB],
            [0xEF], [0xEF, 0xBB, 0x5B, 0x5D], [0xEF, 0x5B, 0x5D], [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x5B, 0x5D],
            [0x5B, 0xEF, 0xBB, 0xBF, 0x5D], [0x5B, 0x5D, 0xEF, 0xBB, 0xBF], [0xFE, 0xFF, 0x00, 0x5B, 0x00, 0x5D],
            [0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], [0x00, 0x5B, 0x00, 0x5D], [0x5B, 0x00, 0x5D, 0x00],
            [0x00, 0x00, 0x00, 0x5B, 0x00, 0x00, 0x00, 0x5D],
        ].map { ConformanceCase($0, .reject) } + [
            ConformanceCase(String(repeating: "[", count: 100_000), .reject),
            ConformanceCase(String(repeating: "[{\"\":", count: 50_000), .reject),
            ConformanceCase(String(repeating: "]", count: 1000), .reject),
        ]

    // MARK: Left to the implementation

    private static func text(_ bytes: [UInt8], _ meant: String) -> ConformanceCase {
        ConformanceCase([0x5B, 0x22] + bytes + [0x22, 0x5D], .either([.string(meant)]))
    }

    private static let either =
        [
            // Numbers out of Double's range become infinity or 0: they must not prevent parsing the rest.
            ConformanceCase("[1e999]", .either([.number(.infinity)])),
            ConformanceCase("[-1e999]", .either([.number(-.infinity)])),
            ConformanceCase("[1e99999999999999999999]", .either([.number(.infinity)])),
            ConformanceCase("[1e-99999999999999999999]", .either([.number(0)])),
            ConformanceCase(
                "[1" + String(repeating: "0", count: 400) + "]", .either([.number(.infinity)])),
            // Lone surrogates.
            ConformanceCase("[\"\\ud83d\"]", .either(["\u{FFFD}"])),
            ConformanceCase("[\"\\ude00\"]", .either(["\u{FFFD}"])),
            ConformanceCase("[\"\\ud83dx\"]", .either(["\u{FFFD}x"])),
            ConformanceCase("[\"\\ud83d\\n\"]", .either(["\u{FFFD}\n"])),
            ConformanceCase("[\"\\ud83d\\u0041\"]", .either(["\u{FFFD}A"])),
            ConformanceCase("[\"\\ud83d\\ud83d\\ude00\"]", .either(["\u{FFFD}😀"])),
            ConformanceCase("[\"\\ud83d\\ud83d\"]", .either(["\u{FFFD}\u{FFFD}"])),
            ConformanceCase("[\"\\ude00\\ud83d\"]", .either(["\u{FFFD}\u{FFFD}"])),
            ConformanceCase("{\"\\ud83d\":1}", .either(["\u{FFFD}": 1])),
            // A byte order mark.
            ConformanceCase("\u{FEFF}{}", .either([:])),
            ConformanceCase("\u{FEFF} [1]", .either([1])),
            ConformanceCase("\u{FEFF}7", .either(7)),
            // Nested too deeply.
            ConformanceCase(
                String(repeating: "[", count: JSONStream.maxDepth + 1)
                    + String(repeating: "]", count: JSONStream.maxDepth + 1), .either(nil)),
            ConformanceCase(
                String(repeating: "{\"a\":", count: JSONStream.maxDepth + 1) + "1"
                    + String(repeating: "}", count: JSONStream.maxDepth + 1), .either(nil)),
        ] + [
            // Invalid UTF-8: lone bytes, truncated and overlong sequences, surrogates.
            text([0xFF], "\u{FFFD}"), text([0x80], "\u{FFFD}"), text([0xC3], "\u{FFFD}"),
            text([0xE2, 0x82], "\u{FFFD}"),
            text([0xF0, 0x9F, 0x98], "\u{FFFD}"), text([0xC0, 0x80], "\u{FFFD}\u{FFFD}"),
            text([0xC0, 0xAF], "\u{FFFD}\u{FFFD}"), text([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
            text([0xF4, 0x90, 0x80, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"), text([0xE9], "\u{FFFD}"),
            text([0x61, 0xFF, 0x62], "a\u{FFFD}b"), text([0xC3, 0x28], "\u{FFFD}("),
            text([0xE2, 0x82, 0x5C, 0x6E], "\u{FFFD}\n"), text([0xFE, 0xFF], "\u{FFFD}\u{FFFD}"),
            // An escape must not complete a truncated sequence before or after it.
            text([0xE2, 0x82] + Array("\\u00ac".utf8), "\u{FFFD}¬"), text(Array("\\u00c3".utf8) + [0xA9], "Ã\u{FFFD}"),
            text(Array("\\ud83d".utf8) + [0xED, 0xB8, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
        ]
}
