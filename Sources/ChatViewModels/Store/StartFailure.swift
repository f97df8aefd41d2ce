public import ChatCore

/// Why the store cannot be opened, so that the application cannot start.
public nonisolated enum StartFailure: Equatable, Sendable {
    case unwritableFolder(String)
    case diskFull(String)
    /// Another process has locked the folder.
    case folderInUse(String)
    /// A newer version has written the store.
    case newerVersion(String)
    /// An error with a technical description.
    case other(reason: String)

    public func heading(_ translator: Translator) -> String {
        switch self {
        case .unwritableFolder: translator("Cannot Write to Folder")
        case .diskFull: translator("Disk Full")
        case .folderInUse: translator("Message History Is in Use")
        case .newerVersion: translator("Newer Version Required")
        case .other: translator("Could Not Start Parlance")
        }
    }

    public func body(_ translator: Translator) -> String {
        switch self {
        case .unwritableFolder(let path):
            translator("Parlance stores messages in this folder, but could not create it or write to it:") + "\n\n"
                + path
        case .diskFull(let path):
            translator("Free up space on the disk that contains this folder, then start Parlance again:") + "\n\n"
                + path
        case .folderInUse(let path): translator("Another app is using this folder:") + "\n\n" + path
        case .newerVersion(let path):
            translator(
                "The messages in this folder were saved by a newer version of Parlance. Update Parlance to read them:")
                + "\n\n" + path
        case .other(let reason): translator("Details: {reason}", ["reason": reason])
        }
    }
}
