/// Why a store could not be opened. Nothing on disk was changed, except that overly permissive file modes may have
/// been restricted.
public enum StoreOpeningError: Error, Equatable, Sendable {
    /// The folder or a file in it cannot be created or written.
    case unwritable(path: String)
    /// The database is damaged. ``ChatStore/setAside(at:now:)`` moves it out of the way. The reason is technical and
    /// contains no message text.
    case damaged(path: String, reason: String)
    /// A newer version of the application has migrated the database.
    case newerSchema(found: Int, supported: Int)
    /// The store is open in another process, or elsewhere in this one.
    case busy
    /// There is no disk space for the few pages that opening writes.
    case diskFull(path: String)
}
