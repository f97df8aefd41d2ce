import ChatCore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing
import ToolSupport

@testable import MatrixBackend

/// Verifications over a server that answers late, with errors or not at all.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(5))) struct VerifierTests {
    private let folder = TemporaryFolder()
    private let devices = KnownDevices()
    private static let ann = "@ann:example.org"
    private static let sending = "/send/m.room.message/"
    private static let storage = "/account_data/m.secret_storage.default_key"

    /// A confirmed account with a direct chat with Ann, which is not encrypted.
    /// - Parameters:
    ///   - sent: the response to an event that is sent.
    ///   - stored: the response to a request for the secret storage.
    private func start(
        clock: any Clock<Duration> = ManualClock(), sent: JSONValue = ["event_id": "$request"],
        stored: JSONValue? = nil
    ) async throws -> EncryptedAccount {
        let own = ExactText(EncryptedAccount.user.rawValue)
        try devices.add(TestDevice(own, "OTHER"))
        try devices.add(TestDevice(ExactText(Self.ann), "PEER"))
        let account = try await EncryptedAccount.start(
            in: folder, MemoryCredentialStore(), devices: devices, clock: clock
        ) { request in
            let path = request.url.path
            if path.hasSuffix(Self.storage) { return stored }
            if path.hasSuffix("/account_data/m.direct") {
                return .object([Self.ann: [.string(EncryptedAccount.room.rawValue)]])
            }
            if path.contains("/state/m.room.member/") { return ["membership": "join"] }
            if path.contains("/send/") { return sent }
            if path.hasSuffix("/keys/signatures/upload") || path.contains("/sendToDevice/") { return [:] }
            return nil
        }
        try await account.sync(EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" })
        let machine = try #require(await account.backend.keys.machine)
        try await machine.track([own, ExactText(Self.ann)])
        #expect(await account.backend.keys.makeAllRequests())
        #expect(try await !machine.adopt(TestIdentity(own).secrets).isEmpty)
        return account
    }

    private static let ready = Events.event(
        "$ready", "m.key.verification.ready",
        [
            "from_device": "PEER", "methods": ["m.sas.v1"],
            "m.relates_to": ["rel_type": "m.reference", "event_id": "$request"],
        ], by: ann)

    private func verification(
        in account: EncryptedAccount, where condition: (Verification) -> Bool
    ) async throws -> Verification {
        for await all in account.backend.verifications() {
            if let found = all.first(where: condition) { return found }
        }
        throw CancellationError()
    }

    private func received(_ part: String, _ count: Int = 1, by account: EncryptedAccount) async throws {
        while account.server.paths.count(where: { $0.contains(part) }) < count {
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test("An answer that arrives before the response to the request is not missed.")
    func earlyAnswer() async throws {
        let account = try await start()
        account.server.hold(Self.sending)
        let backend = account.backend
        let asking = Task { try await backend.verify(MemberID(Self.ann)) }
        try await received(Self.sending, by: account)
        #expect(try await verification(in: account) { _ in true }.phase == .waiting)
        try await account.sync([Self.ready])
        account.server.hold(nil)
        let id = try await asking.value
        #expect(try await verification(in: account) { $0.phase == .preparing }.id == id)
        try await received("/send/m.key.verification.start/", by: account)
        await account.close()
    }

    @Test("A request whose response is lost goes on once the sync has returned it.")
    func lostResponse() async throws {
        let account = try await start(sent: ["status": 502])
        let id = try await account.backend.verify(MemberID(Self.ann))
        let request = try #require(account.server.requests.first { $0.url.path.contains(Self.sending) })
        let echo = Events.event(
            "$request", "m.room.message", request.json ?? .null, by: EncryptedAccount.user.rawValue,
            unsigned: ["transaction_id": .string(request.url.lastPathComponent)])
        #expect(try await verification(in: account) { $0.id == id }.phase == .waiting)
        try await account.sync([echo, Self.ready])
        #expect(try await verification(in: account) { $0.phase == .preparing }.id == id)
        await account.close()
    }

    @Test("A request that the server rejects leaves no verification behind.")
    func rejectedRequest() async throws {
        let account = try await start(sent: ["status": 403, "errcode": "M_FORBIDDEN", "error": "No"])
        let backend = account.backend
        await #expect(throws: EncryptionError.rejected(reason: "No")) {
            try await backend.verify(MemberID(Self.ann))
        }
        let machine = try #require(await account.backend.keys.machine)
        #expect(try await machine.verifications().isEmpty)
        await account.close()
    }

    // MARK: Publishing

    @Test("A verification is shown while the server does not respond to another request.")
    func shownWithoutWaiting() async throws {
        let account = try await start()
        let count = account.server.paths.count { $0.hasSuffix(Self.storage) }
        account.server.hold(Self.storage)
        await account.backend.encryptionMonitor.invalidateRecovery()
        try await received(Self.storage, count + 1, by: account)
        let request: JSONValue = [
            "type": "m.key.verification.request", "sender": .string(EncryptedAccount.user.rawValue),
            "content": ["from_device": "OTHER", "methods": ["m.sas.v1"], "transaction_id": "t"],
        ]
        account.offer(toDevice: [request])
        #expect(try await verification(in: account) { $0.phase == .requested }.id == "t")
        account.server.hold(nil)
        await account.close()
    }

    @Test("A request that fails is not repeated at each change, but after a while.")
    func failuresBackOff() async throws {
        let clock = ManualClock()
        let account = try await start(clock: clock, stored: ["status": 502])
        func requests() -> Int { account.server.paths.count { $0.hasSuffix(Self.storage) } }
        func untilConfirmed(_ devices: Int) async {
            for await status in account.backend.encryptionStatuses() where status.otherConfirmedDevices == devices {
                return
            }
        }
        await untilConfirmed(1)
        let count = requests()
        #expect(count > 0)
        try devices.add(TestDevice(ExactText(EncryptedAccount.user.rawValue), "THIRD"))
        try await account.backend.keys.machine?.outdateOwnDevices()
        #expect(await account.backend.keys.makeAllRequests())
        await untilConfirmed(2)
        #expect(requests() == count)
        while requests() == count {
            clock.advance(by: .seconds(10))
            try await Task.sleep(for: .milliseconds(5))
        }
        await account.close()
    }
}
