import Foundation
import Fuzzing
import JSONReading
import Testing
import ToolSupport

/// Random valid and damaged documents: all parsers agree and stay within their bounds.
struct ReaderPropertyTests {
    @Test(arguments: 0..<8)
    func parsersAgreeOnRandomDocuments(seed: Int) {
        var documents = RandomJSON(SeededBytes(seed: UInt64(seed)))
        for number in 0..<1500 {
            guard let document = documents.next() else { return }
            let broken = JSONInvariants.violation(
                of: document, nesting: number.isMultiple(of: 50) ? 505 + number / 50 % 10 : 0,
                checksFoundation: number.isMultiple(of: 4))
            #expect(broken == nil, "\(String(decoding: document, as: UTF8.self).debugDescription)")
        }
    }

    @Test func randomDocumentsAreMostlyValid() {
        var documents = RandomJSON(SeededBytes(seed: 9))
        let read = (0..<1000).count { _ in
            // An error is a result: this counts the documents that can be parsed.
            documents.next().map { (try? JSONValue(parsing: Data($0))) != nil } ?? false
        }
        #expect((400...900).contains(read), "\(read) of 1000")
    }

    /// A serialized value parses to an equal value.
    @Test(arguments: 0..<4)
    func valuesSurviveARoundTrip(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<300 {
            let value = Self.value(depth: 0, &random)
            #expect(try JSONValue(parsing: JSONEncoder().encode(value)) == value)
        }
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 4 ? 5 : 8), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(.random(in: .min ... .max, using: &random))
        // Never a whole number, which would be parsed as an integer.
        case 3: return .number(Double(Int.random(in: -100_000...100_000, using: &random)) + 0.125)
        case 4: return .string(text(&random))
        case 5, 6:
            return .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in value(depth: depth + 1, &random) })
        default:
            let members = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
                (text(&random), value(depth: depth + 1, &random))
            }
            return .object(Dictionary(members) { _, last in last })
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "\"", "\\", "/", "\n", "\0", "\u{1F}", "é", "日", "👍", "\u{2028}", "\u{7F}",
        ]
        return (0..<Int.random(in: 0..<12, using: &random)).reduce(into: "") { text, _ in
            text.unicodeScalars.append(scalars.randomElement(using: &random)!)
        }
    }
}
