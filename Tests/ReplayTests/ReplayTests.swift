import ComposerReplay
import Foundation
import Testing

struct ReplayTests {
    private static var traces: [String] {
        let folder = Bundle.module.resourceURL!.appendingPathComponent("Traces")
        // Part of the test bundle.
        let files = try! FileManager.default.contentsOfDirectory(atPath: folder.path)
        return files.filter { $0.hasSuffix(".jsonl") }.sorted()
    }

    private static func lines(_ name: String) throws -> [String] {
        let file = Bundle.module.resourceURL!.appendingPathComponent("Traces/\(name)")
        var lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        return lines.map(String.init)
    }

    private static func responses(_ lines: [String]) -> (responses: [String], hasFailed: Bool) {
        let driver = ReplayDriver()
        let responses = lines.map { driver.response(to: Data($0.utf8)) }
        return (responses, driver.hasFailed)
    }

    private func response(_ lines: [String]) throws -> [String: Any] {
        let last = Self.responses(lines).responses.last ?? ""
        return try #require(JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
    }

    /// The expected responses are the manually reviewed output of `parlance-replay < NAME.jsonl`.
    @Test(arguments: traces)
    func tracesMatchTheirExpectedResponses(trace: String) throws {
        let lines = try Self.lines(trace)
        let expected = try Self.lines(trace.replacing(".jsonl", with: ".expected"))
        let (responses, _) = Self.responses(lines)
        #expect(responses.count == expected.count)
        for (number, (response, expectedResponse)) in zip(responses, expected).enumerated() {
            #expect(response == expectedResponse, "line \(number + 1): \(lines[number])")
        }
    }

    @Test func thereAreTraces() {
        #expect(Self.traces.count >= 5)
    }

    static let keys: Set<String> = [
        "text", "selection", "preedit", "mentions", "completion", "queries", "sent", "mode", "editing", "canSend",
        "canSave",
        "counter", "lines", "height", "isExpanding", "formatting", "typing", "attachments", "canUndo", "canRedo",
        "isHidden",
        "isFocused", "events",
    ]

    /// Every response has all keys; only `word` adds one.
    @Test(arguments: traces)
    func everyResponseHasAllKeys(trace: String) throws {
        let lines = try Self.lines(trace)
        for (line, response) in zip(lines, Self.responses(lines).responses) {
            let object = try #require(JSONSerialization.jsonObject(with: Data(response.utf8)) as? [String: Any])
            if object["error"] != nil {
                #expect(Set(object.keys) == ["error", "line"])
            } else {
                #expect(Set(object.keys).subtracting(["word"]) == Self.keys)
                #expect((object["word"] != nil) == line.contains(#""word""#))
            }
        }
    }

    /// An invalid line changes nothing; every line of this trace but the last is invalid.
    @Test func errorsChangeNothing() throws {
        let lines = try Self.lines("errors.jsonl")
        let (responses, hasFailed) = Self.responses(lines)
        #expect(hasFailed)
        for (number, response) in responses.dropLast().enumerated() {
            #expect(
                response.hasPrefix(#"{"error":"#) && response.hasSuffix(#""line":\#(number + 1)}"#), "\(lines[number])")
        }
        #expect(responses.last == Self.responses([#"{"state":true}"#]).responses.last)
        #expect(!Self.responses([#"{"state":true}"#]).hasFailed)
    }

    static let hostile: [String] = [
        String(repeating: "[", count: 100_000), String(repeating: #"{"type":"#, count: 100_000), "\u{0}", "\u{FEFF}{}",
        #"{"type":"\#(String(repeating: "\\u0000", count: 2000))"}"#, #"{"load":{"text":"\ud800\udc00\udc00"}}"#,
        #"{"load":{"text":"a","selection":[9223372036854775807,9223372036854775807]}}"#,
    ]

    @Test(arguments: hostile)
    func hostileLinesAreAnswered(line: String) throws {
        _ = try response([line])
        #expect(Self.responses([line, #"{"state":true}"#]).responses.last?.hasPrefix(#"{"text":"#) == true)
    }

    @Test func invalidUTF8IsAnError() {
        let driver = ReplayDriver()
        #expect(driver.response(to: Data([0xFF, 0xFE, 0x7B])).hasPrefix(#"{"error":"#))
        #expect(driver.hasFailed)
    }

    @Test(
        "A whole number may have a fraction or an exponent",
        arguments: [
            (#"{"load":{"text":"abc","selection":[1.0,1e0]}}"#, #"{"load":{"text":"abc","selection":[1,1]}}"#),
            (#"{"backspace":2.0}"#, #"{"backspace":2}"#), (#"{"advance":1e1}"#, #"{"advance":10}"#),
            (
                #"{"configure":{"preset":"parlance","maxLines":4.0}}"#,
                #"{"configure":{"preset":"parlance","maxLines":4}}"#
            ),
        ])
    func wholeNumbers(written: String, plain: String) throws {
        let start = #"{"load":{"text":"abcdef"}}"#
        let response = try #require(Self.responses([start, written]).responses.last)
        #expect(response == Self.responses([start, plain]).responses.last && !response.hasPrefix(#"{"error":"#))
    }

    @Test(
        "Anything but valid JSON is malformed, even if it could be repaired",
        arguments: [
            #"{"backspace":1,}"#, #"{"delete":[0,1,]}"#, #"{"backspace":01}"#, #"{"backspace":1}}"#,
            #"{"type":"\ud83d"}"#,
            #"{"type":"\udc00x"}"#, #"{"advance":1e999}"#, "{'backspace':1}", "",
        ])
    func malformedLines(line: String) {
        #expect(Self.responses([line]).responses == [#"{"error":"malformed JSON","line":1}"#])
    }

    @Test func aLineHasNoLimit() throws {
        // Longer than what a JSON value may have by default.
        let text = String(repeating: "x", count: 34_000_000)
        let object = try response([#"{"key":"\#(text)"}"#])
        let isWhole = object["error"] as? String == "unknown key \"\(text)\""
        #expect(isWhole)
    }

    @Test func megabyteLineIsAnswered() throws {
        let text = String(repeating: "x", count: 1_000_000)
        let object = try response([#"{"load":{"text":"\#(text)"}}"#, #"{"backspace":1}"#])
        #expect((object["text"] as? String)?.utf8.count == 999_999)
    }

    /// An offset within a grapheme cluster moves to its start.
    @Test func offsetsNeverSplitACluster() throws {
        let object = try response([#"{"load":{"text":"a👩‍💻b"}}"#, #"{"select":[3,3]}"#])
        #expect(object["selection"] as? [Int] == [1, 5])
    }

    /// Arrow keys move by grapheme clusters, as in a text view.
    @Test func arrowKeysMoveAndSelectByCluster() throws {
        let keys = [
            ("Left", [6, 0]), ("Shift+Left", [1, 5]), ("Shift+Left", [0, 6]), ("Shift+Right", [1, 5]),
            ("Right", [6, 0]),
            ("Home", [0, 0]), ("Shift+End", [0, 7]), ("Left", [0, 0]), ("Ctrl+A", [0, 7]),
        ]
        var lines = [#"{"load":{"text":"a👩‍💻b"}}"#]
        for (key, selection) in keys {
            lines.append(#"{"key":"\#(key)"}"#)
            #expect(try response(lines)["selection"] as? [Int] == selection, "\(key)")
        }
    }

    /// Every preset accepts every option.
    @Test(arguments: ["parlance", "slack", "hakawai", "hakawai-v2", "messageInputBar", "messageComposerView"])
    func presetsAcceptEveryOption(preset: String) throws {
        let options = #"""
            "prefixes":["@",{"prefix":"+:","minQuery":2,"position":"start","boundary":"whitespace"}],"boundary":"punctuation",
            "queryExtent":"word","querySpaces":1,"implicitLength":3,"afterAccept":"nothing","keepPrefix":false,
            "mentionTokens":false,"mentionBackspace":"whole","mentionTrim":"none","controlCharacters":["@"],
            "continueAfterEmpty":true,"resultsThrottle":0.2,"completionRows":5,"maxLines":0,"characterLimit":9,
            "limitPolicy":"hard","countUnit":"utf16","counterStyle":"plain","markdown":{"bold":{"symbol":"*","title":"Fat"}},
            "doubleSpaceCloses":false,"doubleSpacePeriod":true,"clearsOnSend":false,"keepsUndoOnSend":false,
            "trimsSentText":false,"sendKey":"ctrlReturn","undoDepth":5,"typingTimeout":1.5
            """#.replacing("\n", with: "")
        let object = try response([
            #"{"configure":{"preset":"\#(preset)",\#(options)}}"#, #"{"load":{"text":"abc","selection":[0,3]}}"#,
        ])
        #expect(object["formatting"] as? [String] == ["Fat"])
        #expect((object["counter"] as? [String: Any])?["text"] as? String == "3")
    }
}
