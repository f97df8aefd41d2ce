public import Foundation

/// Stores written by earlier versions.
public enum EarlierStore: String {
    /// Before messages stored their source text: pending messages and a draft in a room of Robin's.
    case namesAreMentions = "names-are-mentions"

    /// Copies the store to a new folder.
    public func copy(to folder: URL) throws {
        try FileManager.default.copyItem(
            at: Bundle.module.bundleURL.appending(path: "Stores/\(rawValue)"), to: folder)
    }
}
