import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing

/// Signatures that a server names in the `failures` of its response have not been stored.
@Suite(.enabled(if: RatchetLibrary.version != nil))
struct SignatureUploadTests {
    static let rejected: JSONValue = ["errcode": "M_INVALID_SIGNATURE", "error": "Invalid signature"]
    static func failing(_ failure: JSONValue) -> JSONValue { ["failures": ["@me:b": ["ME": failure]]] }

    /// Responses by which a signature may be stored later.
    static let passing: [JSONValue] = [
        failing(["errcode": "M_UNKNOWN"]), failing(["errcode": "M_NOT_FOUND"]), failing([:]), failing(5),
        failing(.null), ["failures": ["@me:b": 5]], ["failures": 5], .null,
    ]
    /// Responses without a failure of the signature.
    static let accepting: [JSONValue] = [
        [:], ["failures": .null], ["failures": [:]], ["failures": ["@me:b": [:]]], ["failures": ["@me:b": .null]],
        ["failures": ["@me:b": ["OTHER": rejected], "@a:b": ["ME": rejected]]],
    ]

    /// A machine that has to upload the signature of its device, `ME` of `@me:b`.
    private func fixture() async throws -> MachineFixture {
        let fixture = try await MachineFixture()
        _ = try await fixture.published()
        _ = try await fixture.machine.stageIdentity()
        try await fixture.machine.commitIdentity()
        return fixture
    }

    /// Answers all requests that are due some seconds after the start.
    /// - Parameter answer: The response to an upload of signatures.
    /// - Returns: The number of these uploads.
    private func uploads(_ fixture: MachineFixture, after seconds: Double, _ answer: JSONValue) async throws -> Int {
        let now = fixture.start + seconds
        var count = 0
        while let request = try await fixture.machine.nextRequest(at: now), count < 10 {
            guard case .uploadSignatures = request.action else {
                try await fixture.machine.answered(request, with: ["device_keys": [:]], at: now)
                continue
            }
            count += 1
            try await fixture.machine.answered(request, with: answer, at: now)
        }
        return count
    }

    @Test(
        "A signature that was not stored is uploaded again, with growing delays and after a restart.",
        arguments: passing)
    func notStored(answer: JSONValue) async throws {
        var fixture = try await fixture()
        #expect(try await uploads(fixture, after: 0, answer) == 1)
        #expect(try await fixture.machine.nextAttempt(after: fixture.start) == fixture.start + 15)
        #expect(try await uploads(fixture, after: 14, answer) == 0)
        #expect(try await uploads(fixture, after: 15, answer) == 1)
        #expect(try await uploads(fixture, after: 44, answer) == 0)
        try await fixture.restart()
        #expect(try await uploads(fixture, after: 44, [:]) == 1)
        #expect(try await uploads(fixture, after: 100_000, [:]) == 0)
    }

    @Test("A signature that no failure names is stored.", arguments: accepting)
    func stored(answer: JSONValue) async throws {
        let fixture = try await fixture()
        #expect(try await uploads(fixture, after: 0, answer) == 1)
        #expect(try await uploads(fixture, after: 100_000, answer) == 0)
    }

    @Test("A signature that the server rejects is not uploaded again, also not after a restart.")
    func rejectedForGood() async throws {
        var fixture = try await fixture()
        #expect(try await uploads(fixture, after: 0, Self.failing(Self.rejected)) == 1)
        #expect(try await uploads(fixture, after: 100_000, [:]) == 0)
        try await fixture.restart()
        #expect(try await uploads(fixture, after: 100_000, [:]) == 0)
    }

    @Test("The attempts to upload a signature come to an end.")
    func attemptsEnd() async throws {
        let fixture = try await fixture()
        var (now, count) = (fixture.start, 0)
        while count < 100 {
            let seconds = now.timeIntervalSince(fixture.start)
            count += try await uploads(fixture, after: seconds, Self.failing(["errcode": "M_UNKNOWN"]))
            guard let next = try await fixture.machine.nextAttempt(after: now) else { break }
            now = next
        }
        #expect(count == 20)
    }

    @Test("A device whose signature the server rejects is not confirmed, and its verification counts as failed.")
    func rejectedDevice() async throws {
        let server = TestServer()
        let old = try await server.signIn("@me:b", "OLD")
        try await server.makeIdentity(on: old)
        let new = try await server.signIn("@me:b", "NEW")
        func verify() async throws {
            let id = try await new.machine.verifyDevice(nil, at: server.now)
            try await server.exchangeAll()
            for (action, client) in [(Verification.Action.accept, old), (.confirmMatch, new), (.confirmMatch, old)] {
                #expect(try await client.machine.perform(action, in: id, at: server.now).isEmpty)
                try await server.exchangeAll()
            }
        }
        server.signatureFailure = { _, key in key == "NEW" ? Self.rejected : nil }
        let uploads = server.signatureUploads
        try await verify()
        #expect(server.signatureUploads == uploads + 1)
        #expect(try await old.machine.ownDevices()["NEW"]?.isConfirmed == false)
        #expect(try await old.machine.verifications().map(\.phase) == [.canceled(.signatureRejected)])
        #expect(try await new.machine.verifications().map(\.phase) == [.canceled(.there)])
        #expect(try await new.machine.storedSecrets().isEmpty)

        // The user tries again.
        for client in [old, new] {
            for verification in try await client.machine.verifications() {
                _ = try await client.machine.perform(.dismiss, in: ExactText(verification.id), at: server.now)
            }
        }
        server.signatureFailure = { _, _ in nil }
        try await verify()
        #expect(try await old.machine.ownDevices()["NEW"]?.isConfirmed == true)
        #expect(try await old.machine.verifications().map(\.phase) == [.done])
        #expect(try await new.machine.ownIdentity() == .confirmed)
    }

    @Test("A device whose signature could not be stored yet is confirmed once it is.")
    func delayedDevice() async throws {
        let server = TestServer()
        server.signatureFailure = { _, _ in ["errcode": "M_UNKNOWN"] }
        let client = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: client)
        #expect(try await client.machine.ownIdentity() == .unconfirmed)
        server.signatureFailure = { _, _ in nil }
        try await server.exchangeAll()
        #expect(try await client.machine.ownIdentity() == .unconfirmed)
        server.now += 15
        try await server.exchangeAll()
        #expect(try await client.machine.ownIdentity() == .confirmed)
    }
}
