public import ChatCore
public import FoundationEssentials

extension JSONValue {
    /// A document that is read whole, at most ``JSONStream/longest`` bytes of it.
    /// - Parameter emptiesTooDeep: whether null stands for what lies deeper than ``JSONStream/deepest``, which is an
    ///   error otherwise: one who writes such a thing into a document of many must not keep the others from being read.
    /// - Throws: ``ArchiveError``.
    public init(parsing data: Data, emptiesTooDeep: Bool = false) throws(ArchiveError) {
        guard data.count <= JSONStream.longest else { throw .tooLong(limit: JSONStream.longest) }
        var tokenizer = JSONTokenizer()
        var builder = JSONBuilder(deepest: JSONStream.deepest, emptiesTooDeep: emptiesTooDeep)
        let bytes = data.bytes
        var place = 0
        var root: JSONValue?
        while let token = try tokenizer.next(in: bytes, from: &place) {
            if let whole = try builder.take(token) { root = whole }
        }
        if let number = try tokenizer.finish() { root = try builder.take(number) }
        self = root ?? .null
    }
}
