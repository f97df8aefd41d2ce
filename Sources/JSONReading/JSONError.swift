/// Why a document could not be parsed. Contains none of its text: errors are logged.
public enum JSONError: Error, Equatable, Sendable {
    /// The document ends prematurely.
    case truncated
    /// The document is invalid; `line` counts from 1.
    case malformed(line: Int, reason: String)
    /// Containers are nested too deeply.
    case tooDeep
    /// The document, or a value that is delivered as a whole, exceeds the limit in bytes.
    case tooLong(limit: Int)
}
