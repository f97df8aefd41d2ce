import ChatCore
import GRDB

/// A value of a type that its column cannot hold: the page was changed by something else than SQLite.
struct UnreadableColumn: Error {
    let name: String
}

extension ChatError {
    /// What a failure of the database means to a user.
    init(storage error: any Error) {
        switch error {
        case let error as DatabaseError where error.isDiskFull: self = .diskFull
        case let error as DatabaseError: self = .storage(reason: error.technicalReason)
        case let error as UnreadableColumn: self = .storage(reason: "column \(error.name) is unreadable")
        default: self = .storage(reason: String(describing: type(of: error)))
        }
    }
}

extension DatabaseError {
    /// The code and SQLite's own words, without the statement and its values.
    var technicalReason: String {
        "SQLite \(extendedResultCode.rawValue): \(message ?? "no message")"
    }

    /// SHMSIZE: the index of the log could not grow, which it does by a few pages of disk.
    fileprivate var isDiskFull: Bool {
        resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_SHMSIZE
    }
}

extension Error {
    /// Whether this says that the file is not as SQLite wrote it.
    var isDamage: Bool {
        if self is UnreadableColumn { return true }
        guard let error = self as? DatabaseError else { return false }
        return [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_IOERR].contains(error.resultCode)
    }
}
