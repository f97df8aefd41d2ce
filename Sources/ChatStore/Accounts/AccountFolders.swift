public import Foundation

/// The data folders of accounts, one for each identifier.
public struct AccountFolders: Sendable {
    private let root: URL

    /// Describes the folders below a root.
    /// - Parameter root: The folder of all accounts, which holds nothing else. Created when needed.
    public init(root: URL) {
        self.root = root
    }

    /// Returns the folder with all data of an account.
    public func folder(of account: String) -> URL {
        root.appending(path: Self.name(account), directoryHint: .isDirectory)
    }

    /// Returns the folder of the account's ``ChatStore``.
    public func store(of account: String) -> URL {
        folder(of: account).appending(path: "store", directoryHint: .isDirectory)
    }

    public var credentialStore: FileCredentialStore {
        FileCredentialStore(folder: root.appending(path: "secrets", directoryHint: .isDirectory))
    }

    private static let removedSuffix = "-removed"

    /// Removes an account's folder. It is renamed first, so that a later sign-in neither finds its messages nor sends
    /// those that were queued, even if the removal is interrupted; ``removeRemains()`` then completes it.
    public func remove(_ account: String) throws {
        let folder = folder(of: account)
        let name = folder.lastPathComponent + "-\(UUID().uuidString.prefix(8))" + Self.removedSuffix
        let removed = root.appending(path: name, directoryHint: .isDirectory)
        do { try FileManager.default.moveItem(at: folder, to: removed) } catch CocoaError.fileNoSuchFile { return }
        try FileManager.default.removeItem(at: removed)
    }

    /// Removes what an interrupted ``remove(_:)`` left.
    @concurrent
    public func removeRemains() async {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        for name in names where name.hasSuffix(Self.removedSuffix) {
            // The next start tries again.
            try? FileManager.default.removeItem(at: root.appending(path: name))
        }
    }

    static func name(_ account: String) -> String { MediaDigest(of: Data(account.utf8)).hex }
}
