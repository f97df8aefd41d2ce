import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixBackend
@testable import MatrixCrypto

/// The sessions of accounts on a real homeserver: signing in, signing in again, signing out.
@Suite(.timeLimit(.minutes(10)))
struct AccountSessionTests {
    /// An account whose session was ended by the server stays listed until the user signs in again.
    @Test func endedSessionCanSignInAgain() async throws {
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts, place: .memory)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let room = try await backend.createRoom(named: "Kept")
        try await backend.client.logOut()
        try await AccountHome.wait(accounts, for: ann) { $0.needsSignIn }
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }

        let other = try await AccountHome.register("eve")
        await #expect(throws: SignInProblem.otherUser) {
            _ = try await AccountHome.signIn(other, to: accounts, again: ann)
        }
        let former = try #require(try await list.accounts().first?.device)
        #expect(await accounts.reusableDevice(of: ann) == (RatchetLibrary.version == nil ? former : nil))
        #expect(try await AccountHome.signIn(name, to: accounts, again: ann) == ann)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        if RatchetLibrary.version != nil { #expect(try await list.accounts().map(\.device) != [former]) }
        await accounts.close()
        await list.close()
    }

    /// The public keys of a device, as the server has them.
    private static func publicKeys(
        of device: String, _ user: String, _ client: MatrixClient
    ) async throws -> Set<String> {
        let response = try await client.call(
            .post, ["client", "v3", "keys", "query"], body: ["device_keys": .object([user: []])])
        let keys = response["device_keys"]?[user]?[device]?["keys"]?.object ?? [:]
        return Set(keys.values.compactMap(\.string))
    }

    /// Waits until the user's identity has confirmed this device, and another user knows that.
    private static func waitForConfirmation(
        of device: String, _ backend: MatrixBackend, for other: MatrixUser
    ) async throws {
        for await status in backend.encryptionStatuses() where status.identity == .confirmed { break }
        let machine = try #require(await other.backend.keys.machine)
        let user = ExactText(backend.ownUserID.rawValue)
        while true {
            let known = try await machine.storedDevices(of: [user])[user]?.devices
                .first { $0.device == ExactText(device) }
            if known?.confirmedBy != nil { return }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test(
        "After its session was ended, an account has another device, which reads what the former one has read and sent",
        .enabled(if: EncryptionSetting.isOn))
    func endedSessionKeepsRoomKeys() async throws {
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let former = try #require(try await list.accounts().first?.device)
        _ = try await backend.createIdentity(password: "password")
        for await status in backend.encryptionStatuses() where status.identity == .confirmed { break }
        let (bob, _) = try await RoomKeyTests.person("bob", sliding: true)
        try await RoomKeyTests.untilPublished(bob)
        let room = try await bob.backend.createRoom(RoomRequest(name: "Cellar", isEncrypted: true))
        try await bob.waitForRoom(room)
        try await bob.untilEncrypted(room)
        try await bob.backend.invite(ann, to: room)
        _ = try await backend.join(room.rawValue)
        try await bob.untilJoined(MemberID(ann), in: room)
        let theirs = try await bob.say("Theirs", in: room).id
        await AccountHome.waitForMessage("Theirs", in: room, backend)
        try await backend.send(WrittenMessage("Mine"), as: TransactionID("mine"), to: room)
        let own = try #require(try await bob.messages(in: room) { $0.last?.text == "Mine" }.last).id
        let keys = try await Self.publicKeys(of: former, ann, bob.client)

        try await backend.client.logOut()
        try await AccountHome.wait(accounts, for: ann) { $0 == .signedOut(isSoft: false) }
        #expect(try await AccountHome.signIn(name, to: accounts, again: ann) == ann)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let device = try #require(try await list.accounts().first?.device)
        #expect(device != former)
        try await Self.waitForConfirmation(of: device, backend, for: bob)
        let newKeys = try await Self.publicKeys(of: device, ann, bob.client)
        #expect(keys.count == 2 && newKeys.count == 2 && keys.isDisjoint(with: newKeys))

        // Once more from the server, as after the history was lost.
        let machine = try #require(await backend.keys.machine)
        #expect(machine.device == ExactText(device))
        for (id, text) in [(theirs, "Theirs"), (own, "Mine")] {
            let raw = try #require(try await backend.client.event(id, in: room))
            let event = SealedEvent(
                room: ExactText(room.rawValue), event: ExactText(id.rawValue), sender: ExactText(raw.sender.rawValue),
                content: raw.content)
            let payload = try #require(try await machine.read([event]).first).get()
            #expect(payload.content["body"]?.string == text && payload.trust == nil)
        }
        try await bob.say("After that", in: room)
        await AccountHome.waitForMessage("After that", in: room, backend)
        try await backend.send(WrittenMessage("Here again"), as: TransactionID("again"), to: room)
        try await bob.messages(in: room) { $0.last?.text == "Here again" }
        let texts = try await backend.messages(in: room, before: .max, limit: 50).messages.map(\.text)
        #expect(["Theirs", "Mine", "After that"].allSatisfy { texts.contains($0) })
        await bob.close()
        await accounts.close()
        await list.close()
    }

    @Test("Canceling to sign in again after a soft logout keeps the device and its keys on the server")
    func cancelingToSignInAgain() async throws {
        guard RatchetLibrary.version != nil else { return }
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let device = try #require(try await list.accounts().first?.device)
        try await AccountHome.waitForKeys(of: device, ann, backend.client)
        var request = MatrixRequest(.post, try TestHomeserver.url().appending(path: "_parlance/expire"))
        request.body = .json(Data(#"{"user":"\#(ann)"}"#.utf8))
        #expect(try await backend.client.transport.send(request).status == 200)
        await accounts.reconnect()
        try await AccountHome.wait(accounts, for: ann) { $0 == .signedOut(isSoft: true) }

        let server = try await accounts.server(at: TestHomeserver.url().absoluteString)
        let pending = try await accounts.signIn(
            to: server, with: .password(name: name, AccountCredential("password")), again: ann)
        #expect(pending.device == device)
        let client = MatrixClient(
            server: server.url, token: try #require(await accounts.pending[ann]?.token), transport: CurlTransport())
        await accounts.abandon(ann)
        #expect(try await AccountHome.publishedDevices(of: ann, client) == [device])

        // Another client ends the session: the device is deleted, and comes back by the next sign-in.
        try await client.logOut()
        #expect(try await AccountHome.signIn(name, to: accounts, again: ann) == ann)
        #expect(try await list.accounts().map(\.device) == [device])
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        try await AccountHome.waitForKeys(of: device, ann, backend.client)
        await accounts.close()
        await list.close()
    }

    /// Soft logout: all local data stays, messages are queued meanwhile, and the device ID is kept.
    @Test func softLogoutKeepsLocalData() async throws {
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let room = try await backend.createRoom(RoomRequest(name: "Kept", isEncrypted: false))
        let device = try #require(try await list.accounts().first?.device)
        var request = MatrixRequest(.post, try TestHomeserver.url().appending(path: "_parlance/expire"))
        request.body = .json(Data(#"{"user":"\#(ann)"}"#.utf8))
        #expect(try await backend.client.transport.send(request).status == 200)
        // The pending long poll was authorized before the token expired.
        await accounts.reconnect()
        try await AccountHome.wait(accounts, for: ann) { $0 == .signedOut(isSoft: true) }

        try await backend.send(WrittenMessage("Meanwhile"), as: TransactionID("t1"), to: room)
        try await backend.saveDraft(Fixtures.draft("half a thought"), in: room)
        #expect(try await accounts.pendingCount(of: ann) == PendingCount(messages: 1, drafts: 1))
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        if RatchetLibrary.version != nil {
            // Another program's session would take the place of this device and its keys.
            let server = try await accounts.server(at: TestHomeserver.url().absoluteString)
            let client = MatrixClient(server: server.url, transport: CurlTransport())
            let session = try await client.logIn(name: name, password: "password", deviceName: "Other")
            await #expect(throws: SignInProblem.otherDevice) {
                _ = try await accounts.signIn(
                    to: server, with: .accessToken(AccountCredential(session.token.value)), again: ann)
            }
            #expect(try await client.with(token: session.token).whoAmI().user == session.user)
        }
        #expect(try await AccountHome.signIn(name, to: accounts, again: ann) == ann)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        for await items in backend.outbox.items(in: room) where items.isEmpty { break }
        let sent = try await backend.client.history(of: room, before: nil, limit: 5).events
        #expect(sent.first?.content["body"]?.string == "Meanwhile")
        #expect(try await backend.draft(in: room) == Fixtures.draft("half a thought"))
        #expect(try await list.accounts().map(\.device) == [device])
        await accounts.close()
        await list.close()
    }

    @Test func signingOutRemovesEverything() async throws {
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        let (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
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
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        var (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts)
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

    @Test("Before a sign-out, a recovery key that is not saved counts as lost", .enabled(if: EncryptionSetting.isOn))
    func signingOutWithAnUnsavedRecoveryKey() async throws {
        let home = AccountHome()
        let (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(try await AccountHome.register("ann"), to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        _ = try await backend.createIdentity(password: "password")
        for await status in backend.encryptionStatuses() where status.recovery == .unsaved { break }
        #expect(try await accounts.pendingCount(of: ann) == PendingCount(recovery: .unsaved))
        try await backend.confirmRecoveryKey()
        for await status in backend.encryptionStatuses() where status.recovery == .ready { break }
        #expect(try await accounts.pendingCount(of: ann) == PendingCount())
        await accounts.close()
        await list.close()
    }

    @Test func signInProblemsAreReported() async throws {
        let home = AccountHome()
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
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
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
