import ChatCore
import ChatOutbox
import ChatTestSupport
import FoundationEssentials
import JSONReading
import MatrixCrypto
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// Messages of verifications over a server that does not take them at once.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct VerificationSenderTests {
    /// What the server answers to the next events; then it takes them.
    private final class Answers: Sendable {
        private let next = Mutex<[(part: String, answer: JSONValue)]>([])

        func add(_ answers: JSONValue..., to part: String) {
            next.withLock { next in next += answers.map { (part: part, answer: $0) } }
        }

        func answer(to request: MatrixRequest) -> JSONValue {
            next.withLock { next in
                let index = next.firstIndex { request.url.path.contains($0.part) }
                return index.map { next.remove(at: $0).answer } ?? ["event_id": "$request"]
            }
        }
    }

    private static let ann = MemberID(EncryptedAccount.ann)
    private static let noAnswer: JSONValue = ["status": 502]
    private static let rejection: JSONValue = ["status": 403, "errcode": "M_FORBIDDEN", "error": "No"]

    private let folder = TemporaryFolder()
    private let devices = KnownDevices()
    private let clock = ManualClock()
    private let answers = Answers()

    private func start() async throws -> EncryptedAccount {
        try await EncryptedAccount.confirmed(in: folder, devices: devices, clock: clock) { [answers] in
            answers.answer(to: $0)
        }
    }

    /// The events of verifications that were sent, each attempt.
    private func attempts(_ account: EncryptedAccount) -> [(type: String, transaction: String)] {
        account.server.paths.filter { $0.contains("/send/") }.map { path in
            let parts = path.split(separator: "/").suffix(2).map { String($0) }
            return (parts[0], parts[1])
        }
    }

    /// Lets the delays of retries pass until the server has seen this many attempts.
    private func pass(until count: Int, _ account: EncryptedAccount) async throws {
        while attempts(account).count < count {
            clock.advance(by: .seconds(20))
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("A request that does not reach the server is sent again as the same event, and says so meanwhile.")
    func unsentRequest() async throws {
        answers.add(Self.noAnswer, ["status": 429], Self.noAnswer, to: EncryptedAccount.requesting)
        let account = try await start()
        let id = try await account.backend.verify(Self.ann)
        let unsent = try await account.verification { $0.isUnsent }
        #expect(unsent.id == id && unsent.phase == .waiting)
        try await pass(until: 4, account)
        #expect(try await account.verification { !$0.isUnsent }.phase == .waiting)
        try await account.sync([EncryptedAccount.ready])
        #expect(try await account.verification { $0.phase == .preparing }.id == id)
        let requests = attempts(account).filter { $0.type == "m.room.message" }
        #expect(requests.count == 4 && Set(requests.map(\.transaction)).count == 1)
        await account.close()
    }

    @Test("A request is sent at once when the server can be reached again.")
    func connection() async throws {
        answers.add(Self.noAnswer, to: EncryptedAccount.requesting)
        let account = try await start()
        _ = try await account.backend.verify(Self.ann)
        while attempts(account).count < 2 {
            await account.backend.verifier.retryNow()
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(try await account.verification { !$0.isUnsent }.phase == .waiting)
        await account.close()
    }

    @Test("A request that the user cancels before it is sent reaches nobody.")
    func canceledRequest() async throws {
        answers.add(Self.noAnswer, to: EncryptedAccount.requesting)
        let account = try await start()
        let id = try await account.backend.verify(Self.ann)
        try await account.backend.perform(.cancel, in: id)
        try await account.backend.perform(.dismiss, in: id)
        // The next request is sent, and the former one is not.
        _ = try await account.backend.verify(Self.ann)
        try await account.sync([EncryptedAccount.ready])
        _ = try await account.verification { $0.phase == .preparing }
        try await account.received("/send/m.key.verification.start/")
        while await !account.backend.verifier.sender.unsent.isEmpty {
            clock.advance(by: .seconds(20))
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(Set(attempts(account).map(\.transaction)).count == 3 && attempts(account).count == 3)
        await account.close()
    }

    @Test("A request that the server rejects after it was unreachable ends the verification, and is not sent again.")
    func rejectedLater() async throws {
        answers.add(Self.noAnswer, Self.rejection, to: EncryptedAccount.requesting)
        let account = try await start()
        let id = try await account.backend.verify(Self.ann)
        try await pass(until: 2, account)
        let ended = try await account.verification { $0.hasEnded }
        #expect(ended.id == id && ended.phase == .canceled(.undeliverable) && !ended.isUnsent)
        #expect(attempts(account).count == 2)
        await account.close()
    }

    @Test("Later messages are sent again as well, in their order.")
    func laterMessages() async throws {
        answers.add(Self.noAnswer, Self.noAnswer, Self.noAnswer, to: "/send/m.key.verification.start/")
        let account = try await start()
        let id = try await account.backend.verify(Self.ann)
        try await account.sync([EncryptedAccount.ready])
        #expect(try await account.verification { $0.isUnsent }.phase == .preparing)
        try await account.backend.perform(.cancel, in: id)
        try await pass(until: 6, account)
        let sent = attempts(account).dropFirst()
        let types = Array(repeating: "m.key.verification.start", count: 4) + ["m.key.verification.cancel"]
        #expect(sent.map(\.type) == types)
        #expect(Set(sent.map(\.transaction)).count == 2)
        await account.close()
    }

    @Test("A message that the server rejects ends the verification.")
    func rejectedMessage() async throws {
        answers.add(Self.rejection, to: "/send/m.key.verification.start/")
        let account = try await start()
        _ = try await account.backend.verify(Self.ann)
        try await account.sync([EncryptedAccount.ready])
        #expect(try await account.verification { $0.hasEnded }.phase == .canceled(.undeliverable))
        await account.close()
    }

    @Test("A message that the server rejects for now, because of the account, is sent again.")
    func blockedAccount() async throws {
        answers.add(
            ["status": 403, "errcode": "M_RESOURCE_LIMIT_EXCEEDED", "error": "No"],
            to: "/send/m.key.verification.start/")
        let account = try await start()
        _ = try await account.backend.verify(Self.ann)
        try await account.sync([EncryptedAccount.ready])
        #expect(try await account.verification { $0.isUnsent || $0.hasEnded }.phase == .preparing)
        try await pass(until: 3, account)
        #expect(try await account.verification { !$0.isUnsent }.phase == .preparing)
        #expect(Set(attempts(account).dropFirst().map(\.transaction)).count == 1)
        await account.close()
    }

    // MARK: In the clear

    private static let setting: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2"]

    /// A sender over a sync that has not caught up, so that the server is asked before each event how the room is
    /// encrypted.
    private func sender(of account: EncryptedAccount, over transport: FakeTransport) -> VerificationSender {
        let (keys, client, status) = (account.backend.keys, transport.client, SyncStatus())
        return VerificationSender(
            keys: keys, client: client,
            encryption: RoomEncryption(
                client: client, store: account.store, keys: keys, syncStatus: status,
                gate: account.backend.writer.gate),
            sealer: RoomSealer(keys: keys, client: client, ownUserID: EncryptedAccount.user, syncStatus: status),
            clock: clock, now: { Fixtures.date })
    }

    private func request(of account: EncryptedAccount) async throws -> [String: JSONValue] {
        let ann = ExactText(EncryptedAccount.ann)
        return try await account.backend.keys.encrypting { try await $0.verificationRequest(to: ann) }
    }

    private func isSent(_ request: MatrixRequest) -> Bool { request.url.path.contains("/send/") }

    @Test("A request is not sent in the clear if the room has become encrypted right before, and is withdrawn.")
    func encryptedBeforeTheRequest() async throws {
        let account = try await start()
        let questions = Mutex(0)
        let transport = FakeTransport.responding { request in
            guard request.url.path.contains("m.room.encryption") else { return ["event_id": "$request"] }
            let count = questions.withLock { count in
                count += 1
                return count
            }
            return count == 1 ? nil : Self.setting
        }
        let content = try await request(of: account)
        let sender = sender(of: account, over: transport)
        await #expect(throws: DeliveryError.unreachable) {
            try await sender.request(content, of: ExactText(EncryptedAccount.ann), in: EncryptedAccount.room)
        }
        let count = questions.withLock { $0 }
        #expect(count == 2 && !transport.requests.contains(where: isSent))
        let machine = try #require(await account.backend.keys.machine)
        #expect(try await machine.verifications().isEmpty)
        await sender.close()
        await account.close()
    }

    @Test("A request is not sent again in the clear if the room has become encrypted right before.")
    func encryptedBeforeTheRetry() async throws {
        let account = try await start()
        let questions = Mutex(0)
        let transport = FakeTransport.responding { request in
            guard request.url.path.contains("m.room.encryption") else { return Self.noAnswer }
            let count = questions.withLock { count in
                count += 1
                return count
            }
            // Two for each attempt.
            return count < 4 ? nil : Self.setting
        }
        let content = try await request(of: account)
        let sender = sender(of: account, over: transport)
        _ = try await sender.request(content, of: ExactText(EncryptedAccount.ann), in: EncryptedAccount.room)
        func attempts() -> Int { transport.requests.count(where: isSent) }
        while attempts() < 2, questions.withLock({ $0 }) < 4 {
            clock.advance(by: .seconds(20))
            try await Task.sleep(for: .milliseconds(5))
        }
        await sender.close()
        #expect(attempts() == 1)
        await account.close()
    }

    @Test("A room is encrypted here only when the requests that are being sent in the clear have ended.")
    func encryptionWaits() async throws {
        let account = try await start()
        let (keys, room) = (account.backend.keys, EncryptedAccount.room)
        let (answer, answering) = AsyncStream.makeStream(of: Void.self)
        let log = Mutex<[String]>([])
        let transport = FakeTransport.responding(pause: { request in
            guard request.url.path.contains("/send/") else { return }
            for await _ in answer {}
            log.withLock { $0.append("sent") }
        }) { request in
            request.url.path.contains("m.room.encryption") ? nil : ["event_id": "$request"]
        }
        let content = try await request(of: account)
        let sender = sender(of: account, over: transport)
        let sending = Task { try await sender.request(content, of: ExactText(EncryptedAccount.ann), in: room) }
        while !transport.requests.contains(where: isSent) { try await Task.sleep(for: .milliseconds(5)) }
        let encrypting = Task { try await keys.encrypting(room) { log.withLock { $0.append("encrypted") } } }
        while await !keys.roomsBeingEncrypted.contains(room) { try await Task.sleep(for: .milliseconds(5)) }
        answering.finish()
        try await encrypting.value
        _ = try await sending.value
        let entries = log.withLock { $0 }
        #expect(entries == ["sent", "encrypted"])
        await sender.close()
        await account.close()
    }

    @Test("A message that waits for the server is no failure of the storage.")
    func errors() {
        let errors: [(DeliveryError, EncryptionError)] = [
            (.unreachable, .unreachable), (.busy(retryAfter: .seconds(1)), .unreachable),
            (.rejected(reason: "No"), .rejected(reason: "No")),
        ]
        for (error, expected) in errors {
            #expect(EncryptionError.translated(error) as? EncryptionError == expected)
        }
    }
}
