import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing

@testable import MatrixBackend

/// Accounts on a real homeserver: restarts, the keyring, the profile and damage.
@Suite(.timeLimit(.minutes(10)))
struct AccountTests {
    @Test func accountIsRestoredAfterRestart() async throws {
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        var (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let room = try await #require(accounts.backend(of: ann)).createRoom(named: "Kept")
        #expect(try await list.accounts().map(\.id) == [ann])
        // Signing in to the same account again fails.
        await #expect(throws: SignInProblem.alreadyHere) { _ = try await AccountHome.signIn(name, to: accounts) }
        await accounts.close()
        await list.close()

        // As a program does whose window is not drawn yet.
        (accounts, list) = try await home.start(connects: false)
        let again = try await #require(accounts.backend(of: ann))
        for await rooms in again.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        try await AccountHome.wait(accounts, for: ann) { $0 == .connecting }
        await accounts.connect()
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        await accounts.connect()
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        // The other credential encrypts the keys of the account's device.
        #expect(await home.keyring.credentials.count == (RatchetLibrary.version == nil ? 1 : 2))
        await accounts.close()
        await list.close()
    }

    /// A process that ends to start again must be able to go on without the user, and to lose nothing.
    @Test func restartNeedsReadableCredentialsAndNothingUnsent() async throws {
        let home = AccountHome()
        let (accounts, list) = try await home.start()
        #expect(await accounts.mayRestart(), "without accounts, nothing is lost")
        let ann = try await AccountHome.signIn(try await AccountHome.register("ann"), to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        #expect(await accounts.mayRestart())
        for failure in [CredentialStoreError.locked, .unavailable(reason: "none")] {
            await home.keyring.fail(with: failure)
            #expect(await !accounts.mayRestart(), "\(failure)")
        }
        await home.keyring.fail(with: nil)
        let backend = try await #require(accounts.backend(of: ann))
        let bob = try await MatrixUser.make("bob", sliding: true)
        let room = try await AccountHome.room(of: bob, with: backend, ann)
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
        let home = AccountHome()
        let (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(try await AccountHome.register("ann"), to: accounts, place: place)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        #expect(await accounts.mayRestart() == (place == .file))
        await accounts.close()
        await list.close()
    }

    /// Otherwise what arrives before a start does not notify.
    @Test(arguments: [true, false])
    func messagesThatArriveDuringARestartNotify(isRestart: Bool) async throws {
        let home = AccountHome()
        var (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(try await AccountHome.register("ann"), to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        let backend = try await #require(accounts.backend(of: ann))
        let bob = try await MatrixUser.make("bob", sliding: true)
        let room = try await AccountHome.room(of: bob, with: backend, ann)
        await accounts.close()
        await list.close()

        try await bob.say("Meanwhile", in: room)
        (accounts, list) = try await home.start(connects: false, isRestart: isRestart)
        let arrivals = try await #require(accounts.backend(of: ann)).arrivals()
        await accounts.connect()
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
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
        let home = AccountHome()
        var (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(try await AccountHome.register("ann"), to: accounts)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
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
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        var (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts)
        let room = try await #require(accounts.backend(of: ann)).createRoom(named: "Kept")
        await accounts.close()
        await list.close()

        await home.keyring.fail(with: .locked)
        (accounts, list) = try await home.start()
        try await AccountHome.wait(accounts, for: ann) { $0 == .locked(.locked) }
        let backend = try await #require(accounts.backend(of: ann))
        for await rooms in backend.roomSummaries() where rooms.contains(where: { $0.id == room }) { break }
        try await backend.send(WrittenMessage("Later"), as: TransactionID("t1"), to: room)
        #expect(try await accounts.pendingCount(of: ann) == PendingCount(messages: 1))

        await home.keyring.fail(with: nil)
        await accounts.retry(ann)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
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

    /// An account whose credential could not be stored requires the password, whatever the keyring contains.
    @Test func unstoredCredentialIsRequestedAtTheNextLaunch() async throws {
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        await home.keyring.fail(with: .unavailable(reason: "none"))
        var (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts, place: .memory)
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        await accounts.close()
        await list.close()
        (accounts, list) = try await home.start()
        try await AccountHome.wait(accounts, for: ann) { $0 == .signedOut(isSoft: true) }
        await accounts.close()
        await list.close()
    }

    @Test("An account whose history is damaged opens again, with its drafts, its queue and its keys")
    func damagedAccountIsRepaired() async throws {
        let home = AccountHome()
        let name = try await AccountHome.register("ann")
        var (accounts, list) = try await home.start()
        let ann = try await AccountHome.signIn(name, to: accounts)
        var backend = try await #require(accounts.backend(of: ann))
        let room = try await backend.createRoom(RoomRequest(name: "Kept", isEncrypted: true))
        try await backend.send(WrittenMessage("Hello"), as: TransactionID("t1"), to: room)
        await AccountHome.waitForMessage("Hello", in: room, backend)
        try await backend.saveDraft(SavedDraft(data: Data("draft".utf8), preview: "draft"), in: room)
        await accounts.close()
        await list.close()

        let history = AccountFolders(root: home.folder.path("accounts")).store(of: ann).appending(path: "chat.sqlite")
        let file = try FileHandle(forWritingTo: history)
        // The page of the schema, without which no row is found by its table.
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        (accounts, list) = try await home.start()
        try await AccountHome.wait(accounts, for: ann) { $0 == .online }
        backend = try await #require(accounts.backend(of: ann))
        await AccountHome.waitForMessage("Hello", in: room, backend)
        #expect(try await backend.draft(in: room)?.preview == "draft")
        await accounts.close()
        await list.close()
    }
}
