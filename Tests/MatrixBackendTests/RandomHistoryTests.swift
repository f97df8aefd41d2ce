import ChatCore
import ChatOutbox
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import MatrixCrypto
import Testing
import ToolSupport

@testable import ChatStore
@testable import MatrixBackend

/// Random histories of an encrypted room, against a server that records all requests: no text, name or file is sent
/// unencrypted, nothing is lost, and nothing is sent twice.
@Suite(.enabled(if: EncryptionSetting.isOn), .serialized, .timeLimit(.minutes(5))) struct RandomHistoryTests {
    /// The number of histories per test case. A few of them run in parallel.
    private static let batch = 30
    private static let width = 4

    /// Batches for `PARLANCE_HISTORIES` histories, starting with number `PARLANCE_FIRST_HISTORY`; the first batch by
    /// default, as in `make test`.
    static var batches: Range<Int> {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["PARLANCE_HISTORIES"].flatMap { Int($0) } ?? batch
        let first = (environment["PARLANCE_FIRST_HISTORY"].flatMap { Int($0) } ?? 0) / batch
        return first..<first + max(1, (count + batch - 1) / batch)
    }

    @Test("In random histories, no text or file name is sent unencrypted", arguments: batches)
    func randomHistories(_ number: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<Self.batch {
                if index >= Self.width { try await group.next() }
                group.addTask {
                    let history = History(seed: UInt64(number * Self.batch + index))
                    try await history.run()
                }
            }
            try await group.waitForAll()
        }
    }
}

private final class History {
    private static let marker = "GEHEIM"
    private static let clearRoom = RoomID("!clear:example.org")
    private static let clearState = EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" }
    private static let encryption = Events.event(
        "$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: "")

    private let seed: UInt64
    private var random: SeededGenerator
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let server = RecordingHomeserver()
    private var written = 0
    private var room: RoomID { EncryptedAccount.room }

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed)
    }

    private func start() async throws -> EncryptedAccount {
        let account = try await EncryptedAccount.start(in: folder, credentials, clock: HastyClock()) {
            [server] in server.answer($0)
        }
        return account
    }

    /// Makes the server add a room that is never encrypted.
    private func showClearRoom(_ account: EncryptedAccount) async throws {
        account.server.sync([
            "next_batch": "clear",
            "rooms": ["join": [Self.clearRoom.rawValue: ["timeline": ["events": .array(Self.clearState)]]]],
        ])
        try await account.server.waitUntilConsumed()
    }

    func run() async throws {
        var account = try await start()
        try await account.sync(Self.clearState)
        try await showClearRoom(account)
        try await becomeEncrypted(account)
        for step in 0..<8 { account = try await next(step, account) }
        server.fail([])
        await account.backend.sendingEnds(in: room)
        expectNothingInTheClear()
        await account.close()
    }

    /// Messages sent before are unencrypted; messages still queued when encryption is turned on are encrypted.
    private func becomeEncrypted(_ account: EncryptedAccount) async throws {
        for _ in 0..<number(0...2) {
            written += 1
            try await account.backend.send(Fixtures.outgoing("clear", transaction: "c\(written)"), to: room)
        }
        await account.backend.sendingEnds(in: room)
        await account.backend.outbox.setOnline(false)
        for _ in 0..<number(0...3) { try await write(account) }
        if Bool.random(using: &random) {
            try await account.sync([Self.encryption])
        } else {
            try await account.backend.enableEncryption(in: room)
        }
        server.seal()
        await account.backend.outbox.setOnline(true)
    }

    private func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

    private func next(_ step: Int, _ account: EncryptedAccount) async throws -> EncryptedAccount {
        let backend = account.backend
        switch number(0...13) {
        case 0...2: try await write(account)
        case 3:
            // Fails if the message is not stored yet, or no longer.
            guard let last = try await lastOwn(account) else { break }
            try? await backend.edit(last.id, in: room, to: WrittenText("\(Self.marker) edited \(step)"))
        case 4: try await account.sync(server.events)
        case 5:
            try await account.sync([], ["timeline": ["events": [], "limited": true, "prev_batch": "p"]])
        case 6:
            server.fail((0..<number(1...3)).map { _ in Bool.random(using: &random) ? .lost : .unanswered })
        case 7:
            try await account.sync([
                Events.event("$x\(step)", "m.room.encryption", ["algorithm": "m.none"], stateKey: ""),
                Events.member("@ann:example.org", "Ann", step.isMultiple(of: 2) ? "leave" : "join"),
            ])
        case 8: try await forward(account)
        case 9:
            guard let last = try await lastOwn(account) else { break }
            // May fail for the same reason.
            try? await backend.react("👍", isAdded: Bool.random(using: &random), to: last.id, in: room)
            if number(0...3) == 0 { try? await backend.delete(last.id, in: room) }
        case 10:
            #expect(try await backend.linkPreview(of: "https://\(Self.marker).example", in: room) == nil)
        case 11: try await leave(account)
        case 12: return try await restarted(account, losingHistory: true)
        default: return try await restarted(account)
        }
        return account
    }

    private func lastOwn(_ account: EncryptedAccount) async throws -> Message? {
        try await account.messages.last { $0.sender == EncryptedAccount.user && !$0.isDeleted }
    }

    private func write(_ account: EncryptedAccount) async throws {
        written += 1
        var files: [MediaReference] = []
        if Bool.random(using: &random) {
            let data = Data(String(repeating: "\(Self.marker)\(written)", count: 50).utf8)
            files = [
                try await account.backend.storeMedia(
                    .data(data), named: "\(Self.marker) \(written).txt", type: "text/plain", progress: { _ in })
            ]
        }
        let message = WrittenMessage("\(Self.marker) \(written)", files: files)
        try await account.backend.send(message, as: TransactionID("w\(written)"), to: room)
    }

    /// Forwards an encrypted file into the room and, which must fail, into the unencrypted one.
    private func forward(_ account: EncryptedAccount) async throws {
        let file = try await account.messages.flatMap(\.attachments).last { $0.isEncrypted }
        // The server serves no downloads, and a lost history has lost the index of the cache.
        guard let file, await account.backend.cachedContent(of: file) != nil else { return }
        let copy = WrittenMessage(WrittenText("\(Self.marker) again"), files: [file], origin: .forwarded)
        await #expect(throws: ChatError.notPermitted, "seed \(seed)") {
            try await account.backend.send(copy, as: TransactionID("no"), to: Self.clearRoom)
        }
        written += 1
        try await account.backend.send(copy, as: TransactionID("w\(written)"), to: room)
    }

    /// Leaves the room and rejoins it, after which the server does not report the encryption.
    private func leave(_ account: EncryptedAccount) async throws {
        server.fail([])
        await account.backend.sendingEnds(in: room)
        let member = Events.member(EncryptedAccount.user.rawValue, "Me", "leave")
        account.server.sync([
            "next_batch": "left", "rooms": ["leave": [room.rawValue: ["timeline": ["events": [member]]]]],
        ])
        try await account.server.waitUntilConsumed()
        try await account.sync(Self.clearState)
    }

    private func restarted(
        _ account: EncryptedAccount, losingHistory: Bool = false
    ) async throws -> EncryptedAccount {
        if losingHistory {
            server.fail([])
            await account.backend.sendingEnds(in: room)
        }
        await account.close()
        if losingHistory { try await loseHistory() }
        let next = try await start()
        try await next.sync(losingHistory ? Self.clearState : [])
        if losingHistory { try await showClearRoom(next) }
        return next
    }

    /// Replaces the history by an empty one.
    private func loseHistory() async throws {
        let (store, empty) = (folder.path("store"), folder.path("empty"))
        try await ChatStore.open(in: empty).close()
        for name in try FileManager.default.contentsOfDirectory(atPath: store.path)
        where name.hasPrefix("chat.sqlite") {
            try FileManager.default.removeItem(at: store.appending(path: name))
        }
        try FileManager.default.moveItem(
            at: empty.appending(path: "chat.sqlite"), to: store.appending(path: "chat.sqlite"))
        try FileManager.default.removeItem(at: empty)
    }

    private func expectNothingInTheClear() {
        let marker = Data(Self.marker.utf8)
        for bytes in server.sealedBytes { #expect(Data(bytes).range(of: marker) == nil, "seed \(seed)") }
        let transactions = server.events.compactMap { $0["unsigned"]?["transaction_id"]?.string }
        #expect(Set(transactions).count == transactions.count, "seed \(seed)")
        let messages = transactions.filter { ["c", "w"].contains($0.prefix(1)) && Int($0.dropFirst()) != nil }
        #expect(messages.count == written, "seed \(seed)")
    }
}

/// A clock that runs a thousand times faster.
private struct HastyClock: Clock {
    var now: ContinuousClock.Instant { ContinuousClock().now }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let clock = ContinuousClock()
        try await clock.sleep(for: (deadline - clock.now) / 1000)
    }
}
