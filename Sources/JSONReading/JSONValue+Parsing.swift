public import ChatCore
public import FoundationEssentials

extension JSONValue {
    /// A document that is read whole, at most ``JSONStream/longest`` bytes of it.
    /// - Parameter emptiesTooDeep: whether null stands for what lies deeper than ``JSONStream/maxDepth``, which is an
    ///   error otherwise: one who writes such a thing into a document of many must not keep the others from being read.
    /// - Throws: ``ArchiveError``.
    public init(parsing data: Data, emptiesTooDeep: Bool = false) throws(ArchiveError) {
        guard data.count <= JSONStream.maxBytes else { throw .tooLong(limit: JSONStream.maxBytes) }
        var tokenizer = JSONTokenizer()
        var builder = JSONBuilder(maxDepth: JSONStream.maxDepth, emptiesTooDeep: emptiesTooDeep)
        let bytes = data.bytes
        var offset = 0
        var root: JSONValue?
        while let token = try tokenizer.next(in: bytes, from: &offset) {
            if let whole = try builder.add(token) { root = whole }
        }
        if let number = try tokenizer.finish() { root = try builder.add(number) }
        self = root ?? .null
    }
}
