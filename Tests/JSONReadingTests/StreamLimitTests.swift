import Foundation
import JSONReading
import Testing

/// Memory bounds of the streaming parser.
@Suite(.timeLimit(.minutes(10))) struct StreamLimitTests {
    private final class RecordingReceiver: JSONReceiver {
        let enters: ([JSONStep]) -> Bool
        private(set) var received: [(path: [JSONStep], value: JSONValue)] = []
        private(set) var left: [[JSONStep]] = []

        init(enters: @escaping ([JSONStep]) -> Bool) {
            self.enters = enters
        }

        func entersContainer(at path: [JSONStep]) -> Bool { enters(path) }
        func receive(_ value: JSONValue, at path: [JSONStep]) { received.append((path, value)) }
        func leaveContainer(at path: [JSONStep]) { left.append(path) }
    }

    @Test func streamReportsEnteredContainersAndOtherValuesWhole() throws {
        let receiver = RecordingReceiver { $0.isEmpty || $0 == [.key("b")] }
        let stream = JSONStream(receiver: receiver)
        for byte in #"{"a":[1,{"x":[]}],"b":[true,{"y":2},[]],"c":null}"#.utf8 { try stream.feed(Data([byte])) }
        try stream.finish()
        #expect(
            receiver.received.map(\.path) == [
                [.key("a")], [.key("b"), .index(0)], [.key("b"), .index(1)], [.key("b"), .index(2)], [.key("c")],
            ])
        #expect(receiver.received.map(\.value) == [[1, ["x": []]], true, ["y": 2], [], .null])
        #expect(receiver.left == [[.key("b")], []])
    }

    @Test func errorIsThrownAgain() throws {
        let receiver = RecordingReceiver { _ in true }
        let stream = JSONStream(receiver: receiver)
        #expect(throws: JSONError.self) { try stream.feed(Data("[]x".utf8)) }
        #expect(throws: JSONError.self) { try stream.feed(Data(" ".utf8)) }
        #expect(throws: JSONError.self) { try stream.finish() }
    }

    private func deep(_ count: Int, _ open: String = "[", _ close: String = "]") -> String {
        String(repeating: open, count: count) + "1" + String(repeating: close, count: count)
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func nestingIsBounded(open: String, close: String) throws {
        let deepest = Data(deep(JSONStream.maxDepth, open, close).utf8)
        #expect(throws: Never.self) { try JSONValue(parsing: deepest) }
        for count in [JSONStream.maxDepth + 1, 1_000_000] {
            let beyond = Data(deep(count, open, close).utf8)
            #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: beyond) }
            for enters in [true, false] {
                let receiver = RecordingReceiver { _ in enters }
                let stream = JSONStream(receiver: receiver)
                #expect(throws: JSONError.tooDeep) { try stream.feed(beyond) }
            }
            let document = Data("[1,\(deep(count, open, close)),2]".utf8)
            let value = try JSONValue(parsing: document, emptiesTooDeep: true)
            #expect(value.array?.first == 1 && value.array?.last == 2)
        }
    }

    /// A smaller one than the default, which takes long to reach.
    private let limit = 1 << 20

    /// A container nested too deeply is skipped, up to a maximum length.
    @Test func skippedDeepContainersAreBounded() throws {
        for part in ["[", #"["aaaaaaaa","#] {
            let receiver = RecordingReceiver { _ in false }
            let stream = JSONStream(receiver: receiver, emptiesTooDeep: true, maxBytes: limit)
            let parts = Data(String(repeating: part, count: 10_000).utf8)
            var fed = 0
            #expect(throws: JSONError.tooLong(limit: limit)) {
                while fed < 2 * limit {
                    try stream.feed(parts)
                    fed += parts.count
                }
            }
            #expect(fed <= limit)
        }
    }

    /// Each starts a token, or whitespace, that never ends.
    @Test(arguments: ["[\"", "[1", "[", "{\"a", "{\"a\":\"\\u00e9", "[1e1", " ", "[\"\\"])
    func unfinishedTokensAreBounded(start: String) throws {
        let part: String
        switch start {
        case "[", " ": part = " \n"
        case "[1", "[1e1": part = "11"
        case "[\"\\": part = "\\\\"
        default: part = "aé"
        }
        let receiver = RecordingReceiver { _ in true }
        let stream = JSONStream(receiver: receiver, maxBytes: limit)
        try stream.feed(Data(start.utf8))
        let parts = Data(String(repeating: part, count: 50_000).utf8)
        var fed = 0
        #expect(throws: JSONError.tooLong(limit: limit)) {
            while fed < 2 * limit {
                try stream.feed(parts)
                fed += parts.count
            }
        }
        #expect(fed <= limit)
    }

    @Test func unfinishedTokenIsBoundedByDefault() throws {
        let receiver = RecordingReceiver { _ in true }
        let stream = JSONStream(receiver: receiver)
        #expect(throws: JSONError.tooLong(limit: JSONStream.maxBytes)) {
            try stream.feed(Data(("[\"" + String(repeating: "a", count: JSONStream.maxBytes)).utf8))
        }
    }

    @Test func wholeDocumentsAreBounded() {
        let spaces = Data(repeating: 0x20, count: JSONStream.maxBytes + 1)
        #expect(throws: JSONError.tooLong(limit: JSONStream.maxBytes)) { try JSONValue(parsing: spaces) }
        // Empty objects still take memory in an array.
        let empty = Data(("[" + String(repeating: "{},", count: 2 << 20) + "{}]").utf8)
        #expect(throws: JSONError.tooLong(limit: JSONStream.maxBytes)) { try JSONValue(parsing: empty) }
    }

    @Test func theBoundOfADocumentIsTheCallers() throws {
        let document = Data(#"{"key":"value"}"#.utf8)
        #expect(throws: JSONError.tooLong(limit: 14)) { try JSONValue(parsing: document, maxBytes: 14) }
        #expect(try JSONValue(parsing: document, maxBytes: .max) == ["key": "value"])
    }

    /// Values that the receiver does not retain have no total limit.
    @Test func streamedValuesHaveNoTotalLimit() throws {
        let receiver = RecordingReceiver { $0.isEmpty }
        let stream = JSONStream(receiver: receiver)
        try stream.feed(Data("[0".utf8))
        let values = Data((String(repeating: ",\"" + String(repeating: "a", count: 1 << 20) + "\"", count: 4)).utf8)
        for _ in 0..<10 { try stream.feed(values) }
        try stream.feed(Data("]".utf8))
        try stream.finish()
        #expect(receiver.received.count == 41)
    }
}
