import ChatCore
import Foundation
public import JSONReading

/// Puts a document together again from what a ``JSONStream`` tells of it.
public final class StreamedJSON: JSONReceiver {
    /// How a document is fed and told.
    public struct Manner: Sendable {
        /// Bytes of each piece.
        public var chunkSize: Int
        /// How many containers within each other are entered; what is deeper is told whole.
        public var entered: Int

        public init(chunkSize: Int, entered: Int) {
            self.chunkSize = chunkSize
            self.entered = entered
        }
    }

    private let entered: Int
    /// Of each container that was entered: its members so far, and whether they have keys.
    private var open: [(isObject: Bool, array: [JSONValue], object: [String: JSONValue])] = []
    private var root: JSONValue?
    private var hasDoubleKeys = false

    private init(entered: Int) {
        self.entered = entered
    }

    /// - Throws: ``ArchiveError``.
    public static func value(of bytes: [UInt8], _ manner: Manner) throws -> JSONValue? {
        try read(bytes, manner).root
    }

    /// Whether an object of a valid document has two members with one key.
    public static func hasDoubleKeys(_ bytes: [UInt8]) -> Bool {
        (try? read(bytes, Manner(chunkSize: .max, entered: .max)).hasDoubleKeys) ?? false
    }

    private static func read(_ bytes: [UInt8], _ manner: Manner) throws -> StreamedJSON {
        let receiver = StreamedJSON(entered: manner.entered)
        let stream = JSONStream(receiver: receiver)
        for start in stride(from: 0, to: bytes.count, by: manner.chunkSize) {
            try stream.feed(Data(bytes[start..<min(start + manner.chunkSize, bytes.count)]))
        }
        try stream.finish()
        return receiver
    }

    public func entersContainer(at path: [JSONStep]) -> Bool {
        guard path.count < entered else { return false }
        open.append((false, [], [:]))
        return true
    }

    public func receive(_ value: JSONValue, at path: [JSONStep]) { put(value, at: path) }

    public func leaveContainer(at path: [JSONStep]) {
        guard let last = open.popLast() else { return }
        put(last.isObject ? .object(last.object) : .array(last.array), at: path)
    }

    private func put(_ value: JSONValue, at path: [JSONStep]) {
        switch path.last {
        case nil: root = value
        case .key(let key):
            open[open.count - 1].isObject = true
            if open[open.count - 1].object.updateValue(value, forKey: key) != nil { hasDoubleKeys = true }
        case .index(let index):
            precondition(open[open.count - 1].array.count == index, "values of an array out of order")
            open[open.count - 1].array.append(value)
        }
    }
}
