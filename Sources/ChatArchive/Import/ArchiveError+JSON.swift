import ChatCore
import JSONReading

/// Parses a part of an export, converting JSON errors to ``ArchiveError``.
func readingExport<T>(_ parse: () throws(JSONError) -> T) throws(ArchiveError) -> T {
    do {
        return try parse()
    } catch {
        switch error {
        case .truncated: throw .truncated
        case .malformed(let line, let reason): throw .malformed(line: line, reason: reason)
        case .tooDeep: throw .tooDeep
        case .tooLong(let limit): throw .tooLong(limit: limit)
        }
    }
}
