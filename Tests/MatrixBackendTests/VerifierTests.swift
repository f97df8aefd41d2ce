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
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct VerifierTests {
    private let folder = TemporaryFolder()
    private let devices = KnownDevices()

    private func start(
        clock: any Clock<Duration> = ManualClock(), sent: JSONValue = ["event_id": "$request"],
        stored: JSONValue? = nil
    ) async throws -> EncryptedAccount {
        try await EncryptedAccount.confirmed(in: folder, devices: devices, clock: clock, stored: stored) { _ in sent }
    }

    @Test("An answer that arrives before the response to the request is not missed.")
    func earlyAnswer() async throws {
        let account = try await start()
        account.server.hold(EncryptedAccount.requesting)
        let backend = account.backend
        let asking = Task { try await backend.verify(MemberID(EncryptedAccount.ann)) }
        try await account.received(EncryptedAccount.requesting)
        #expect(try await account.verification { _ in true }.phase == .waiting)
        try await account.sync([EncryptedAccount.ready])
        account.server.hold(nil)
        let id = try await asking.value
        #expect(try await account.verification { $0.phase == .preparing }.id == id)
        try await account.received("/send/m.key.verification.start/")
        await account.close()
    }

    @Test("A request whose response is lost goes on once the sync has returned it, and is not sent again then.")
    func lostResponse() async throws {
        let account = try await start(sent: ["status": 502])
        let id = try await account.backend.verify(MemberID(EncryptedAccount.ann))
        let request = try #require(account.server.requests.first { $0.url.path.contains(EncryptedAccount.requesting) })
        let echo = Events.event(
            "$request", "m.room.message", request.json ?? .null, by: EncryptedAccount.user.rawValue,
            unsigned: ["transaction_id": .string(request.url.lastPathComponent)])
        #expect(try await account.verification { $0.id == id }.phase == .waiting)
        try await account.sync([echo, EncryptedAccount.ready])
        #expect(try await account.verification { $0.phase == .preparing }.id == id)
        try await account.received("/send/m.key.verification.start/")
        #expect(account.server.paths.count { $0.contains(EncryptedAccount.requesting) } == 1)
        await account.close()
    }

    @Test("A request that the server rejects leaves no verification behind.")
    func rejectedRequest() async throws {
        let account = try await start(sent: ["status": 403, "errcode": "M_FORBIDDEN", "error": "No"])
        let backend = account.backend
        await #expect(throws: EncryptionError.rejected(reason: "No")) {
            try await backend.verify(MemberID(EncryptedAccount.ann))
        }
        let machine = try #require(await account.backend.keys.machine)
        #expect(try await machine.verifications().isEmpty)
        await account.close()
    }

    @Test("A verification whose keys are closed says that it has ended, and is shown until the user has seen that.")
    func closedKeys() async throws {
        let account = try await start()
        let backend = account.backend
        let id = try await backend.verify(MemberID(EncryptedAccount.ann))
        _ = try await account.verification { $0.id == id && $0.phase == .waiting }
        let machine = try #require(await backend.keys.machine)
        try await backend.keys.end(for: EncryptionCondition.Problem.credentialLost, of: machine)
        #expect(backend.keys.condition == .off(.credentialLost))
        #expect(try await account.verification { $0.hasEnded }.phase == .canceled(.undeliverable))
        try await backend.perform(.accept, in: id)
        #expect(backend.verifier.verifications.value.map(\.id) == [id])
        try await backend.perform(.dismiss, in: id)
        #expect(backend.verifier.verifications.value.isEmpty)
        await #expect(throws: EncryptionError.unavailable(.credentialLost)) {
            try await backend.perform(.cancel, in: id)
        }
        await account.close()
    }

    // MARK: Publishing

    @Test("A verification is shown while the server does not respond to another request.")
    func shownWithoutWaiting() async throws {
        let account = try await start()
        let count = account.server.paths.count { $0.hasSuffix(EncryptedAccount.secretStorage) }
        account.server.hold(EncryptedAccount.secretStorage)
        await account.backend.encryptionMonitor.invalidateRecovery()
        try await account.received(EncryptedAccount.secretStorage, count + 1)
        let request: JSONValue = [
            "type": "m.key.verification.request", "sender": .string(EncryptedAccount.user.rawValue),
            "content": ["from_device": "OTHER", "methods": ["m.sas.v1"], "transaction_id": "t"],
        ]
        account.offer(toDevice: [request])
        #expect(try await account.verification { $0.phase == .requested }.id == "t")
        account.server.hold(nil)
        await account.close()
    }

    @Test("The state names the user's devices that are not confirmed.")
    func unconfirmedDevices() async throws {
        let account = try await start()
        var guest = try TestDevice(ExactText(EncryptedAccount.user.rawValue), "GUEST")
        guest.isConfirmed = false
        try devices.add(guest)
        try await account.backend.keys.machine?.outdateOwnDevices()
        #expect(await account.backend.keys.makeAllRequests())
        for await status in account.backend.encryptionStatuses() where status.unconfirmedDevices == ["GUEST"] { break }
        await account.close()
    }

    @Test("A request that fails is not repeated at each change, but after a while.")
    func failuresBackOff() async throws {
        let clock = ManualClock()
        let account = try await start(clock: clock, stored: ["status": 502])
        func requests() -> Int { account.server.paths.count { $0.hasSuffix(EncryptedAccount.secretStorage) } }
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
