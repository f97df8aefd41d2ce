import Foundation
import JSONReading

/// Invariants of the JSON parser for arbitrary input.
public enum JSONInvariants {
    private typealias Reading = Result<JSONValue?, JSONError>

    /// Chunk sizes that split tokens, and whole documents; received as one value and member by member.
    public static let manners = [
        StreamedJSON.Manner(chunkSize: 1, entered: 0), StreamedJSON.Manner(chunkSize: 2, entered: .max),
        StreamedJSON.Manner(chunkSize: 7, entered: 1), StreamedJSON.Manner(chunkSize: .max, entered: .max),
    ]

    /// Returns a description of the violated invariant, or `nil` if all hold.
    /// - Parameters:
    ///   - manners: the ways to parse the document as a stream as well.
    ///   - nesting: the number of arrays to wrap around it, to test the depth limit.
    ///   - checksFoundation: whether to compare the result with Foundation's.
    public static func violation(
        of document: [UInt8], manners: some Sequence<StreamedJSON.Manner> = manners, nesting: Int = 0,
        checksFoundation: Bool = true
    ) -> String? {
        let whole = read(document)
        if let broken = streamViolation(of: document, manners, whole) { return broken }
        if nesting > 0, let broken = nestingViolation(of: document, nesting, whole) { return broken }
        if case .failure(let error) = whole, let broken = errorViolation(error, in: document) { return broken }
        return checksFoundation ? foundationViolation(of: document, whole) : nil
    }

    private static func read(_ document: [UInt8], emptiesTooDeep: Bool = false) -> Reading {
        Reading { () throws(JSONError) in
            try JSONValue(parsing: Data(document), emptiesTooDeep: emptiesTooDeep)
        }
    }

    private static func streamViolation(
        of document: [UInt8], _ manners: some Sequence<StreamedJSON.Manner>, _ whole: Reading
    ) -> String? {
        for manner in manners {
            let streamed: Reading
            do {
                streamed = .success(try StreamedJSON.value(of: document, manner))
            } catch let error as JSONError {
                streamed = .failure(error)
            } catch {
                return "no error of the parser: \(error)"
            }
            // An empty container that was entered could be an array or an object.
            let same =
                manner.entered == 0
                ? streamed == whole : streamed.map { $0?.emptiesAlike } == whole.map { $0?.emptiesAlike }
            if !same { return "in pieces of \(manner.chunkSize) \(streamed), as a whole \(whole)" }
        }
        return nil
    }

    private static func nestingViolation(of document: [UInt8], _ nesting: Int, _ whole: Reading) -> String? {
        let nested =
            Array(repeating: UInt8(ascii: "["), count: nesting) + document
            + Array(repeating: UInt8(ascii: "]"), count: nesting)
        // A byte order mark is valid only at the start of a document.
        guard case .success(let value?) = whole, document.first != 0xEF else {
            return streamViolation(of: nested, manners, read(nested))
        }
        let depth = nesting + value.depth
        guard case .success(let emptied?) = read(nested, emptiesTooDeep: true) else { return "not emptied" }
        if emptied.depth != min(depth, JSONStream.maxDepth) { return "\(emptied.depth) deep after emptying \(depth)" }
        let strict = read(nested)
        if depth > JSONStream.maxDepth {
            return strict == .failure(.tooDeep) ? nil : "\(depth) deep, and \(strict)"
        }
        return strict == .success(emptied) ? nil : "\(depth) deep, and emptied"
    }

    private static func errorViolation(_ error: JSONError, in document: [UInt8]) -> String? {
        guard case .malformed(let line, let reason) = error else {
            return error == .truncated || error == .tooDeep ? nil : "\(error) of a short document"
        }
        if !(1...document.count { $0 == 0x0A } + 1).contains(line) { return "an error in line \(line)" }
        return reason.isEmpty ? "an error without a reason" : nil
    }

    private static func foundationViolation(of document: [UInt8], _ whole: Reading) -> String? {
        // Foundation detects other encodings by zero bytes and byte order marks. For duplicate keys, it keeps the first
        // value.
        if document.contains(0) || document.starts(with: [0xFE, 0xFF]) || document.starts(with: [0xFF, 0xFE])
            || StreamedJSON.hasDoubleKeys(document)
        {
            return nil
        }
        let other = FoundationJSON.value(of: document)
        switch (whole, other) {
        case (.failure, nil): return nil
        case (.failure(let error), .some(let other)):
            return hasTrailingComma(document) ? nil : "Foundation reads \(other), we say \(error)"
        case (.success(let value), nil):
            return document.first == 0xEF || value?.contains(isRejectedByFoundation) == true
                ? nil : "Foundation refuses \(String(describing: value))"
        case (.success(let value), .some(let other)):
            return value?.roundingNumbers == other ? nil : "Foundation reads \(other), we \(String(describing: value))"
        }
    }

    /// Foundation accepts trailing commas, contrary to RFC 8259.
    private static func hasTrailingComma(_ document: [UInt8]) -> Bool {
        let solid = document.filter { $0 > 0x20 }
        return zip(solid, solid.dropFirst()).contains { $0 == 0x2C && ($1 == 0x5D || $1 == 0x7D) }
    }

    /// Whether Foundation rejects a value that this parser accepts: invalid Unicode, infinite and subnormal numbers.
    private static func isRejectedByFoundation(_ value: JSONValue) -> Bool {
        switch value {
        case .string(let text): text.unicodeScalars.contains("\u{FFFD}")
        case .number(let number): !number.isFinite || number.magnitude < .leastNormalMagnitude
        default: false
        }
    }
}

extension JSONValue {
    fileprivate var emptiesAlike: JSONValue {
        switch self {
        case .object(let members) where members.isEmpty: .array([])
        case .object(let members): .object(members.mapValues(\.emptiesAlike))
        case .array(let values): .array(values.map(\.emptiesAlike))
        default: self
        }
    }
}
