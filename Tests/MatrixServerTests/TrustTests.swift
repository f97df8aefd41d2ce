import ChatCore
import ChatOutbox
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing

@testable import MatrixBackend

/// Identities, verification and recovery of two users with several devices, over a real homeserver.
@Suite(
    .enabled(if: !MatrixPeer.command.isEmpty, "no encryption: build-aux/ratchets-peers --matrix says more"),
    .serialized,
    .timeLimit(.minutes(10))
)
struct TrustTests {
    /// Accepts a request, compares on both sides, and confirms the match.
    private func compare(_ asking: MatrixUser, _ asked: MatrixUser) async throws {
        let request = try await asked.verification { $0 == .requested }
        try await asked.backend.perform(.accept, in: request.id)
        let one = try await asking.verification(where: \.isComparing)
        let other = try await asked.verification(where: \.isComparing)
        #expect(one.phase == other.phase)
        // Who asks in a room does not have the event's ID from the beginning.
        let ends = [(asking, one.id), (asked, request.id)]
        for (user, id) in ends { try await user.backend.perform(.confirmMatch, in: id) }
        for (user, id) in ends {
            try await user.verification { $0 == .done }
            try await user.backend.perform(.dismiss, in: id)
        }
    }

    @Test("A new device is confirmed by emoji, and then its earlier messages are shown", arguments: [true, false])
    func newDevice(_ sliding: Bool) async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: sliding)
        let (bob, _) = try await RoomKeyTests.person("bob", sliding: sliding)
        let status = try await ann.status { $0.identity == .confirmed && $0.recovery == .unsaved }
        #expect(status.condition == .on && status.otherConfirmedDevices == 0 && status.fingerprint != nil)
        try await ann.backend.confirmRecoveryKey()
        try await ann.status { $0.recovery == .ready }
        let room = try await ann.backend.createRoom(named: "Sealed")
        try await ann.waitForRoom(room)
        try await ann.client.setState("m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], of: room)
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        _ = try await bob.backend.join(room.rawValue)
        try await bob.waitForRoom(room)
        let new = try await ann.anotherDevice(sliding: sliding)
        try await new.waitForRoom(room)
        try await new.untilEncrypted(room)
        let early = try await new.say("From the new device", in: room)
        try await bob.messages(in: room) { $0.last?.id == early.id && $0.last?.seal == .unconfirmedSender }
        #expect(try await new.status { $0.identity == .unconfirmed }.otherConfirmedDevices == 1)

        _ = try await new.backend.verifyDevice(nil)
        try await compare(new, ann)
        try await new.status { $0.identity == .confirmed }
        try await bob.messages(in: room) { $0.last?.text == "From the new device" }
        let devices = try await new.backend.devices().filter { $0.trust != .withoutEncryption }
        #expect(devices.count == 2 && devices.allSatisfy { $0.trust == .confirmed } && devices[0].isThis)
        // The new device has the private keys, too: it can replace the recovery key, which confirms other devices.
        while try await new.backend.keys.machine?.storedSecrets().count != 4 {
            try await Task.sleep(for: .milliseconds(20))
        }
        let key = try await new.backend.replaceRecoveryKey()
        let third = try await ann.anotherDevice(sliding: sliding)
        await #expect(throws: EncryptionError.malformedRecoveryKey) {
            try await third.backend.recover(with: "EsTc " + key.text)
        }
        try await third.waitForRoom(room)
        try await third.messages(in: room) { $0.last?.seal == .beforeSignIn }
        try await new.status { $0.backup == .on(remaining: 0) && $0.recovery == .unsaved }
        try await third.backend.recover(with: key.text)
        try await third.status { $0.identity == .confirmed && $0.backup == .on(remaining: 0) }
        // Earlier messages are decrypted with keys from the backup.
        try await third.messages(in: room) {
            $0.last?.text == "From the new device" && $0.last?.trust == .unproven
        }
        for user in [ann, bob, new, third] { await user.close() }
    }

    @Test("The recovery key restores a backup that was turned off and on, or another one is asked for")
    func backupTurnedOffAndOn() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let room = try await ann.backend.createRoom(named: "Sealed")
        try await ann.waitForRoom(room)
        try await ann.client.setState("m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], of: room)
        try await ann.untilEncrypted(room)
        try await ann.say("Kept", in: room)
        func recreate(losingKey: Bool) async throws {
            try await ann.backend.setBackupEnabled(false)
            try await ann.status { $0.backup == .off }
            if losingKey { try await ann.backend.keys.machine?.store(nil, as: .backup) }
            try await ann.backend.setBackupEnabled(true)
            try await ann.status { $0.backup == .on(remaining: 0) }
        }
        func restores(_ key: RecoveryKey) async throws {
            let other = try await ann.anotherDevice(sliding: true)
            try await other.waitForRoom(room)
            try await other.messages(in: room) { $0.last?.kind == .sealed }
            try await other.backend.recover(with: key.text)
            try await other.messages(in: room) { $0.last?.text == "Kept" }
            await other.close()
        }
        let key = try await ann.backend.replaceRecoveryKey()
        try await ann.backend.confirmRecoveryKey()
        try await recreate(losingKey: false)
        try await ann.status { $0.recovery == .ready }
        try await restores(key)
        try await recreate(losingKey: true)
        try await ann.status { $0.recovery == .incomplete }
        let next = try await ann.backend.replaceRecoveryKey()
        try await ann.backend.confirmRecoveryKey()
        try await ann.status { $0.recovery == .ready }
        try await restores(next)
        await ann.close()
    }

    @Test("What one device does with the backup, the others know at once", arguments: [true, false])
    func backupChangedElsewhere(sliding: Bool) async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: sliding)
        let key = try await ann.backend.replaceRecoveryKey()
        try await ann.backend.confirmRecoveryKey()
        let other = try await ann.anotherDevice(sliding: sliding)
        try await other.backend.recover(with: key.text)
        try await other.status { $0.backup == .on(remaining: 0) && $0.recovery == .ready }
        try await ann.backend.setBackupEnabled(false)
        try await other.status { $0.backup == .off }
        try await ann.backend.setBackupEnabled(true)
        try await other.status { $0.backup == .on(remaining: 0) && $0.recovery == .ready }
        for user in [ann, other] { await user.close() }
    }

    @Test("A user who joins the chat after a verification request receives it then", arguments: [true, false])
    func lateJoin(_ sliding: Bool) async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: sliding)
        let (bob, _) = try await RoomKeyTests.person("bob", sliding: sliding)
        _ = try await ann.backend.verify(bob.session.user)
        let chat = try await ann.backend.openDirect(with: bob.session.user.rawValue)
        _ = try await bob.backend.join(chat.rawValue)
        try await bob.messages(in: chat, withEvents: true) { all in
            all.contains { $0.event == RoomEvent(.verificationRequested, subject: bob.session.user) }
        }
        try await compare(ann, bob)
        try await ann.identity(of: bob.session.user, is: .verified)
        for user in [ann, bob] { await user.close() }
    }

    @Test("Two users verify each other in their chat; a new identity is reported, and holds messages back")
    func people() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true)
        let (bob, _) = try await RoomKeyTests.person("bob", sliding: true)
        let chat = try await ann.backend.openDirect(with: bob.session.user.rawValue)
        try await ann.client.setState("m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], of: chat)
        _ = try await bob.backend.join(chat.rawValue)
        for user in [ann, bob] {
            try await user.waitForRoom(chat)
            try await user.untilEncrypted(chat)
        }
        try await ann.members(of: chat) { all in all.contains { $0.id == bob.session.user && !$0.hasLeft } }
        _ = try await ann.backend.verify(bob.session.user)
        try await compare(ann, bob)
        try await ann.identity(of: bob.session.user, is: .verified)
        try await bob.identity(of: ann.session.user, is: .verified)
        try await ann.say("Verified", in: chat)
        try await bob.messages(in: chat) { $0.last?.text == "Verified" }

        let other = try await bob.anotherDevice()
        _ = try await other.backend.replaceIdentity(password: "password")
        let key = try await ann.changedIdentity(of: bob.session.user)
        for await trust in ann.backend.trust(of: chat) where trust.holding == [bob.session.user] { break }
        try await ann.backend.send(Fixtures.outgoing("Held", transaction: "held"), to: chat)
        var reason: String?
        for await items in ann.backend.outbox.items(in: chat) {
            reason = items.compactMap(\.request.failure).first
            if reason != nil { break }
        }
        #expect(reason?.contains(bob.session.user.rawValue) == true)
        try await ann.backend.acceptIdentity(key, of: bob.session.user)
        try await ann.identity(of: bob.session.user, is: .unverified)
        // Accepting sends what was held back.
        try await other.messages(in: chat) { $0.last?.text == "Held" }
        // The new identity has replaced that of Bob's first device.
        try await bob.status { $0.identity == .replaced }
        for user in [ann, bob, other] { await user.close() }
    }
}
