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
}
