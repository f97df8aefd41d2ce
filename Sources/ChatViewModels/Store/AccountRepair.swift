public import Foundation

/// A damaged history of an account that was repaired when the account was opened, without a question.
public nonisolated struct AccountRepair: Identifiable, Equatable, Sendable {
    /// The account's name.
    public let account: String
    /// The folder of the damaged history.
    public let setAside: String

    public init(account: String, setAside: String) {
        self.account = account
        self.setAside = setAside
    }

    /// The folder's name with that of the account's, which stay the same wherever the user's data are.
    public var id: String { setAside.split(separator: "/").suffix(2).joined(separator: "/") }

    /// Returns the repairs of an account's store, the earliest first: each has left the damaged folder beside it, so
    /// that they are found even if the program ended before it could report them.
    @concurrent
    public static func all(of account: String, store: URL) async -> [AccountRepair] {
        let folder = store.deletingLastPathComponent()
        let prefix = store.lastPathComponent + "-damaged-"
        // Without the folder, nothing was repaired.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasPrefix(prefix) }.sorted().map { name in
            AccountRepair(account: account, setAside: folder.appending(path: name).path)
        }
    }
}
