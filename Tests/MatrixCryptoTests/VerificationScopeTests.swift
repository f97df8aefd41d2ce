import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing

/// What a verification applies to: the identity that it began with, and the two sides that it is between.
@Suite(.enabled(if: RatchetLibrary.version != nil))
struct VerificationScopeTests {
    private typealias Client = TestServer.Client
    private let server = TestServer()

    private func phases(_ client: Client) async throws -> [Verification.Phase] {
        try await client.machine.verifications().map(\.phase)
    }

    private func isComparing(_ client: Client) async throws -> Bool {
        guard case .comparing? = try await phases(client).first else { return false }
        return true
    }

    // MARK: The identity

    /// Replaces a user's identity by one that the server has made up, which confirms a device of theirs.
    /// - Parameter verifier: Another user's identity that signs it.
    private func replaceIdentity(
        confirming client: Client, verifiedBy verifier: TestIdentity? = nil
    ) async throws -> TestIdentity {
        let identity = try TestIdentity(client.id.user, number: 1)
        let upload: JSONValue = [
            "master_key": try identity.masterKey(verifiedBy: verifier),
            "self_signing_key": try identity.selfSigningKey, "user_signing_key": try identity.userSigningKey,
        ]
        try server.publishIdentity(upload, of: client.id.user)
        try server.confirm(client.id, by: identity)
        try await server.exchangeAll()
        return identity
    }

    @Test(
        "If a user's identity changes while emoji are compared, neither the former nor the new one is verified.",
        arguments: [false, true])
    func otherIdentityChanges(askerConfirmsFirst: Bool) async throws {
        let ann = try await server.confirmed("@ann:b", "ANN")
        let bo = try await server.confirmed("@bo:b", "BO")
        let room = VerificationRoom(server, [ann, bo])
        let (id, event) = try await room.ask("@bo:b", by: ann)
        try await room.deliver()
        try await room.perform(.accept, in: event, by: bo)
        let identity = try await replaceIdentity(confirming: bo)
        #expect(try await isComparing(ann))
        #expect(try await isComparing(bo))
        let sides = [(client: ann, verification: id), (client: bo, verification: event)]
        for side in askerConfirmsFirst ? sides : sides.reversed() {
            try await room.perform(.confirmMatch, in: side.verification, by: side.client)
        }
        #expect(try await phases(ann) == [.canceled(.failed)])
        #expect(try await phases(bo) == [.canceled(.unconfirmedHere)])
        let key = IdentityKey("\(identity.master.publicKey)")
        #expect(try await ann.machine.identity(of: "@bo:b") == .changed(to: key))
        #expect(try await bo.machine.identity(of: "@ann:b") == .unverified)
        #expect(!room.events.contains { $0.type == "m.key.verification.done" })
    }

    @Test("If one's own identity changes while emoji are compared, it does not confirm the new device.")
    func ownIdentityChanges() async throws {
        let old = try await server.confirmed("@me:b", "OLD")
        let new = try await server.signIn("@me:b", "NEW")
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        _ = try await old.machine.perform(.accept, in: id, at: server.now)
        try await server.exchangeAll()
        // The device that vouches belongs to the new identity, too.
        _ = try await replaceIdentity(confirming: old)
        for client in [old, new] { #expect(try await isComparing(client)) }
        for client in [old, new] {
            _ = try await client.machine.perform(.confirmMatch, in: id, at: server.now)
            try await server.exchangeAll()
        }
        #expect(try await phases(new) == [.canceled(.failed)])
        #expect(try await phases(old) == [.canceled(.unconfirmedHere)])
        for client in [old, new] {
            #expect(try await client.machine.ownIdentity() == .replaced)
            #expect(try await client.machine.ownDevices()["NEW"]?.isConfirmed == false)
        }
        #expect(try await new.machine.storedSecrets().isEmpty)
        #expect(!server.sent.contains { $0.type == "m.key.verification.done" || $0.type == "m.secret.request" })
    }

    @Test("An identity that the server has made up is not confirmed by comparing emoji with a genuine device.")
    func madeUpIdentity() async throws {
        let old = try await server.confirmed("@me:b", "OLD")
        // It confirms both devices: only the comparison proves that it is not the user's.
        let identity = try await replaceIdentity(confirming: old)
        let new = try await server.signIn("@me:b", "NEW")
        try server.confirm(new.id, by: identity)
        try await server.exchangeAll()
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        _ = try await old.machine.perform(.accept, in: id, at: server.now)
        try await server.exchangeAll()
        for client in [old, new] { #expect(try await isComparing(client)) }
        // The genuine device first, so that its MACs have arrived before it can cancel.
        for client in [old, new] {
            _ = try await client.machine.perform(.confirmMatch, in: id, at: server.now)
            try await server.exchangeAll()
        }
        #expect(try await phases(new) == [.canceled(.unconfirmedThere)])
        #expect(try await new.machine.ownIdentity() == .unconfirmed)
        #expect(try await old.machine.ownIdentity() == .replaced)
    }

    /// Two users, of whom each has verified the other.
    private func verifiedUsers() async throws -> (ann: Client, bo: Client) {
        let ann = try await server.confirmed("@ann:b", "ANN")
        let bo = try await server.confirmed("@bo:b", "BO")
        let room = VerificationRoom(server, [ann, bo])
        let (id, event) = try await room.ask("@bo:b", by: ann)
        try await room.deliver()
        try await room.perform(.accept, in: event, by: bo)
        try await room.perform(.confirmMatch, in: id, by: ann)
        try await room.perform(.confirmMatch, in: event, by: bo)
        #expect(try await ann.machine.identity(of: "@bo:b") == .verified)
        return (ann, bo)
    }

    @Test("Nobody is shown as verified while one's own identity is not confirmed.")
    func ownIdentityIsReplaced() async throws {
        let (ann, _) = try await verifiedUsers()
        _ = try await replaceIdentity(confirming: ann)
        #expect(try await ann.machine.ownIdentity() == .replaced)
        #expect(try await ann.machine.identity(of: "@bo:b") == .unverified)
    }

    @Test("The signature of an own identity that is not confirmed verifies nobody.")
    func madeUpIdentityVerifiesNobody() async throws {
        let (ann, bo) = try await verifiedUsers()
        let own = try await replaceIdentity(confirming: ann)
        let other = try await replaceIdentity(confirming: bo, verifiedBy: own)
        let key = IdentityKey("\(other.master.publicKey)")
        #expect(try await ann.machine.identity(of: "@bo:b") == .changedAfterVerification(to: key))
    }

    // MARK: The two sides

    @Test("At every step, the messages of a third member change nothing of a verification between two others.")
    func thirdMember() async throws {
        let ann = try await server.confirmed("@ann:b", "ANN")
        let bo = try await server.confirmed("@bo:b", "BO")
        let cy = try await server.signIn("@cy:b", "CY")
        let room = VerificationRoom(server, [ann, bo, cy])
        let (id, event) = try await room.ask("@bo:b", by: ann)
        try await room.deliver()
        let kinds = ["ready", "start", "accept", "key", "mac", "done", "cancel"]
        func expectNoEffect(_ step: String) async throws {
            let before = [try await phases(ann), try await phases(bo)]
            let count = room.events.count
            for (kind, device) in kinds.flatMap({ [($0, "BO"), ($0, "CY")] }) {
                let content: JSONValue = [
                    "m.relates_to": ["rel_type": "m.reference", "event_id": .string(event.text)],
                    "from_device": .string(device), "methods": ["m.sas.v1"], "method": "m.sas.v1", "code": "m.user",
                ]
                room.post("m.key.verification.\(kind)", content, from: cy)
                try await room.deliver()
                let after = [try await phases(ann), try await phases(bo)]
                #expect(after == before, "\(kind) of \(device), \(step)")
            }
            #expect(room.events.count == count + 2 * kinds.count, "answered, \(step)")
        }
        try await expectNoEffect("requested")
        try await room.perform(.accept, in: event, by: bo)
        #expect(try await isComparing(ann))
        #expect(try await isComparing(bo))
        try await expectNoEffect("comparing")
        try await room.perform(.confirmMatch, in: id, by: ann)
        try await expectNoEffect("confirming")
        try await room.perform(.confirmMatch, in: event, by: bo)
        #expect(try await phases(ann) == [.done])
        #expect(try await phases(bo) == [.done])
        #expect(try await ann.machine.identity(of: "@bo:b") == .verified)
        #expect(try await bo.machine.identity(of: "@ann:b") == .verified)
        #expect(try await cy.machine.verifications().isEmpty)
    }

    @Test("A request in a room is shown only to the user whom it names.")
    func otherRecipients() async throws {
        let bo = try await server.confirmed("@bo:b", "BO")
        func request(_ event: ExactText, _ recipient: [String: JSONValue]) -> VerificationEvent {
            let content: [String: JSONValue] = [
                "msgtype": .string(VerificationEvent.requestKind), "from_device": "ANN", "methods": ["m.sas.v1"],
            ]
            return VerificationEvent(
                room: "!r:b", event: event, sender: "@ann:b", type: "m.room.message",
                content: .object(content.merging(recipient) { $1 }), sentAt: server.now)
        }
        let others: [[String: JSONValue]] = [
            [:], ["to": .null], ["to": ""], ["to": "@ann:b"], ["to": "@cy:b"], ["to": "@BO:b"], ["to": "@bo:b "],
            ["to": ["@bo:b"]],
        ]
        for (number, other) in others.enumerated() {
            let events = [request(ExactText("$\(number)"), other)]
            #expect(try await bo.machine.received(events, at: server.now).isEmpty)
            #expect(try await bo.machine.verifications().isEmpty, "\(other)")
        }
        _ = try await bo.machine.received([request("$own", ["to": "@bo:b"])], at: server.now)
        #expect(try await bo.machine.verifications().map(\.id) == ["$own"])
    }
}
