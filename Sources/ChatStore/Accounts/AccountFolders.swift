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

    public func remove(_ account: String) throws {
        do { try FileManager.default.removeItem(at: folder(of: account)) } catch CocoaError.fileNoSuchFile {}
    }

    static func name(_ account: String) -> String { MediaDigest(of: Data(account.utf8)).hex }
}
