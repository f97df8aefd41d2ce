public import Foundation

/// Stores as earlier versions left them.
public enum EarlierStore: String {
    /// Before texts were kept as they were written: messages that wait, with a draft, in a room of Robin's.
    case namesAreMentions = "names-are-mentions"

    /// Makes a folder with it.
    public func copy(to folder: URL) throws {
        try FileManager.default.copyItem(
            at: Bundle.module.bundleURL.appending(path: "Stores/\(rawValue)"), to: folder)
    }
}
