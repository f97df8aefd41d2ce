import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct EndObstacleTests {
    private let chats = FakeChatService()
    /// Only the limit runs on it.
    private let clock = ManualClock()
    private let work = OngoingWork()
    private let room = RoomID("plans")

    private func start() async -> AccountsCoordinator {
        let coordinator = ConversationCoordinator(
            ConversationEnvironment(service: chats, time: Timekeeper(ManualClock()), ongoingWork: work))
        let accounts = AccountsCoordinator(local: coordinator, time: Timekeeper(clock))
        coordinator.start(opening: nil)
        chats.publish([.of(room.rawValue, at: Fixtures.date)])
        await eventually { coordinator.rooms.state.isLoaded }
        coordinator.rooms.send(.select(room))
        await eventually { coordinator.conversation?.composer.state.isReady == true }
        return accounts
    }

    @Test("A draft that cannot be stored prevents a restart, and asks before the program ends.")
    func unstoredDraft() async {
        let accounts = await start()
        chats.before = { if case .saveDraft = $0 { throw ChatError.storage(reason: "full") } }
        accounts.local.conversation?.composer.handle(.insert("half", origin: .paste))
        #expect(await accounts.obstacleToEnding(within: .seconds(5)) == .drafts)
        accounts.detachWindow()
        #expect(await !accounts.mayRestart(losingUndo: true))
        chats.before = { _ in }
        #expect(await accounts.obstacleToEnding(within: .seconds(5)) == nil)
        #expect(chats.drafts[room]?.preview == "half")
        #expect(await accounts.mayRestart(losingUndo: true))
    }

    @Test("A forward under way prevents a restart, and the end of the program waits for it.")
    func forwardUnderWay() async {
        let accounts = await start()
        chats.known = { [room] in $0 == MessageID("m1") ? Fixtures.message(1, in: room.rawValue) : nil }
        let gate = Gate()
        chats.before = { if case .send = $0 { await gate.pass() } }
        let forwarder = accounts.local.forwarder(from: room, reportingTo: accounts.local.requests)
        forwarder.forward([MessageID("m1")], to: room)
        await eventually { gate.waiting == 1 }
        accounts.detachWindow()
        #expect(await !accounts.mayRestart(losingUndo: true))
        let ending = Task { await accounts.obstacleToEnding(within: .seconds(5)) }
        await clock.waitForSleepers()
        gate.open()
        #expect(await ending.value == nil)
        #expect(await accounts.mayRestart(losingUndo: true))
    }

    @Test("Work that takes longer than the limit is asked about.")
    func longWork() async {
        let accounts = await start()
        let gate = Gate()
        let copying = Task { await work.run { await gate.pass() } }
        await eventually { gate.waiting == 1 }
        let ending = Task { await accounts.obstacleToEnding(within: .seconds(5)) }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(await ending.value == .work)
        gate.open()
        await copying.value
        #expect(work.isEmpty)
        #expect(await accounts.obstacleToEnding(within: .seconds(5)) == nil)
    }

    @Test("Who does not wait for work is told of it at once, and the drafts are stored all the same.")
    func hurriedEnd() async {
        let accounts = await start()
        accounts.local.conversation?.composer.handle(.insert("half", origin: .paste))
        let gate = Gate()
        let copying = Task { await work.run { await gate.pass() } }
        await eventually { gate.waiting == 1 }
        #expect(await accounts.obstacleToEnding(within: .seconds(5), waitsForWork: false) == .work)
        #expect(chats.drafts[room]?.preview == "half")
        gate.open()
        await copying.value
        #expect(await accounts.obstacleToEnding(within: .seconds(5), waitsForWork: false) == nil)
    }

    @Test("An export of keys is asked about, and a toast of the account says how it ended without the preferences.")
    func keyExport() async throws {
        let (service, encryption, gate) = (FakeAccountService(), FakeEncryptionService(), Gate())
        encryption.hold("exportKeys", at: gate)
        let account = Account(
            id: "@ann:example.org", kind: "matrix", server: "https://example.org", device: "D", name: "Ann")
        let accounts = AccountsCoordinator(
            local: ConversationCoordinator(service: chats), service: service, time: Timekeeper(clock)
        ) { [work] _, session in
            ConversationCoordinator(
                ConversationEnvironment(
                    service: FakeChatService(), session: session, encryption: encryption, ongoingWork: work))
        }
        accounts.start(showing: AccountsCoordinator.localID)
        service.publish([AccountState(account: account, condition: .online)])
        await eventually { accounts.coordinatorIDs.count == 2 }
        // This computer's is displayed, not the account's.
        let requests = accounts.conversations.requests
        let preferences = try #require(accounts.encryptionPreferences().first)
        preferences.send(.exportKeys(URL(filePath: "/tmp/keys.txt"), passphrase: AccountCredential("tea")))
        await eventually { gate.waiting == 1 }
        #expect(await accounts.obstacleToEnding(within: .seconds(5), waitsForWork: false) == .work)
        preferences.abandon()
        gate.open()
        await eventually { requests.state.pending.map(\.request) == [.show(.message("3 keys exported"))] }
        #expect(await accounts.obstacleToEnding(within: .seconds(5), waitsForWork: false) == nil)
    }

    @Test("Saving a file counts until it has ended, also in a failure.")
    func savingIsCounted() async {
        let media = MediaReference(uri: "a", name: "a.bin", type: "application/octet-stream")
        await #expect(throws: ChatError.notFound) {
            try await chats.save(media, to: URL(filePath: "/nonexistent/a"), countedBy: work)
        }
        #expect(work.isEmpty)
    }
}
