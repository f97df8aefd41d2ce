import ChatCore
import ChatOutbox
import ChatTestSupport
import Composer
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Synchronization
import Testing
import ToolSupport

@testable import ChatStore
@testable import MatrixBackend

/// Random histories of a room that is encrypted at some time, against a server that records all requests: from then on
/// no request with text, files, posters, or names or types of files begins unencrypted, nothing is lost, no message is
/// sent twice, no index of a session is used twice, and another device can decrypt what is sent. Meanwhile the history
/// may be lost, and the file of the keys may be damaged, or be replaced by an older copy.
@Suite(.enabled(if: EncryptionSetting.isOn), .serialized, .timeLimit(.minutes(10))) struct RandomHistoryTests {
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
                    let history = try History(seed: UInt64(number * Self.batch + index))
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

    private let seed: UInt64
    private var random: SeededGenerator
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let server = RecordingHomeserver()
    /// Whether the server has sliding sync, in half of the histories with and without a reader.
    private let isSliding: Bool
    /// A member's confirmed device, in half of the histories.
    private let reader: ReadingDevice?
    private let devices = KnownDevices()
    private let stage = Stage()
    private var written = 0
    /// Starts with another number in the next history, so that short ones have every kind of file, too.
    private var fileCount: Int
    /// Whether the account knows that the room is encrypted.
    private var isSealed = false
    /// Whether it also knows in which way: another one that is announced then changes nothing.
    private var hasAlgorithm = false
    /// An earlier file of the keys, whether it has the room as encrypted, and in which way.
    private var copy: (files: KeyFiles, isSealed: Bool, hasAlgorithm: Bool)?
    private var room: RoomID { EncryptedAccount.room }

    /// The room as a server reports it that does not mention its encryption.
    private var clearState: [JSONValue] {
        let rest = EncryptedAccount.state.filter {
            $0["type"] != "m.room.encryption" && $0["type"] != "m.room.member"
        }
        return rest + server.members
    }

    init(seed: UInt64) throws {
        self.seed = seed
        random = SeededGenerator(seed: seed)
        fileCount = Int(seed % 3)
        isSliding = (seed / 2).isMultiple(of: 2)
        reader = seed.isMultiple(of: 2) ? try ReadingDevice("@bob:example.org", "BOB") : nil
        guard let reader else { return }
        try server.add(reader, named: "Bob")
        try devices.add(reader.device)
    }

    private func start() async throws -> EncryptedAccount {
        let account = try await EncryptedAccount.start(
            in: folder, credentials, devices: devices, sliding: isSliding, clock: HastyClock()
        ) { [server] in server.answer($0) }
        return account
    }

    /// Makes the server add a room that is never encrypted.
    private func showClearRoom(_ account: EncryptedAccount) async throws {
        account.server.sync([
            "next_batch": "clear",
            "rooms": ["join": [Self.clearRoom.rawValue: ["timeline": ["events": .array(clearState)]]]],
        ])
        try await account.server.waitUntilConsumed()
    }

    /// Runs the history. If it does not end in time, the log says where it was.
    func run() async throws {
        try await withTaskCancellationHandler {
            try await play()
        } onCancel: { [seed, stage] in
            let step = stage.value
            if step >= 0 { print("seed \(seed) was canceled in step \(step)") }
        }
    }

    private func play() async throws {
        var account = try await start()
        try await account.sync(clearState)
        try await showClearRoom(account)
        let (steps, moment) = (8, number(0...8))
        for step in 0...steps {
            stage.value = step
            if step == moment { try await becomeEncrypted(account) }
            if step < steps { account = try await next(step, account) }
        }
        server.fail([])
        stage.value = steps + 1
        try await sendingEnds(account)
        let sent = SentMessages(server: server, seed: seed)
        sent.expectNothingInTheClear(of: Self.marker)
        sent.expectEachOnce(of: written)
        try sent.expectIndicesAreUsedOnce()
        if let reader { try sent.expectReadable(by: reader) }
        stage.value = steps + 2
        try await forwardAfterQuestion(account)
        await account.close()
    }

    // MARK: Becoming encrypted

    /// Messages sent before are unencrypted; messages still queued when encryption is turned on are encrypted.
    private func becomeEncrypted(_ account: EncryptedAccount) async throws {
        let outbox = account.backend.outbox
        for _ in 0..<number(0...2) {
            written += 1
            try await account.backend.send(Fixtures.outgoing("clear", transaction: "c\(written)"), to: room)
        }
        if Bool.random(using: &random) { try await sendingEnds(account) }
        if Bool.random(using: &random) { await outbox.setOnline(false) }
        for _ in 0..<number(0...3) { try await write(account) }
        switch number(0...4) {
        case 0: try await encryptBySync(account)
        case 1: try await encryptDuringEvent(account)
        case 2: try await encryptDuringUpload(account)
        case 3: try await answerLate(account) { try await encryptBySync(account) }
        default: try await encryptHere(account)
        }
        (isSealed, hasAlgorithm) = (true, true)
        await outbox.setOnline(true)
        let isKnown = try await account.backend.keys.isEncrypted(room)
        #expect(isKnown, "seed \(seed)")
        if Bool.random(using: &random) { server.denyEncryption() }
    }

    /// Makes the server send the encryption, which the account knows once it asks for the next sync.
    private func announceEncryption(by homeserver: FakeHomeserver) -> @Sendable () -> Void {
        let count = homeserver.syncCounts.provided + 1
        let timeline: JSONValue = ["timeline": ["events": [RecordingHomeserver.encryption]]]
        let body: JSONValue = [
            "next_batch": "encrypted", "rooms": ["join": .object([room.rawValue: timeline])],
        ]
        return { [server] in
            server.seal { homeserver.syncCounts.processed >= count }
            server.encrypt()
            homeserver.sync(body)
        }
    }

    private func encryptBySync(_ account: EncryptedAccount) async throws {
        announceEncryption(by: account.server)()
        try await account.server.waitUntilConsumed()
    }

    /// An event reaches the server, but the account may hear of the encryption first, or of nothing else.
    private func encryptDuringEvent(_ account: EncryptedAccount) async throws {
        await account.backend.outbox.setOnline(true)
        if Bool.random(using: &random) { server.fail([.unanswered]) }
        let before = account.server.syncCounts.provided
        server.afterNextEvent(announceEncryption(by: account.server))
        try await write(account)
        // The sync is provided right after the room is encrypted.
        while !server.isEncrypted || account.server.syncCounts.provided == before {
            try await Task.sleep(for: .milliseconds(5))
        }
        try await account.server.waitUntilConsumed()
    }

    /// An upload that is under way when the encryption comes must not reach the server.
    private func encryptDuringUpload(_ account: EncryptedAccount) async throws {
        let path = "/media/v3/upload"
        func count() -> Int { account.server.paths.count { $0.hasSuffix(path) } }
        await account.backend.outbox.setOnline(true)
        try await sendingEnds(account)
        let before = count()
        account.server.hold(path)
        try await write(account, withFile: true)
        while count() == before { try await Task.sleep(for: .milliseconds(5)) }
        try await encryptBySync(account)
        account.server.hold(nil)
    }

    /// The server says whether the room is encrypted after the next sync, but as it was before.
    private func answerLate(_ account: EncryptedAccount, _ sync: () async throws -> Void) async throws {
        account.server.delay("/state/m.room.encryption")
        try await write(account)
        try await sync()
        account.server.delay(nil)
    }

    /// The request or its response may be lost.
    private func encryptHere(_ account: EncryptedAccount) async throws {
        let isLost = Bool.random(using: &random)
        server.fail(isLost ? [Bool.random(using: &random) ? .lost : .unanswered] : [])
        do {
            try await account.backend.enableEncryption(in: room)
        } catch {
            #expect(isLost, "seed \(seed): \(error)")
            server.fail([])
            if server.isEncrypted {
                try await account.sync([RecordingHomeserver.encryption])
            } else {
                try await account.backend.enableEncryption(in: room)
            }
        }
    }

    private func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

    private func next(_ step: Int, _ account: EncryptedAccount) async throws -> EncryptedAccount {
        let backend = account.backend
        switch number(0...16) {
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
            // Before the algorithm is known, this would be the one of the room, and nothing could be sent.
            let other = Events.event("$x\(step)", "m.room.encryption", ["algorithm": "m.none"], stateKey: "")
            let member = Events.member("@ann:example.org", "Ann", step.isMultiple(of: 2) ? "leave" : "join")
            try await account.sync(hasAlgorithm ? [other, member] : [member])
        case 8: try await forward(account)
        case 9:
            guard let last = try await lastOwn(account) else { break }
            // May fail for the same reason.
            try? await backend.react("👍", isAdded: Bool.random(using: &random), to: last.id, in: room)
            if number(0...3) == 0 { try? await backend.delete(last.id, in: room) }
        case 10:
            guard isSealed else { break }
            #expect(try await backend.linkPreview(of: "https://\(Self.marker).example", in: room) == nil)
        case 11: try await leave(account)
        case 12:
            let events = server.events
            try await answerLate(account) { try await account.sync(events) }
        case 13: return try await restarted(account, losingHistory: true)
        case 14: return try await restarted(account, keys: .older)
        case 15: return try await restarted(account, keys: .damaged)
        default: return try await restarted(account)
        }
        return account
    }

    private func lastOwn(_ account: EncryptedAccount) async throws -> Message? {
        // The own copy of a session that is newer than the file of the keys is lost with it.
        try await account.messages.last { $0.sender == EncryptedAccount.user && !$0.isDeleted && $0.seal == nil }
    }

    private func write(_ account: EncryptedAccount, withFile: Bool = false) async throws {
        written += 1
        var files: [MediaReference] = []
        if withFile || Bool.random(using: &random) { files = [try await file(account)] }
        let message = WrittenMessage("\(Self.marker) \(written)", files: files)
        try await account.backend.send(message, as: TransactionID("w\(written)"), to: room)
    }

    /// A file to send: a text or, every third time, a video with a poster.
    private func file(_ account: EncryptedAccount) async throws -> MediaReference {
        fileCount += 1
        let text = "\(Self.marker)\(written)"
        guard fileCount.isMultiple(of: 3) else { return try await store(text, "txt", "text/plain", account) }
        var video = try await store(text, "mp4", "video/x-\(Self.marker)", account)
        video.thumbnailURI = try await store("\(text) poster", "jpg", "image/jpeg", account).uri
        return video
    }

    private func store(
        _ text: String, _ ending: String, _ type: String, _ account: EncryptedAccount
    ) async throws -> MediaReference {
        try await account.backend.storeMedia(
            .data(Data(String(repeating: text, count: 50).utf8)), named: "\(Self.marker) \(written).\(ending)",
            type: type, progress: { _ in })
    }

    /// An encrypted file of the room that can be forwarded.
    private func forwardableFile(_ account: EncryptedAccount) async throws -> MediaReference? {
        let file = try await account.messages.flatMap(\.attachments).last { $0.isEncrypted }
        // The server serves no downloads, and a lost history has lost the index of the cache.
        guard let file, await account.backend.cachedContent(of: file) != nil else { return nil }
        return file
    }

    /// Forwards an encrypted file into the room and, which must fail, into the unencrypted one.
    private func forward(_ account: EncryptedAccount) async throws {
        guard let file = try await forwardableFile(account) else { return }
        let copy = WrittenMessage(WrittenText("\(Self.marker) again"), files: [file], origin: .forwarded)
        await #expect(throws: ChatError.notPermitted, "seed \(seed)") {
            try await account.backend.send(copy, as: TransactionID("no"), to: Self.clearRoom)
        }
        written += 1
        try await account.backend.send(copy, as: TransactionID("w\(written)"), to: room)
    }

    /// Forwards an encrypted file into the unencrypted room after the user agreed: its content is sent, but not the
    /// key with which it was encrypted.
    private func forwardAfterQuestion(_ account: EncryptedAccount) async throws {
        // Without its events here, the history has none of their files.
        try await account.sync(server.events)
        guard let file = try await forwardableFile(account), let sealed = EncryptedFile(uri: file.uri) else { return }
        let before = server.sealedBytes.count
        let copy = WrittenMessage(
            WrittenText("Agreed"), files: [try await account.backend.unencrypted(file)], origin: .forwarded)
        try await account.backend.send(copy, as: TransactionID("agreed"), to: Self.clearRoom)
        try await sendingEnds(account, in: Self.clearRoom)
        let sent = server.events.last { $0["unsigned"]?["transaction_id"]?.string == "agreed" }
        #expect(sent?["type"] == "m.room.message" && sent?["content"]?["url"]?.string != nil, "seed \(seed)")
        #expect(sent?["content"]?["file"] == nil, "seed \(seed)")
        #expect(sent?["content"]?["info"]?["thumbnail_file"] == nil, "seed \(seed)")
        let poster = file.thumbnailURI.flatMap { EncryptedFile(uri: $0) }
        let spellings = [sealed.key, poster?.key].compactMap(\.self).flatMap { bytes -> [String] in
            let key = Base64.encoded(bytes)
            return [key, key.replacing("+", with: "-").replacing("/", with: "_"), key.replacing("/", with: "\\/")]
        }
        for bytes in server.sealedBytes[before...] {
            let data = Data(bytes)
            #expect(spellings.allSatisfy { data.range(of: Data($0.utf8)) == nil }, "seed \(seed)")
        }
    }

    /// Leaves the room and rejoins it, after which the server does not report the encryption.
    private func leave(_ account: EncryptedAccount) async throws {
        server.fail([])
        try await sendingEnds(account)
        let member = Events.member(EncryptedAccount.user.rawValue, "Me", "leave")
        account.server.sync([
            "next_batch": "left", "rooms": ["leave": [room.rawValue: ["timeline": ["events": [member]]]]],
        ])
        try await account.server.waitUntilConsumed()
        try await account.sync(clearState)
    }

    /// What becomes of the file of the keys while the account is closed.
    private enum KeyFileChange {
        case none, older, damaged
    }

    private func restarted(
        _ account: EncryptedAccount, losingHistory: Bool = false, keys: KeyFileChange = .none
    ) async throws -> EncryptedAccount {
        if losingHistory {
            server.fail([])
            try await sendingEnds(account)
        }
        // A copy from before the encryption leaves only the history to know of it, and not in which way.
        let isInHistory = try await account.store.encryptedRooms().contains(room)
        await account.close()
        if losingHistory { try await loseHistory() }
        try change(keys, isInHistory: isInHistory)
        let next = try await start()
        try await next.sync(losingHistory ? clearState : [])
        if losingHistory { try await showClearRoom(next) }
        return next
    }

    private func change(_ keys: KeyFileChange, isInHistory: Bool) throws {
        let store = folder.path("store")
        let current = try KeyFiles(in: store)
        var next = copy
        if next == nil || Bool.random(using: &random) { next = (current, isSealed, hasAlgorithm) }
        switch keys {
        case .none: break
        case .older:
            guard let copy, copy.isSealed || isInHistory || !isSealed else { break }
            try copy.files.restore(in: store)
            hasAlgorithm = copy.hasAlgorithm
        case .damaged:
            // The header: all records can be brought back.
            var content = current.file
            content.replaceSubrange(0..<100, with: Data(repeating: 0x55, count: 100))
            try content.write(to: store.appending(path: "keys.sqlite"))
        }
        copy = next
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

    /// Waits until everything is sent. What is rejected would stay.
    private func sendingEnds(_ account: EncryptedAccount, in room: RoomID = EncryptedAccount.room) async throws {
        for await items in account.backend.outbox.items(in: room) {
            for case .failed(let reason) in items.map(\.state) { throw Rejection(seed: seed, reason: "\(reason)") }
            if items.allSatisfy(\.isAccepted) { return }
        }
    }
}

private struct Rejection: Error {
    let seed: UInt64
    let reason: String
}

/// How far a history is; -1 before its first step.
private final class Stage: Sendable {
    private let step = Atomic(-1)

    var value: Int {
        get { step.load(ordering: .relaxed) }
        set { step.store(newValue, ordering: .relaxed) }
    }
}

/// A clock that runs a hundred times faster. Faster still, limits of seconds pass before a busy machine has answered.
private struct HastyClock: Clock {
    var now: ContinuousClock.Instant { ContinuousClock().now }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let clock = ContinuousClock()
        try await clock.sleep(for: (deadline - clock.now) / 100)
    }
}
