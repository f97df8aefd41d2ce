public import FoundationEssentials

extension JSONValue {
    /// Parses a complete document.
    ///
    /// - Parameters:
    ///   - emptiesTooDeep: Whether containers deeper than ``JSONStream/maxDepth`` are replaced by null instead of
    ///     throwing an error, so one sender's value does not make a whole response unreadable.
    ///   - isStrict: Whether text that is not Unicode and numbers beyond the range of `Double` throw an error. Otherwise
    ///     they are repaired: U+FFFD replaces what is not valid Unicode, and the number becomes infinite.
    ///   - maxBytes: The maximum size of the document, and of the value in memory.
    /// - Throws: ``JSONError``.
    public init(
        parsing data: Data, emptiesTooDeep: Bool = false, isStrict: Bool = false,
        maxBytes: Int = JSONStream.maxBytes
    ) throws(JSONError) {
        guard data.count <= maxBytes else { throw .tooLong(limit: maxBytes) }
        var tokenizer = JSONTokenizer(isStrict: isStrict)
        var builder = JSONBuilder(
            maxDepth: JSONStream.maxDepth, maxBytes: maxBytes, emptiesTooDeep: emptiesTooDeep)
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
