import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing

@testable import MatrixCrypto

@Suite(.enabled(if: RatchetLibrary.version != nil))
struct IdentityTests {
    private let user: ExactText = "@a:b"

    private func answer(
        _ identity: TestIdentity, to own: TestIdentity? = nil, verified: Bool = false
    ) throws -> JSONValue {
        .object(
            try TestIdentity.answer(
                [identity] + (own.map { [$0] } ?? []), to: own?.user, verified: verified ? [identity.user] : []))
    }

    private func updated(_ known: Identity?, _ answer: JSONValue, verifier: Ed25519Key? = nil) -> Identity? {
        Identity.updated(known, of: user, by: answer, ownUser: "@me:b", ownUserSigning: verifier)
    }

    @Test("An identity stays known when the server omits it or returns an invalid key.")
    func keepsWhatIsKnown() throws {
        let known = try #require(updated(nil, try answer(TestIdentity(user))))
        #expect(updated(nil, [:]) == nil)
        #expect(updated(known, [:]) == known)
        #expect(updated(known, ["master_keys": .object([user.text: ["keys": "x"]])]) == known)
    }

    @Test("An invalid key of another identity is not accepted.", arguments: ["master_keys", "self_signing_keys"])
    func invalidKeysAreMissing(member: String) throws {
        let known = try #require(updated(nil, try answer(TestIdentity(user))))
        let other = try TestIdentity(user, number: 1)
        let whole = try #require(try answer(other).object)
        func expectMissing(_ key: JSONValue, _ place: Comment) {
            var object = whole
            object[member] = .object([user.text: key])
            let identity = updated(known, .object(object))
            if member == "master_keys" {
                #expect(identity == known, place)
            } else {
                #expect(identity?.master == other.master.publicKey && identity?.selfSigning == nil, place)
            }
        }
        let entry = try #require(whole[member]?.object?[user.text]?.object)
        for field in ["user_id", "usage", "keys", "signatures"] where entry[field] != nil {
            var damaged = entry
            damaged[field] = ["x": 1]
            expectMissing(.object(damaged), "\(field)")
        }
        // Valid, but for another usage.
        expectMissing(try other.userSigningKey, "user-signing key")
    }

    @Test("A self-signing key that the master key has not signed confirms nothing.")
    func selfSigningKeyNeedsMaster() throws {
        var object = try #require(try answer(TestIdentity(user)).object)
        object["self_signing_keys"] = .object([user.text: try TestIdentity(user, number: 1).selfSigningKey])
        let identity = try #require(updated(nil, .object(object)))
        #expect(identity.selfSigning == nil)
        let device = try TestDevice(user, "D")
        let keys = try DeviceKeys(
            device.json(), of: user, device: "D", selfSigning: TestIdentity(user).selfSigning.publicKey)
        #expect(keys.confirmedBy != nil && !identity.confirms(keys))
    }

    @Test("A changed identity is reported, and holds back messages only if the former one was verified.")
    func changesAreNoticed() throws {
        let own = try TestIdentity("@me:b")
        let verifier = own.userSigning.publicKey
        let (first, second) = (try TestIdentity(user), try TestIdentity(user, number: 1))
        let unverified = try #require(updated(nil, try answer(first, to: own), verifier: verifier))
        #expect(!unverified.isVerified && !unverified.hasChanged)
        let changed = try #require(updated(unverified, try answer(second, to: own), verifier: verifier))
        #expect(changed.hasChanged && !changed.hasChangedAfterVerification && !changed.isVerified)

        let verified = try #require(updated(nil, try answer(first, to: own, verified: true), verifier: verifier))
        #expect(verified.isVerified)
        // Without the key that verifies, a signature has no effect.
        #expect(updated(nil, try answer(first, to: own, verified: true))?.isVerified == false)
        var replaced = try #require(updated(verified, try answer(second, to: own), verifier: verifier))
        #expect(replaced.hasChangedAfterVerification && !replaced.isVerified)
        let again = try #require(updated(replaced, try answer(second, to: own, verified: true), verifier: verifier))
        #expect(again.isVerified && !again.hasChanged)
        replaced.accept()
        #expect(!replaced.hasChanged && !replaced.hasChangedAfterVerification && !replaced.isVerified)
        // Returning to the former identity is another change.
        let back = try #require(updated(replaced, try answer(first, to: own), verifier: verifier))
        #expect(back.hasChanged)
    }

    @Test("A withdrawn verification is not restored by the signature that the server still has.")
    func withdrawnStaysWithdrawn() throws {
        let own = try TestIdentity("@me:b")
        let verified = try answer(TestIdentity(user), to: own, verified: true)
        var identity = try #require(updated(nil, verified, verifier: own.userSigning.publicKey))
        identity.withdraw()
        identity = try #require(updated(identity, verified, verifier: own.userSigning.publicKey))
        #expect(!identity.isVerified)
        identity.verify()
        #expect(identity.isVerified)
        #expect(try Identity(record: identity.record(of: user)) == identity)
    }

    @Test("A verification that became void while another identity was shown does not count if the former one returns.")
    func voidedWhileChanged() throws {
        let own = try TestIdentity("@me:b")
        let verifier = own.userSigning.publicKey
        let first = try answer(TestIdentity(user), to: own, verified: true)
        var identity = try #require(updated(nil, first, verifier: verifier))
        identity = try #require(updated(identity, try answer(TestIdentity(user, number: 1)), verifier: verifier))
        identity.voidVerification()
        #expect(identity.hasChangedAfterVerification && !identity.isVerified)
        identity = try #require(updated(identity, first, verifier: verifier))
        #expect(!identity.hasChangedAfterVerification && !identity.isVerified)
        identity.verify()
        #expect(identity.isVerified)
        identity.voidVerification()
        #expect(!identity.isVerified && identity.withdrawn == nil)
    }

    @Test("A device whose ID equals a key of the identity is rejected, known or not.")
    func namesOfKeysAreNoDevices() throws {
        let identity = try #require(updated(nil, try answer(TestIdentity(user))))
        let name = ExactText("\(identity.master)")
        let device = try TestDevice(user, name)
        let known = try DeviceKeys(device.json(), of: user, device: name)
        for before in [[], [known]] {
            let change = DeviceListChange(
                of: user, answered: [name.text: try device.json()], known: before, identity: identity)
            #expect(change.devices.isEmpty && change.rejected[name] == .identityName)
        }
    }

    @Test("A device is no longer confirmed once the signature is gone or the identity has changed.")
    func confirmationCanBeLost() throws {
        let identity = try #require(updated(nil, try answer(TestIdentity(user))))
        var device = try TestDevice(user, "D")
        let first = DeviceListChange(of: user, answered: ["D": try device.json()], known: [], identity: identity)
        let known = try #require(first.devices["D"])
        #expect(identity.confirms(known))
        device.isConfirmed = false
        let second = DeviceListChange(of: user, answered: ["D": try device.json()], known: [known], identity: identity)
        #expect(second.changed == ["D"] && second.devices["D"].map { !identity.confirms($0) } == true)
        let other = try #require(updated(identity, try answer(TestIdentity(user, number: 1))))
        #expect(!other.confirms(known))
    }

    @Test("A response from before this device has replaced the identity does not bring the former one back.")
    func lateResponse() async throws {
        let fixture = try await MachineFixture()
        let machine = fixture.machine
        func query() async throws -> CryptoRequest {
            while true {
                let request = try #require(try await machine.nextRequest(at: fixture.start))
                if case .query = request.action { return request }
                try await machine.answered(request, with: [:], at: fixture.start)
            }
        }
        _ = try await fixture.published()
        var former = try TestIdentity.answer([TestIdentity("@me:b")], to: "@me:b")
        former["device_keys"] = .object([:])
        let response = JSONValue.object(former)
        try await machine.outdateOwnDevices()
        try await machine.answered(query(), with: response, at: fixture.start)
        #expect(try await machine.ownIdentity() == .unconfirmed)

        try await machine.outdateOwnDevices()
        let late = try await query()
        _ = try await machine.stageIdentity()
        try await machine.commitIdentity()
        try await machine.answered(late, with: response, at: fixture.start)
        #expect(try await machine.ownIdentity() == .unconfirmed)
        // A response to a query after that counts.
        try await machine.answered(query(), with: response, at: fixture.start)
        #expect(try await machine.ownIdentity() == .replaced)
    }
}
