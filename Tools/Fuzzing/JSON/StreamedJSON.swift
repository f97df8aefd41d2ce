import Foundation
public import JSONReading

/// Rebuilds a document from the events of a ``JSONStream``.
public final class StreamedJSON: JSONReceiver {
    /// How to split a document into chunks, and how deep to enter it.
    public struct Manner: Sendable {
        /// The chunk size in bytes.
        public var chunkSize: Int
        /// The number of nested containers to enter; deeper ones are received as whole values.
        public var entered: Int

        public init(chunkSize: Int, entered: Int) {
            self.chunkSize = chunkSize
            self.entered = entered
        }
    }

    private let entered: Int
    /// The entered containers, from the outermost: the members so far, and whether they have keys.
    private var open: [(isObject: Bool, array: [JSONValue], object: [String: JSONValue])] = []
    private var root: JSONValue?
    private var hasDoubleKeys = false

    private init(entered: Int) {
        self.entered = entered
    }

    /// - Throws: ``JSONError``.
    public static func value(of bytes: [UInt8], _ manner: Manner) throws -> JSONValue? {
        try read(bytes, manner).root
    }

    /// Whether an object in a valid document has duplicate keys.
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
