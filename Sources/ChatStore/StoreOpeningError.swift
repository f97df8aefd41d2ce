/// Why a store could not be opened. Nothing on disk was changed, apart from access rights that were too wide.
public enum StoreOpeningError: Error, Equatable, Sendable {
    /// The folder or a file in it cannot be created or written.
    case unwritable(path: String)
    /// The database is not readable as one. ``ChatStore/setAside(at:now:)`` moves it out of the way.
    /// The reason is technical and holds no message text.
    case damaged(path: String, reason: String)
    /// A newer version of the application wrote the database.
    case newerSchema(found: Int, supported: Int)
    /// Another process, or another store of this process, has it open.
    case busy
    /// No room for the few pages that opening writes.
    case diskFull(path: String)
}
