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
        guard let removed = try setAside(folder(of: account)) else { return }
        try FileManager.default.removeItem(at: removed)
    }

    /// Renames an account's folder, which takes no time; ``removeRemains()`` then removes it.
    public func setAside(_ account: String) throws { _ = try setAside(folder(of: account)) }

    /// - Returns: The folder under its new name, or `nil` if there is none.
    private func setAside(_ folder: URL) throws -> URL? {
        let name = folder.lastPathComponent + "-\(UUID().uuidString.prefix(8))" + Self.removedSuffix
        let removed = root.appending(path: name, directoryHint: .isDirectory)
        do { try FileManager.default.moveItem(at: folder, to: removed) } catch CocoaError.fileNoSuchFile { return nil }
        FileSystem.syncFolder(root.path)
        return removed
    }

    // MARK: Signing out

    /// Marks the folder of an account that is about to be removed from the list of accounts. If the process ends before
    /// the folder is set aside, nothing else says that it is to be removed: it may also be missing from the list because
    /// that was damaged.
    public func markSignedOut(_ account: String) throws {
        let folder = folder(of: account)
        guard FileSystem.isDirectory(folder.path) else { return }
        try Self.signedOutMark(in: folder).write("1")
    }

    /// Removes the mark of an account that stays listed.
    public func unmarkSignedOut(_ account: String) throws {
        try Self.signedOutMark(in: folder(of: account)).remove()
    }

    /// Sets aside the marked folders of accounts that are not listed, and removes the marks of listed ones.
    /// - Parameter accounts: All listed accounts. Without the list, this must not be called.
    public func setAsideSignedOut(except accounts: [String]) {
        let listed = Set(accounts.map(Self.name))
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        for name in names where MediaDigest(hex: name) != nil {
            let folder = root.appending(path: name, directoryHint: .isDirectory)
            let mark = Self.signedOutMark(in: folder)
            // What cannot be read marks nothing, and the next start tries again.
            guard (try? mark.read()) != nil else { continue }
            if listed.contains(name) {
                try? mark.remove()
            } else {
                _ = try? setAside(folder)
            }
        }
    }

    /// Sets aside the folder of an account that is about to be listed, if an earlier sign-out was interrupted.
    public func setAsideIfSignedOut(_ account: String) throws {
        guard try Self.signedOutMark(in: folder(of: account)).read() != nil else { return }
        try setAside(account)
    }

    private static func signedOutMark(in folder: URL) -> MarkFile { MarkFile("signed-out", in: folder) }

    /// Removes what was set aside.
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
