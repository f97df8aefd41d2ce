import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import Synchronization
import Testing

@testable import MatrixBackend

/// What signing out removes, in which order, and what the next start completes.
@Suite(.timeLimit(.minutes(10))) struct SignOutTests {
    private static let account = "@me:example.org"
    private let folder = TemporaryFolder()

    private var folders: AccountFolders { AccountFolders(root: folder.path("accounts")) }
    private var hasFolder: Bool { FileManager.default.fileExists(atPath: folders.folder(of: Self.account).path) }

    private func addAccount(to list: ChatStore) async throws {
        try await list.saveAccount(
            Account(
                id: Self.account, kind: MatrixAccounts.kind, server: "https://example.org", device: "D", name: "Me"))
    }

    private func accounts(
        in list: ChatStore, keyring: any CredentialStore, transport: FakeTransport = FakeTransport(200),
        work: OngoingWork = OngoingWork()
    ) -> MatrixAccounts {
        MatrixAccounts(
            list: list, folders: folders, keyring: keyring, transport: transport, deviceName: "Test",
            clock: ManualClock(), ongoingWork: work)
    }

    /// Notes whether a folder exists when a credential is removed.
    private actor ObservingKeyring: CredentialStore {
        private let path: String
        private(set) var found: [Bool] = []

        init(observing path: String) { self.path = path }

        func credential(of account: String) -> AccountCredential? { AccountCredential("secret") }
        func store(_ credential: AccountCredential, of account: String) {}
        func removeCredential(of account: String) { found.append(FileManager.default.fileExists(atPath: path)) }
    }

    @Test("The folder is out of the way before the keyring is asked, and an end of the program waits for both")
    func order() async throws {
        let list = try await ChatStore.open(in: folder.path("list"))
        try await addAccount(to: list)
        let keyring = ObservingKeyring(observing: folders.folder(of: Self.account).path)
        let work = OngoingWork()
        let isCounted = Mutex(false)
        let transport = FakeTransport { request in
            if request.url.path.hasSuffix("/logout") { isCounted.withLock { $0 = !work.isEmpty } }
            return MatrixResponse(status: 200, body: Data("{}".utf8))
        }
        let accounts = accounts(in: list, keyring: keyring, transport: transport, work: work)
        try await accounts.start(connects: false)
        #expect(hasFolder)
        try await accounts.signOut(Self.account, isForced: false)
        #expect(await !keyring.found.isEmpty)
        #expect(await !keyring.found.contains(true))
        #expect(isCounted.withLock { $0 } && work.isEmpty)
        #expect(!hasFolder)
        #expect(try await list.accounts().isEmpty)
        await accounts.close()
        await list.close()
    }

    @Test("An account that is opened during its sign-out is closed")
    func openedMeanwhile() async throws {
        let list = try await ChatStore.open(in: folder.path("list"))
        try await addAccount(to: list)
        // In use elsewhere, so that the account cannot be opened at first.
        let other = try await ChatStore.open(in: folders.store(of: Self.account))
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let transport = FakeTransport(pause: { request in
            guard request.url.path.hasSuffix("/logout") else { return }
            begin.finish()
            for await _ in gate {}
        }) { _ in MatrixResponse(status: 200, body: Data("{}".utf8)) }
        let keyring = FakeCredentialStore()
        try await keyring.store(AccountCredential("secret"), of: Self.account)
        let accounts = accounts(in: list, keyring: keyring, transport: transport)
        try await accounts.start(connects: false)
        #expect(await accounts.backend(of: Self.account) == nil)
        let ending = Task { try await accounts.signOut(Self.account, isForced: false) }
        for await _ in begun {}
        await other.close()
        await accounts.open(Self.account)
        let store = try #require(await accounts.backend(of: Self.account)).store
        open.finish()
        try await ending.value
        await #expect(throws: ChatError.self) { try await store.hasRoom(RoomID("!room:example.org")) }
        #expect(!hasFolder)
        await accounts.close()
        await list.close()
    }

    @Test(
        "The start completes a sign-out that ended after the account was removed from the list, and no other",
        arguments: [true, false], [true, false])
    func interrupted(isMarked: Bool, isListed: Bool) async throws {
        let list = try await ChatStore.open(in: folder.path("list"))
        if isListed { try await addAccount(to: list) }
        try FileManager.default.createDirectory(
            at: folders.folder(of: Self.account), withIntermediateDirectories: true)
        if isMarked { try folders.markSignedOut(Self.account) }
        let accounts = accounts(in: list, keyring: FakeCredentialStore())
        try await accounts.start(connects: false)
        #expect(hasFolder == (isListed || !isMarked))
        await accounts.close()
        // The mark of a listed account is gone: removed from the list in another way, it stays.
        folders.setAsideSignedOut(except: [])
        #expect(hasFolder == (isListed || !isMarked))
        await list.close()
    }

    @Test("Where the list of accounts cannot be read, nothing is removed")
    func unreadableList() async throws {
        let list = try await ChatStore.open(in: folder.path("list"))
        try FileManager.default.createDirectory(
            at: folders.folder(of: Self.account), withIntermediateDirectories: true)
        try folders.markSignedOut(Self.account)
        await list.close()
        let accounts = accounts(in: list, keyring: FakeCredentialStore())
        await #expect(throws: ChatError.self) { try await accounts.start(connects: false) }
        #expect(hasFolder)
        await accounts.close()
    }
}
