import Foundation
import GtkKit

/// Where an installed Parlance finds what belongs to it, from where its executable lies (`PREFIX/bin`).
enum InstalledFolders {
    static var resources: [String] { share.map { ["\($0)/parlance"] } ?? [] }
    static var locale: String { share.map { "\($0)/locale" } ?? "/usr/share/locale" }

    private static var share: String? {
        guard let executable = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return nil
        }
        let folder = URL(fileURLWithPath: executable).deletingLastPathComponent()
        guard folder.lastPathComponent == "bin" else { return nil }
        return folder.deletingLastPathComponent().appending(path: "share").path
    }
}

/// Where the user's data lies (XDG base directories).
nonisolated enum DataFolder {
    static var store: URL { base.appending(path: "parlance") }
    /// Of accounts at servers. A store's folder holds nothing else.
    static var accounts: URL { base.appending(path: "parlance-accounts") }

    private static var base: URL {
        let environment = ProcessInfo.processInfo.environment
        // A relative path is to be ignored, says the specification.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return URL(fileURLWithPath: data) }
        return FileManager.default.homeDirectoryForCurrentUser.appending(path: ".local/share")
    }
}
