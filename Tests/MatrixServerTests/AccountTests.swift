import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing

@testable import MatrixBackend

/// Accounts on a real homeserver: signing in, restarting without credentials, signing out.
@Suite(.timeLimit(.minutes(5)))
struct AccountTests {
    /// The accounts of one application folder over several starts.
    private final class Home {
        let folder = TemporaryFolder()
        let keyring = FakeCredentialStore()

        func start(connects: Bool = true, isRestart: Bool = false) async throws -> (
            accounts: MatrixAccounts, list: ChatStore
        ) {
            let list = try await ChatStore.open(in: folder.path("parlance"))
            let accounts = MatrixAccounts(
                list: list, folders: AccountFolders(root: folder.path("accounts")), keyring: keyring,
                transport: CurlTransport(), deviceName: "Test", isRestart: isRestart)
            try await accounts.start(connects: connects)
            return (accounts, list)
        }
    }

    private static func register(_ name: String) async throws -> String {
        let unique = "\(name)-\(UUID().uuidString.prefix(8).lowercased())"
        let client = MatrixClient(server: try TestHomeserver.url(), transport: CurlTransport())
        let body: JSONValue = [
            "username": .string(unique), "password": "password", "auth": ["type": "m.login.dummy"],
            "inhibit_login": true,
        ]
        _ = try await client.call(.post, ["client", "v3", "register"], body: body)
        return unique
    }

    private static func signIn(
        _ name: String, to accounts: MatrixAccounts, place: CredentialLocation = .keyring, again: String? = nil
    ) async throws -> String {
        let server = try await accounts.server(at: TestHomeserver.url().absoluteString)
        #expect(server.supportsPassword)
        let account = try await accounts.signIn(
            to: server, with: .password(name: name, AccountCredential("password")), again: again)
        try await accounts.storeCredential(of: account.id, in: place)
        try await accounts.activate(account.id)
        return account.id
    }

    /// Waits until a message is displayed that the server has.
    private static func waitForMessage(_ text: String, in room: RoomID, _ backend: MatrixBackend) async {
        for await update in backend.timeline(of: room, limit: 50) {
            let messages: [Message] =
                switch update {
                case .opened(let page, _, _): page.messages
                case .changed(let messages): messages
                default: []
                }
            if messages.contains(where: { $0.text == text && $0.delivery == .sent }) { return }
        }
    }

    /// Returns a new room of both users.
    private static func room(of bob: MatrixUser, with backend: MatrixBackend, _ user: String) async throws -> RoomID {
        let room = try await bob.backend.createRoom(RoomRequest(name: "Talk", isEncrypted: false))
        try await bob.backend.invite(user, to: room)
        _ = try await backend.join(room.rawValue)
        try await bob.waitForRoom(room)
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        return room
    }

    private static func wait(
        _ accounts: MatrixAccounts, for account: String, _ condition: @escaping (AccountCondition) -> Bool
    ) async throws {
        for await states in accounts.accountStates() {
            if let state = states.first(where: { $0.id == account }), condition(state.condition) { return }
        }
        throw CancellationError()
    }

    @Test func accountIsRestoredAfterRestart() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        var (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        let room = try await #require(accounts.backend(of: ann)).createRoom(named: "Kept")
        #expect(try await list.accounts().map(\.id) == [ann])
        // Signing in to the same account again fails.
        await #expect(throws: SignInProblem.alreadyHere) { _ = try await Self.signIn(name, to: accounts) }
        await accounts.close()
        await list.close()

        // As a program does whose window is not drawn yet.
        (accounts, list) = try await home.start(connects: false)
        let again = try await #require(accounts.backend(of: ann))
        for await rooms in again.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        try await Self.wait(accounts, for: ann) { $0 == .connecting }
        await accounts.connect()
        try await Self.wait(accounts, for: ann) { $0 == .online }
        await accounts.connect()
        try await Self.wait(accounts, for: ann) { $0 == .online }
        // The other credential encrypts the keys of the account's device.
        #expect(await home.keyring.credentials.count == (RatchetLibrary.version == nil ? 1 : 2))
        await accounts.close()
        await list.close()
    }

    /// A process that ends to start again must be able to go on without the user, and to lose nothing.
    @Test func restartNeedsReadableCredentialsAndNothingUnsent() async throws {
        let home = Home()
        let (accounts, list) = try await home.start()
        #expect(await accounts.mayRestart(), "without accounts, nothing is lost")
        let ann = try await Self.signIn(try await Self.register("ann"), to: accounts)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        #expect(await accounts.mayRestart())
        for failure in [CredentialStoreError.locked, .unavailable(reason: "none")] {
            await home.keyring.fail(with: failure)
            #expect(await !accounts.mayRestart(), "\(failure)")
        }
        await home.keyring.fail(with: nil)
        let backend = try await #require(accounts.backend(of: ann))
        let bob = try await MatrixUser.make("bob", sliding: true)
        let room = try await Self.room(of: bob, with: backend, ann)
        // The server rejects what members send, so that it stays queued.
        _ = try await bob.backend.client.call(
            .put, ["client", "v3", "rooms", room.rawValue, "state", "m.room.power_levels", ""],
            body: ["events_default": 50])
        try await backend.send(WrittenMessage("Later"), as: TransactionID("t1"), to: room)
        #expect(await !accounts.mayRestart())
        for await items in backend.outbox.items(in: room) {
            if case .failed = items.first?.state { break }
        }
        #expect(await !accounts.mayRestart())
        await bob.close()
        await accounts.close()
        await list.close()
    }

    @Test(arguments: [CredentialLocation.memory, .file])
    func restartNeedsAStoredCredential(place: CredentialLocation) async throws {
        let home = Home()
        let (accounts, list) = try await home.start()
        let ann = try await Self.signIn(try await Self.register("ann"), to: accounts, place: place)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        #expect(await accounts.mayRestart() == (place == .file))
        await accounts.close()
        await list.close()
    }

    /// Otherwise what arrives before a start does not notify.
    @Test(arguments: [true, false])
    func messagesThatArriveDuringARestartNotify(isRestart: Bool) async throws {
        let home = Home()
        var (accounts, list) = try await home.start()
        let ann = try await Self.signIn(try await Self.register("ann"), to: accounts)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let bob = try await MatrixUser.make("bob", sliding: true)
        let room = try await Self.room(of: bob, with: backend, ann)
        await accounts.close()
        await list.close()

        try await bob.say("Meanwhile", in: room)
        (accounts, list) = try await home.start(connects: false, isRestart: isRestart)
        let arrivals = try await #require(accounts.backend(of: ann)).arrivals()
        await accounts.connect()
        try await Self.wait(accounts, for: ann) { $0 == .online }
        try await bob.say("Later", in: room)
        var texts: [String] = []
        for await arrival in arrivals {
            texts.append(arrival.message.text)
            if texts.last == "Later" { break }
        }
        #expect(texts == (isRestart ? ["Meanwhile", "Later"] : ["Later"]))
        await bob.close()
        await accounts.close()
        await list.close()
    }

    /// The account's name follows its profile, changed here, by another client, or while offline.
    @Test func accountNameFollowsTheProfile() async throws {
        let home = Home()
        var (accounts, list) = try await home.start()
        let ann = try await Self.signIn(try await Self.register("ann"), to: accounts)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        func isCalled(_ name: String) async {
            for await states in accounts.accountStates() where states.first?.account.name == name { return }
        }
        let backend = try await #require(accounts.backend(of: ann))
        let room = try await backend.createRoom(named: "Kept")
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        try await backend.setDisplayName("Anna")
        await isCalled("Anna")
        try await backend.client.setDisplayName("Annabel", of: MemberID(ann))
        await isCalled("Annabel")
        // A display name in a single room does not change it.
        _ = try await backend.client.call(
            .put, ["client", "v3", "rooms", room.rawValue, "state", "m.room.member", ann],
            body: ["membership": "join", "displayname": "Bella"])
        while try await backend.store.member(MemberID(ann), of: room)?.displayName != "Bella" {
            try await Task.sleep(for: .milliseconds(20))
        }
        try await backend.client.setDisplayName("Anne", of: MemberID(ann))
        await isCalled("Anne")
        let client = MatrixClient(
            server: try TestHomeserver.url(), token: backend.client.token, transport: CurlTransport())
        await accounts.close()
        await list.close()

        try await client.setDisplayName("Hanna", of: MemberID(ann))
        (accounts, list) = try await home.start()
        await isCalled("Hanna")
        await accounts.close()
        #expect(try await list.accounts().map(\.name) == ["Hanna"])
        await list.close()
    }

    /// A locked keyring is not a sign-out: history is readable, messages are queued, and Retry reconnects.
    @Test func lockedKeyringKeepsLocalDataAvailable() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        var (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts)
        let room = try await #require(accounts.backend(of: ann)).createRoom(named: "Kept")
        await accounts.close()
        await list.close()

        await home.keyring.fail(with: .locked)
        (accounts, list) = try await home.start()
        try await Self.wait(accounts, for: ann) { $0 == .locked(.locked) }
        let backend = try await #require(accounts.backend(of: ann))
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        try await backend.send(WrittenMessage("Later"), as: TransactionID("t1"), to: room)
        #expect(try await accounts.pendingCount(of: ann) == PendingCount(messages: 1))

        await home.keyring.fail(with: nil)
        await accounts.retry(ann)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        for await update in backend.timeline(of: room, limit: 50) {
            let received: [Message] =
                switch update {
                case .opened(let page, _, _): page.messages
                case .changed(let messages): messages
                default: []
                }
            if received.contains(where: {
                $0.transactionID == TransactionID("t1") && LocalEchoes.transaction(of: $0.id) == nil
            }) {
                break
            }
        }
        await accounts.close()
        await list.close()
    }

    /// An account whose session was ended by the server stays listed until the user signs in again.
    @Test func endedSessionCanSignInAgain() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts, place: .memory)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let room = try await backend.createRoom(named: "Kept")
        try await backend.client.logOut()
        try await Self.wait(accounts, for: ann) { $0.needsSignIn }
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }

        let other = try await Self.register("eve")
        await #expect(throws: SignInProblem.otherUser) { _ = try await Self.signIn(other, to: accounts, again: ann) }
        let former = try #require(try await list.accounts().first?.device)
        #expect(await accounts.reusableDevice(of: ann) == (RatchetLibrary.version == nil ? former : nil))
        #expect(try await Self.signIn(name, to: accounts, again: ann) == ann)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        if RatchetLibrary.version != nil { #expect(try await list.accounts().map(\.device) != [former]) }
        await accounts.close()
        await list.close()
    }

    /// The devices whose keys the server has.
    private static func publishedDevices(of user: String, _ client: MatrixClient) async throws -> Set<String> {
        let response = try await client.call(
            .post, ["client", "v3", "keys", "query"], body: ["device_keys": .object([user: []])])
        return Set((response["device_keys"]?[user]?.object ?? [:]).keys)
    }

    private static func waitForKeys(of device: String, _ user: String, _ client: MatrixClient) async throws {
        while try await !publishedDevices(of: user, client).contains(device) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("Canceling to sign in again after a soft logout keeps the device and its keys on the server")
    func cancelingToSignInAgain() async throws {
        guard RatchetLibrary.version != nil else { return }
        let home = Home()
        let name = try await Self.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let device = try #require(try await list.accounts().first?.device)
        try await Self.waitForKeys(of: device, ann, backend.client)
        var request = MatrixRequest(.post, try TestHomeserver.url().appending(path: "_parlance/expire"))
        request.body = .json(Data(#"{"user":"\#(ann)"}"#.utf8))
        #expect(try await backend.client.transport.send(request).status == 200)
        await accounts.reconnect()
        try await Self.wait(accounts, for: ann) { $0 == .signedOut(isSoft: true) }

        let server = try await accounts.server(at: TestHomeserver.url().absoluteString)
        let pending = try await accounts.signIn(
            to: server, with: .password(name: name, AccountCredential("password")), again: ann)
        #expect(pending.device == device)
        let client = MatrixClient(
            server: server.url, token: try #require(await accounts.pending[ann]?.token), transport: CurlTransport())
        await accounts.abandon(ann)
        #expect(try await Self.publishedDevices(of: ann, client) == [device])

        // Another client ends the session: the device is deleted, and comes back by the next sign-in.
        try await client.logOut()
        #expect(try await Self.signIn(name, to: accounts, again: ann) == ann)
        #expect(try await list.accounts().map(\.device) == [device])
        try await Self.wait(accounts, for: ann) { $0 == .online }
        try await Self.waitForKeys(of: device, ann, backend.client)
        await accounts.close()
        await list.close()
    }

    /// Soft logout: all local data stays, messages are queued meanwhile, and the device ID is kept.
    @Test func softLogoutKeepsLocalData() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let room = try await backend.createRoom(RoomRequest(name: "Kept", isEncrypted: false))
        let device = try #require(try await list.accounts().first?.device)
        var request = MatrixRequest(.post, try TestHomeserver.url().appending(path: "_parlance/expire"))
        request.body = .json(Data(#"{"user":"\#(ann)"}"#.utf8))
        #expect(try await backend.client.transport.send(request).status == 200)
        // The pending long poll was authorized before the token expired.
        await accounts.reconnect()
        try await Self.wait(accounts, for: ann) { $0 == .signedOut(isSoft: true) }

        try await backend.send(WrittenMessage("Meanwhile"), as: TransactionID("t1"), to: room)
        try await backend.saveDraft(Fixtures.draft("half a thought"), in: room)
        #expect(try await accounts.pendingCount(of: ann) == PendingCount(messages: 1, drafts: 1))
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        #expect(try await Self.signIn(name, to: accounts, again: ann) == ann)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        for await items in backend.outbox.items(in: room) where items.isEmpty { break }
        let sent = try await backend.client.history(of: room, before: nil, limit: 5).events
        #expect(sent.first?.content["body"]?.string == "Meanwhile")
        #expect(try await backend.draft(in: room) == Fixtures.draft("half a thought"))
        #expect(try await list.accounts().map(\.device) == [device])
        await accounts.close()
        await list.close()
    }

    /// An account whose credential could not be stored requires the password, whatever the keyring contains.
    @Test func unstoredCredentialIsRequestedAtTheNextLaunch() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        await home.keyring.fail(with: .unavailable(reason: "none"))
        var (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts, place: .memory)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        await accounts.close()
        await list.close()
        (accounts, list) = try await home.start()
        try await Self.wait(accounts, for: ann) { $0 == .signedOut(isSoft: true) }
        await accounts.close()
        await list.close()
    }

    @Test func signingOutRemovesEverything() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts)
        try await Self.wait(accounts, for: ann) { $0 == .online }
        let client = try await #require(accounts.backend(of: ann)).client
        try await accounts.signOut(ann, isForced: false)
        #expect(try await list.accounts().isEmpty)
        #expect(await home.keyring.credentials.isEmpty)
        let left = try FileManager.default.contentsOfDirectory(atPath: home.folder.path("accounts").path)
        #expect(left.isEmpty)
        // As after a kill in the middle of it.
        let remains = home.folder.path("accounts").appending(path: "1-removed/store")
        try FileManager.default.createDirectory(at: remains, withIntermediateDirectories: true)
        await #expect(throws: MatrixError.signedOut(isSoft: false)) { _ = try await client.whoAmI() }
        await accounts.close()
        await list.close()
        let (again, otherList) = try await home.start()
        while FileManager.default.fileExists(atPath: remains.path) { try await Task.sleep(for: .milliseconds(20)) }
        await again.close()
        await otherList.close()
    }

    @Test("Signing out before the keyring was read ends the session on the server, and fails if the keyring is locked")
    func signingOutWithoutAToken() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        var (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts)
        let client = try await #require(accounts.backend(of: ann)).client
        let kept = MatrixClient(server: client.server, token: client.token, transport: CurlTransport())
        await accounts.close()
        await list.close()

        (accounts, list) = try await home.start(connects: false)
        await home.keyring.fail(with: .locked)
        await #expect(throws: SignInProblem.credential(.locked)) { try await accounts.signOut(ann, isForced: false) }
        #expect(try await list.accounts().map(\.id) == [ann])
        _ = try await kept.whoAmI()
        await home.keyring.fail(with: nil)
        try await accounts.signOut(ann, isForced: false)
        #expect(try await list.accounts().isEmpty)
        await #expect(throws: MatrixError.signedOut(isSoft: false)) { _ = try await kept.whoAmI() }
        await accounts.close()
        await list.close()
    }

    @Test("An account whose history is damaged opens again, with its drafts, its queue and its keys")
    func damagedAccountIsRepaired() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        var (accounts, list) = try await home.start()
        let ann = try await Self.signIn(name, to: accounts)
        var backend = try await #require(accounts.backend(of: ann))
        let room = try await backend.createRoom(RoomRequest(name: "Kept", isEncrypted: true))
        try await backend.send(WrittenMessage("Hello"), as: TransactionID("t1"), to: room)
        await Self.waitForMessage("Hello", in: room, backend)
        try await backend.saveDraft(SavedDraft(data: Data("draft".utf8), preview: "draft"), in: room)
        await accounts.close()
        await list.close()

        let history = AccountFolders(root: home.folder.path("accounts")).store(of: ann).appending(path: "chat.sqlite")
        let file = try FileHandle(forWritingTo: history)
        // The page of the schema, without which no row is found by its table.
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        (accounts, list) = try await home.start()
        try await Self.wait(accounts, for: ann) { $0 == .online }
        backend = try await #require(accounts.backend(of: ann))
        await Self.waitForMessage("Hello", in: room, backend)
        #expect(try await backend.draft(in: room)?.preview == "draft")
        await accounts.close()
        await list.close()
    }

    @Test func signInProblemsAreReported() async throws {
        let home = Home()
        let (accounts, list) = try await home.start()
        await #expect(throws: SignInProblem.notAnAddress) { _ = try await accounts.server(at: "not an address") }
        await #expect(throws: SignInProblem.notAnAddress) { _ = try await accounts.server(at: "http://example.org") }
        let server = try await accounts.server(at: TestHomeserver.url().absoluteString)
        await #expect(throws: SignInProblem.wrongPassword) {
            _ = try await accounts.signIn(
                to: server, with: .password(name: "nobody", AccountCredential("x")), again: nil)
        }
        await #expect(throws: SignInProblem.wrongToken) {
            _ = try await accounts.signIn(to: server, with: .accessToken(AccountCredential("syt_none")), again: nil)
        }
        await accounts.close()
        await list.close()
    }

    /// Abandoning a session ends it on the server only if it was opened here.
    @Test func abandoningEndsOnlyTheNewSession() async throws {
        let home = Home()
        let name = try await Self.register("ann")
        let (accounts, list) = try await home.start()
        let server = try await accounts.server(at: TestHomeserver.url().absoluteString)
        let client = MatrixClient(server: server.url, transport: CurlTransport())
        let session = try await client.logIn(name: name, password: "password", deviceName: "Other")
        let account = try await accounts.signIn(
            to: server, with: .accessToken(AccountCredential(session.token.value)), again: nil)
        #expect(account.id == session.user.rawValue && account.device == session.device)
        try await accounts.storeCredential(of: account.id, in: .file)
        #expect(await home.keyring.credentials.isEmpty)
        await accounts.abandon(account.id)
        #expect(try await client.with(token: session.token).whoAmI().user == session.user)

        _ = try await accounts.signIn(
            to: server, with: .password(name: name, AccountCredential("password")), again: nil)
        let token = try #require(await accounts.pending[account.id]?.token)
        await accounts.abandon(account.id)
        await #expect(throws: MatrixError.signedOut(isSoft: false)) {
            _ = try await client.with(token: token).whoAmI()
        }
        #expect(try await list.accounts().isEmpty)
        await accounts.close()
        await list.close()
    }
}
