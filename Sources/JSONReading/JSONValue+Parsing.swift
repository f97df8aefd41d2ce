public import Foundation

extension JSONValue {
    /// A document that is read whole, at most ``JSONStream/longest`` bytes of it.
    /// - Parameter emptiesTooDeep: whether null stands for what lies deeper than ``JSONStream/deepest``, which is an
    ///   error otherwise: one who writes such a thing into a document of many must not keep the others from being read.
    /// - Throws: ``ArchiveError``.
    public init(parsing data: Data, emptiesTooDeep: Bool = false) throws {
        let document = JSONDocument()
        let stream = JSONStream(receiver: document, emptiesTooDeep: emptiesTooDeep)
        try stream.feed(data)
        try stream.finish()
        self = document.root ?? .null
    }
}

private final class JSONDocument: JSONReceiver {
    private(set) var root: JSONValue?

    func entersContainer(at path: [JSONStep]) -> Bool { false }
    func leaveContainer(at path: [JSONStep]) {}
    func receive(_ value: JSONValue, at path: [JSONStep]) { root = value }
}
