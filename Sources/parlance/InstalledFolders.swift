import Foundation
import GtkKit

/// Data folders of an installed Parlance, relative to the executable in `PREFIX/bin`.
///
/// In the build folder, translations are where `TEXTDOMAINDIR` says, which gettext(1) uses too.
enum InstalledFolders {
    static var resources: [String] { share.map { ["\($0)/parlance"] } ?? [] }
    static var locale: String {
        share.map { "\($0)/locale" } ?? ProcessInfo.processInfo.environment["TEXTDOMAINDIR"] ?? "/usr/share/locale"
    }

    private static var share: String? {
        // Without /proc, as in some sandboxes, use the build folder's resources.
        guard let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return nil
        }
        let folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
        guard folder.lastPathComponent == "bin" else { return nil }
        return folder.deletingLastPathComponent().appending(path: "share").path
    }
}

/// The user's data folders (XDG Base Directory Specification).
nonisolated enum DataFolder {
    static var store: URL { base.appending(path: "parlance") }
    /// The stores of server accounts, outside of the local store, whose folder must not contain anything else.
    static var accounts: URL { base.appending(path: "parlance-accounts") }
    /// Answers to notifications that are not in a store yet.
    static var replies: URL { base.appending(path: "parlance-replies") }

    /// The user's configuration, which all programs share.
    static var configuration: URL { folder("XDG_CONFIG_HOME", or: ".config") }

    private static var base: URL { folder("XDG_DATA_HOME", or: ".local/share") }

    private static func folder(_ variable: String, or path: String) -> URL {
        // The specification requires ignoring relative paths.
        if let value = ProcessInfo.processInfo.environment[variable], value.hasPrefix("/") {
            return URL(fileURLWithPath: value)
        }
        return FileManager.default.homeDirectoryForCurrentUser.appending(path: path)
    }
}
