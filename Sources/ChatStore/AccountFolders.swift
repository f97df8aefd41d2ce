public import Foundation

/// Where what is kept of each account lies: each in a folder of its own, whatever its identifier.
public struct AccountFolders: Sendable {
    private let root: URL

    /// - Parameter root: made when something is kept. It holds nothing else.
    public init(root: URL) {
        self.root = root
    }

    /// All of an account.
    public func folder(of account: String) -> URL {
        root.appending(path: Self.name(account), directoryHint: .isDirectory)
    }

    /// The account's ``ChatStore``; what belongs to it lies beside.
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
