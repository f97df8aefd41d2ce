import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// What another device has of the one that it replaces, after signing in anew.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct FormerDeviceTests {
    /// Answers all requests like a server that lists no device of anybody.
    private func answerAll(of machine: CryptoMachine, at now: Date) async throws {
        for _ in 0..<50 {
            guard let request = try await machine.nextRequest(at: now) else { return }
            var answer: JSONValue = [:]
            if case .query(let query) = request.action {
                let users: [(String, JSONValue)] = query.users.map { ($0.text, [:]) }
                answer = ["device_keys": .object(Dictionary(uniqueKeysWithValues: users))]
            }
            try await machine.answered(request, with: answer, at: now)
        }
        Issue.record("The device asks without an end.")
    }

    @Test("What former devices have sent is read by later ones, which have keys of their own")
    func ownMessages() async throws {
        var fixture = try await SendingFixture()
        let sealed = try await fixture.say("From here")
        let event = SealedEvent(room: fixture.room, event: "$1", sender: "@me:b", content: sealed)
        var fingerprints = [try await fixture.subject.fingerprint()]
        for device: ExactText in ["NEXT", "LATER"] {
            let machine = try await CryptoMachine.begun(
                user: "@me:b", device: device, in: fixture.machine.storage, key: fixture.machine.key)
            try await answerAll(of: machine, at: fixture.now)
            let payload = try #require(try await machine.read([event]).first).get()
            #expect(payload.content["body"] == "From here" && payload.trust == nil)
            let fingerprint = try await machine.fingerprint()
            #expect(!fingerprints.contains(fingerprint))
            fingerprints.append(fingerprint)
        }
    }

    @Test("What arrived while the keys of the former device were unavailable is read by the next one")
    func unopenedMessages() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer("@ann:b", "LAPTOP")
        try await fixture.know([peer.device])
        let group = try OutboundGroupSession()
        try await UnopenedMessages.keep([peer.share(group)], in: fixture.storage)
        let machine = try await CryptoMachine.begun(
            user: "@me:b", device: "NEXT", in: fixture.storage, key: fixture.key)
        #expect(await fixture.storage.cryptoRecordCount(.unopenedMessage) == 0)
        try await answerAll(of: machine, at: fixture.start)
        let reading = try #require(try await machine.read([peer.say("Hello", with: group, as: "$1")]).first)
        #expect(try reading.get().content["body"] == "Hello")
    }

    @Test("Damaged keys of the former device do not keep the next one from beginning")
    func damagedAccount() async throws {
        let fixture = try await MachineFixture()
        try await UnopenedMessages.keep(
            [fixture.peer("@ann:b", "LAPTOP").share(OutboundGroupSession())], in: fixture.storage)
        await fixture.storage.set(Data("damaged".utf8), for: CryptoRecord.Key(.account, id: "keys"))
        let machine = try await CryptoMachine.begun(
            user: "@me:b", device: "NEXT", in: fixture.storage, key: fixture.key)
        #expect(try await machine.position() == nil)
    }

    @Test("What an unconfirmed device of the user has sent stays hidden from later ones")
    func unconfirmedDevice() async throws {
        let fixture = try await MachineFixture()
        let group = try OutboundGroupSession()
        let peer = try await fixture.peer("@me:b", "OTHER")
        try await fixture.receive([peer.share(group)])
        let machine = try await CryptoMachine.begun(
            user: "@me:b", device: "NEXT", in: fixture.storage, key: fixture.key)
        try await answerAll(of: machine, at: fixture.start)
        let reading = try #require(try await machine.read([peer.say("Hidden", with: group, as: "$1")]).first)
        #expect(reading == .failure(.unconfirmedSender))
    }
}
