import ChatCore
import GRDB

/// A value of a type that its column cannot hold: the file was modified by something other than SQLite.
struct UnreadableColumn: Error {
    let name: String
}

extension ChatError {
    /// Maps a database error.
    init(storage error: any Error) {
        switch error {
        case let error as DatabaseError where error.isDiskFull: self = .diskFull
        case let error as DatabaseError: self = .storage(reason: error.technicalReason)
        case StoreOpeningError.diskFull: self = .diskFull
        case let error as UnreadableColumn: self = .storage(reason: "column \(error.name) is unreadable")
        default: self = .storage(reason: String(describing: type(of: error)))
        }
    }
}

extension DatabaseError {
    /// The result code and SQLite's message, without the statement and its arguments.
    var technicalReason: String {
        "SQLite \(extendedResultCode.rawValue): \(message ?? "no message")"
    }

    /// Whether the content of the file is wrong, rather than the file not readable at this moment.
    var isCorruption: Bool {
        [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(resultCode)
            || [.SQLITE_IOERR_SHORT_READ, .SQLITE_IOERR_DATA, .SQLITE_IOERR_CORRUPTFS].contains(extendedResultCode)
    }

    /// SHMSIZE: the shared-memory index of the log could not grow, for lack of disk space.
    fileprivate var isDiskFull: Bool {
        resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE
    }
}

extension Error {
    /// Whether the error is a sign of a damaged file. Errors that are neither SQLite's nor of a file beside it come from
    /// decoding values.
    var isDamage: Bool {
        guard let error = self as? DatabaseError else { return !(self is StoreOpeningError) }
        return [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR].contains(error.resultCode)
    }
}
