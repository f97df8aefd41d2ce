public import Foundation

/// The progress of an export or import.
public struct TransferProgress: Equatable, Sendable {
    public var messages: Int
    /// From 0 to 1, or `nil` if the total is unknown.
    public var fraction: Double?

    public init(messages: Int, fraction: Double?) {
        self.messages = messages
        self.fraction = fraction
    }
}

/// The result of an export.
public struct ExportReport: Equatable, Sendable {
    /// The folder that holds the export.
    public var folder: URL
    public var messages: Int
    public var files: Int
    /// The number of attachments whose files are not available any more.
    public var missingFiles: Int
    /// The number of attachments whose files could not be loaded because the server could not be reached.
    public var unloadedFiles = 0
    /// When the first exported message was sent, if the server did not provide older ones; `nil` if the export is
    /// complete.
    public var startDate: Date?

    public init(folder: URL, messages: Int, files: Int, missingFiles: Int) {
        self.folder = folder
        self.messages = messages
        self.files = files
        self.missingFiles = missingFiles
    }
}

/// Exports and imports conversations.
public protocol ConversationArchive: Sendable {
    /// Exports a room into a new folder within `folder`.
    ///
    /// - Parameters:
    ///   - name: The new folder's name, sanitized for the file system, with a number appended if it exists.
    ///   - progress: Called after each page, on any thread.
    /// - Throws: ``ArchiveError``, ``ChatError``, or `CancellationError`; `folder` is then unchanged.
    func export(
        _ room: RoomID, named name: String, as format: ExportFormat, into folder: URL,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ExportReport

    /// Creates rooms from another program's export: all of them or, on an error, none.
    ///
    /// - Parameters:
    ///   - source: A file or a folder.
    ///   - resolveRepeats: Decides what to do with conversations that were imported before; not called if there are
    ///     none. Imported rooms stay hidden until it returns.
    ///   - progress: Called after each batch, on any thread.
    /// - Throws: ``ArchiveError``, ``ChatError``, `CancellationError`, or the error of `resolveRepeats`.
    func importConversations(
        from source: URL, resolveRepeats: @escaping @Sendable ([EarlierImport]) async throws -> RepeatedImport,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ImportReport
}

/// An export or import error. Contains no message text.
public enum ArchiveError: Error, Equatable, Sendable {
    /// The file format is not supported.
    case unknownFormat
    case unreadable(path: String)
    /// The file ends prematurely.
    case truncated
    /// The content is invalid; `line` counts from 1 and is 0 if unknown.
    case malformed(line: Int, reason: String)
    /// Values are nested too deeply.
    case tooDeep
    /// A value exceeds the limit, in bytes.
    case tooLong(limit: Int)
    /// The export contains no messages.
    case empty
    case unwritable(path: String)
    case diskFull
}
