public import Foundation

extension JSONValue {
    /// A document that is read whole, at most ``JSONStream/longest`` bytes of it.
    /// - Throws: ``ArchiveError``.
    public init(parsing data: Data) throws {
        let document = JSONDocument()
        let stream = JSONStream(receiver: document)
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
