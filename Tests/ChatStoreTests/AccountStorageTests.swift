import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import Testing

struct AccountStorageTests {
    private let folder = TemporaryFolder()

    @Test func credentialFileIsReadableOnlyByItsOwner() async throws {
        let credentials = AccountFolders(root: folder.path("accounts")).credentialStore
        #expect(try await credentials.credential(of: "@ann:example.org") == nil)
        try await credentials.removeCredential(of: "@ann:example.org")
        try await credentials.store(AccountCredential("one"), of: "@ann:example.org")
        try await credentials.store(AccountCredential("two"), of: "@ann:example.org")
        #expect(try await credentials.credential(of: "@ann:example.org") == AccountCredential("two"))
        #expect(try await credentials.credential(of: "@bo:example.org") == nil)
        let credentialFolder = folder.path("accounts").appending(path: "secrets")
        let files = try FileManager.default.contentsOfDirectory(at: credentialFolder, includingPropertiesForKeys: nil)
        #expect(files.count == 1)
        for file in files + [credentialFolder] {
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o077 } == 0)
        }
        try await credentials.removeCredential(of: "@ann:example.org")
        #expect(try await credentials.credential(of: "@ann:example.org") == nil)
    }

    @Test func credentialsAreHiddenInDescriptions() {
        let credential = AccountCredential("syt_open_sesame")
        var dumped = ""
        dump(SignInCredentials.password(name: "ann", credential), to: &dumped)
        for text in ["\(credential)", String(reflecting: credential), "\([credential])", dumped] {
            #expect(!text.contains("sesame"))
        }
    }

    /// Any account identifier maps to one folder directly under the root.
    @Test(arguments: ["@ann:example.org", "../../../etc", "", "/", "@x:y\u{0}z", String(repeating: "a", count: 5000)])
    func accountFoldersStayUnderTheirRoot(account: String) throws {
        let root = folder.path("accounts")
        let folders = AccountFolders(root: root)
        #expect(folders.folder(of: account).deletingLastPathComponent().standardizedFileURL.path == root.path)
        #expect(folders.folder(of: account) != folders.folder(of: account + "."))
        try FileManager.default.createDirectory(at: folders.store(of: account), withIntermediateDirectories: true)
        try folders.remove(account)
        #expect(!FileManager.default.fileExists(atPath: folders.folder(of: account).path))
        try folders.remove(account)
    }

    /// A folder that is neither marked nor of a listed account may be all that a damaged list has left of one.
    @Test func onlyMarkedFoldersOfUnlistedAccountsAreSetAside() async throws {
        let root = folder.path("accounts")
        let folders = AccountFolders(root: root)
        func exists(_ account: String) -> Bool {
            FileManager.default.fileExists(atPath: folders.folder(of: account).path)
        }
        for account in ["signed out", "listed", "unlisted", "unmarked"] {
            try FileManager.default.createDirectory(at: folders.store(of: account), withIntermediateDirectories: true)
        }
        for account in ["signed out", "listed", "unmarked", "none"] { try folders.markSignedOut(account) }
        try folders.unmarkSignedOut("unmarked")
        try await folders.credentialStore.store(AccountCredential("one"), of: "listed")
        folders.setAsideSignedOut(except: ["listed"])
        #expect(!exists("signed out") && !exists("none"))
        #expect(exists("listed") && exists("unlisted") && exists("unmarked"))
        #expect(try await folders.credentialStore.credential(of: "listed") == AccountCredential("one"))
        await folders.removeRemains()
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).count == 4, "with the credentials")
        folders.setAsideSignedOut(except: [])
        #expect(exists("listed"), "its mark is removed")
    }

    /// Signing in again after a sign-out that was interrupted in the same run.
    @Test func markedFolderIsNotUsedAgain() throws {
        let folders = AccountFolders(root: folder.path("accounts"))
        for isMarked in [false, true] {
            try FileManager.default.createDirectory(at: folders.store(of: "a"), withIntermediateDirectories: true)
            if isMarked { try folders.markSignedOut("a") }
            try folders.setAsideIfSignedOut("a")
            #expect(FileManager.default.fileExists(atPath: folders.folder(of: "a").path) == !isMarked)
        }
        try folders.setAsideIfSignedOut("a")
    }
}
