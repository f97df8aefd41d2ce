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
        case .unwritableFolder: translator("Conversations Cannot Be Saved")
        case .diskFull: translator("The Disk Is Full")
        case .folderInUse: translator("Conversations Are in Use")
        case .newerVersion: translator("A Newer Parlance Is Needed")
        case .other: translator("Parlance Cannot Start")
        }
    }

    public func body(_ translator: Translator) -> String {
        switch self {
        case .unwritableFolder(let path):
            translator("Parlance keeps them in this folder, which it cannot create or write to:") + "\n\n" + path
        case .diskFull(let path):
            translator("Free some space on the disk with this folder, then start Parlance again:") + "\n\n" + path
        case .folderInUse(let path): translator("Another program has this folder open:") + "\n\n" + path
        case .newerVersion(let path):
            translator("A newer version of Parlance saved the conversations in this folder. Install it to read them:")
                + "\n\n" + path
        case .other(let reason): reason
        }
    }
}
