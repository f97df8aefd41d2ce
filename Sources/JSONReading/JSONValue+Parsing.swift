public import ChatCore
public import FoundationEssentials

extension JSONValue {
    /// Parses a complete document of at most ``JSONStream/maxBytes`` bytes.
    /// - Parameter emptiesTooDeep: Whether containers deeper than ``JSONStream/maxDepth`` are replaced by null instead
    ///   of throwing an error, so one sender's value does not make a whole response unreadable.
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
