public import Foundation

/// How far an export or an import has come.
public struct TransferProgress: Equatable, Sendable {
    public var messages: Int
    /// From 0 to 1; nil where the end is not known.
    public var fraction: Double?

    public init(messages: Int, fraction: Double?) {
        self.messages = messages
        self.fraction = fraction
    }
}

/// What an export wrote.
public struct ExportReport: Equatable, Sendable {
    /// The folder with all of it.
    public var folder: URL
    public var messages: Int
    public var files: Int
    /// Files that messages refer to and that are not there.
    public var missingFiles: Int
    /// When the first of the messages was sent, where older ones are with a server that did not answer.
    public var startDate: Date?

    public init(folder: URL, messages: Int, files: Int, missingFiles: Int) {
        self.folder = folder
        self.messages = messages
        self.files = files
        self.missingFiles = missingFiles
    }
}

/// Brings conversations out of the application and into it.
public protocol ConversationArchive: Sendable {
    /// Writes a room into a new folder within `folder`.
    ///
    /// - Parameters:
    ///   - name: what the folder is called, as far as file names allow, with a number if there is one already.
    ///   - progress: told after each page, from any thread.
    /// - Throws: ``ArchiveError``, ``ChatError``, or `CancellationError`; nothing is left in `folder` then.
    func export(
        _ room: RoomID, named name: String, as format: ExportFormat, into folder: URL,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ExportReport

    /// Makes rooms of what another program exported: all of them or, after an error, none.
    ///
    /// - Parameters:
    ///   - source: a file or a folder.
    ///   - resolveRepeats: what to do with conversations that were imported before; nothing is seen of the import until then. Not
    ///     called without any.
    ///   - progress: told after each batch, from any thread.
    /// - Throws: ``ArchiveError``, ``ChatError``, `CancellationError`, or what `resolveRepeats` does.
    func importConversations(
        from source: URL, resolveRepeats: @escaping @Sendable ([EarlierImport]) async throws -> RepeatedImport,
        progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws -> ImportReport
}

/// Why something could not be exported or imported. Holds no text of messages.
public enum ArchiveError: Error, Equatable, Sendable {
    /// The file is of no kind that is known.
    case unknownFormat
    case unreadable(path: String)
    /// It ends in the middle.
    case truncated
    /// It is not what it seems to be; `line` counts from 1, 0 if it is not known.
    case malformed(line: Int, reason: String)
    /// Values are nested in each other beyond all reason.
    case tooDeep
    /// One value is longer than any message, in bytes.
    case tooLong(limit: Int)
    /// There is no message in it.
    case empty
    case unwritable(path: String)
    case diskFull
}
