import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing

/// What a verification confirms, and what it says that it has confirmed.
@Suite(.enabled(if: RatchetLibrary.version != nil))
struct VerificationOutcomeTests {
    private typealias Client = TestServer.Client
    private let server = TestServer()

    private func phases(_ client: Client) async throws -> [Verification.Phase] {
        try await client.machine.verifications().map(\.phase)
    }

    private func running(_ client: Client) async throws -> [Verification] {
        try await client.machine.verifications().filter { !$0.hasEnded }
    }

    private var sentTypes: Set<String> { Set(server.sent.map(\.type)) }

    /// Accepts and confirms a verification between two of the user's devices.
    private func compare(_ id: ExactText, _ asking: Client, _ asked: Client) async throws {
        try await server.exchangeAll()
        for (action, client) in [(Verification.Action.accept, asked), (.confirmMatch, asking), (.confirmMatch, asked)] {
            _ = try await client.machine.perform(action, in: id, at: server.now)
            try await server.exchangeAll()
        }
    }

    // MARK: Nothing confirmed

    @Test("Two unconfirmed devices that compare emoji confirm nothing, and do not say so.")
    func neitherIsConfirmed() async throws {
        _ = try await server.confirmed("@me:b", "OLD")
        let new = try await server.signIn("@me:b", "NEW")
        let third = try await server.signIn("@me:b", "THIRD")
        let id = try await third.machine.verifyDevice("NEW", at: server.now)
        try await compare(id, third, new)
        for client in [new, third] {
            #expect(try await phases(client) == [.canceled(.unconfirmedHere)])
            #expect(try await client.machine.ownIdentity() == .unconfirmed)
        }
        #expect(sentTypes.contains("m.key.verification.cancel") && !sentTypes.contains("m.key.verification.done"))
        #expect(!sentTypes.contains("m.secret.request"))
    }

    @Test("A device without the key that confirms others confirms nothing, and the other device learns it.")
    func keyIsMissing() async throws {
        let old = try await server.confirmed("@me:b", "OLD")
        try await old.machine.store(nil, as: .selfSigning)
        let new = try await server.signIn("@me:b", "NEW")
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        try await compare(id, new, old)
        #expect(try await phases(old) == [.canceled(.keyMissing)])
        #expect(try await phases(new) == [.canceled(.there)])
        #expect(try await old.machine.ownDevices()["NEW"]?.isConfirmed == false)
    }

    @Test("A user who answers from an unconfirmed device is not verified.")
    func otherIsUnconfirmed() async throws {
        let ann = try await server.confirmed("@ann:b", "ANN")
        _ = try await server.confirmed("@bo:b", "BO")
        let bo = try await server.signIn("@bo:b", "NEW")
        let room = VerificationRoom(server, [ann, bo])
        let (id, event) = try await room.ask("@bo:b", by: ann)
        try await room.deliver()
        try await room.perform(.accept, in: event, by: bo)
        try await room.perform(.confirmMatch, in: id, by: ann)
        try await room.perform(.confirmMatch, in: event, by: bo)
        #expect(try await phases(ann) == [.canceled(.unconfirmedThere)])
        #expect(try await phases(bo) == [.canceled(.unconfirmedHere)])
        #expect(try await ann.machine.identity(of: "@bo:b") == .unverified)
        let codes = room.events.compactMap { $0.content["code"]?.string }
        #expect(!codes.isEmpty && codes.allSatisfy { $0 == "m.key_mismatch" })
        #expect(!room.events.contains { $0.type == "m.key.verification.done" })
    }

    // MARK: The user-signing key

    @Test("A user who was verified without the user-signing key is signed once the key is there.")
    func signatureIsDue() async throws {
        var ann = try await server.confirmed("@ann:b", "ANN")
        let bo = try await server.confirmed("@bo:b", "BO")
        let secret = try #require(try await ann.machine.storedSecrets()[.userSigning])
        try await ann.machine.store(nil, as: .userSigning)
        let room = VerificationRoom(server, [ann, bo])
        let (id, event) = try await room.ask("@bo:b", by: ann)
        try await room.deliver()
        try await room.perform(.accept, in: event, by: bo)
        try await room.perform(.confirmMatch, in: id, by: ann)
        try await room.perform(.confirmMatch, in: event, by: bo)
        #expect(try await phases(ann) == [.done])
        ann = try await server.restart(ann)
        #expect(try await ann.machine.identity(of: "@bo:b") == .verified)
        for expected in [1, 0] {
            let uploads = server.signatureUploads
            #expect(try await ann.machine.adopt([.userSigning: secret]) == [.userSigning])
            try await server.exchangeAll()
            #expect(server.signatureUploads == uploads + expected)
        }
    }

    // MARK: Repeated and early messages

    @Test("Events that a room repeats change nothing, also after the verification.")
    func repeatedEvents() async throws {
        let ann = try await server.confirmed("@ann:b", "ANN")
        let bo = try await server.confirmed("@bo:b", "BO")
        let room = VerificationRoom(server, [ann, bo])
        room.repetitions = 2
        let (id, event) = try await room.ask("@bo:b", by: ann)
        try await room.deliver()
        try await room.perform(.accept, in: event, by: bo)
        try await room.perform(.confirmMatch, in: id, by: ann)
        try await room.perform(.confirmMatch, in: event, by: bo)
        #expect(try await phases(ann) == [.done])
        #expect(try await phases(bo) == [.done])
        _ = try await bo.machine.perform(.dismiss, in: event, at: server.now)
        #expect(try await bo.machine.received(room.events, at: server.now).isEmpty)
        #expect(try await bo.machine.verifications().isEmpty)
    }

    @Test("Messages to a device that are repeated change nothing.")
    func repeatedMessages() async throws {
        let old = try await server.confirmed("@me:b", "OLD")
        let new = try await server.signIn("@me:b", "NEW")
        var sent: [(sender: DeviceID, type: String, content: JSONValue)] = []
        var isRecording = true
        server.intercept = { sender, type, content in
            if isRecording, type.hasPrefix("m.key.verification.") { sent.append((sender, type, content)) }
            return content
        }
        func repeatAll() async throws {
            isRecording = false
            for (sender, type, content) in sent {
                server.deliver(type, content, from: sender, to: "@me:b", sender.device == "OLD" ? "NEW" : "OLD")
            }
            isRecording = true
            try await server.exchangeAll()
        }
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        for (action, client) in [(Verification.Action.accept, old), (.confirmMatch, new), (.confirmMatch, old)] {
            _ = try await client.machine.perform(action, in: id, at: server.now)
            try await server.exchangeAll()
            try await repeatAll()
        }
        #expect(try await phases(old) == [.done])
        #expect(try await phases(new) == [.done])
        #expect(try await new.machine.ownIdentity() == .confirmed)
    }

    @Test("Answers that come before the request's own response are processed after it.")
    func earlyAnswers() async throws {
        let ann = try await server.confirmed("@ann:b", "ANN")
        _ = try await server.confirmed("@bo:b", "BO")
        try await ann.machine.track(["@bo:b"])
        try await server.exchangeAll()
        let room: ExactText = "!r:b"
        func ready(_ event: ExactText, of request: ExactText, in room: ExactText) -> VerificationEvent {
            VerificationEvent(
                room: room, event: event, sender: "@bo:b", type: "m.key.verification.ready",
                content: [
                    "from_device": "BO", "methods": ["m.sas.v1"],
                    "m.relates_to": ["rel_type": "m.reference", "event_id": .string(request.text)],
                ], sentAt: server.now)
        }
        try await ann.machine.willRequestVerification(of: "@bo:b", as: "t", in: room, at: server.now)
        let early = [ready("$1", of: "$other", in: room), ready("$2", of: "$request", in: room)]
        #expect(try await ann.machine.received(early, at: server.now).isEmpty)
        #expect(try await phases(ann) == [.waiting])
        let sent = try await ann.machine.didRequestVerification("t", as: "$request", at: server.now)
        #expect(sent.map(\.type) == ["m.key.verification.start"])
        #expect(sent.first?.content["m.relates_to"]?["event_id"] == "$request")
        #expect(try await ann.machine.verifications().map(\.id) == ["t"])
        // Its echo comes later.
        #expect(try await ann.machine.didRequestVerification("t", as: "$request", at: server.now).isEmpty)
        #expect(try await phases(ann) == [.preparing])
    }

    @Test("A request that the user cancels while it is being sent is canceled once it is sent.")
    func canceledWhileSending() async throws {
        let ann = try await server.confirmed("@ann:b", "ANN")
        try await ann.machine.willRequestVerification(of: "@bo:b", as: "t", in: "!r:b", at: server.now)
        for action in [Verification.Action.cancel, .dismiss] {
            #expect(try await ann.machine.perform(action, in: "t", at: server.now).isEmpty)
        }
        #expect(try await ann.machine.verifications().isEmpty)
        let sent = try await ann.machine.didRequestVerification("t", as: "$request", at: server.now)
        #expect(sent.map(\.type) == ["m.key.verification.cancel"])
        #expect(sent.first?.content["m.relates_to"]?["event_id"] == "$request")
    }

    // MARK: Outdated keys

    @Test("Emoji are compared only by the current keys of the other device, as soon as these are known.")
    func outdatedList() async throws {
        let old = try await server.confirmed("@me:b", "OLD")
        let new = try await server.signIn("@me:b", "NEW")
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        _ = try await old.machine.perform(.accept, in: id, at: server.now)
        // The answer arrives before the next query.
        try await new.machine.outdateOwnDevices()
        try await server.exchangeAll()
        #expect(sentTypes.contains("m.key.verification.ready") && !sentTypes.contains("m.key.verification.start"))
        #expect(try await phases(new) == [.preparing])
        #expect(try await new.machine.verificationDeadline().map { $0 <= server.now } == true)
        _ = try await new.machine.tickVerifications(at: server.now)
        try await server.exchangeAll()
        for client in [new, old] {
            _ = try await client.machine.perform(.confirmMatch, in: id, at: server.now)
            try await server.exchangeAll()
        }
        #expect(try await phases(new) == [.done])
        #expect(try await new.machine.ownIdentity() == .confirmed)
    }

    // MARK: Restarts

    /// The devices to which `OLD` has sent cancellations.
    private var canceled: [ExactText] {
        server.sent.filter { $0.type == "m.key.verification.cancel" && $0.reader.device != "OLD" }.map(\.reader.device)
    }

    @Test("A verification that was lost by a restart is canceled once, at the next message of the other device.")
    func lostByRestart() async throws {
        let old = try await server.confirmed("@me:b", "OLD")
        let new = try await server.signIn("@me:b", "NEW")
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        try await server.exchangeAll()
        _ = try await old.machine.perform(.accept, in: id, at: server.now)
        try await server.exchangeAll()
        let restarted = try await server.restart(old)
        // This message does not name the device that has sent it.
        _ = try await new.machine.perform(.confirmMatch, in: id, at: server.now)
        try await server.exchangeAll()
        #expect(try await phases(new) == [.canceled(.failed)])
        #expect(canceled == ["NEW"])
        server.deliver("m.key.verification.key", ["transaction_id": .string(id.text)], from: new.id, to: "@me:b", "OLD")
        try await server.exchangeAll()
        #expect(canceled == ["NEW"])
        #expect(try await restarted.machine.verifications().isEmpty)
    }

    @Test("Of unknown verifications, only messages that wait for an answer are answered, and not very many.")
    func unknownTransactions() async throws {
        _ = try await server.confirmed("@me:b", "OLD")
        let new = try await server.signIn("@me:b", "NEW")
        _ = try await server.signIn("@me:b", "THIRD")
        func deliver(_ kind: String, _ id: String, from sender: DeviceID) {
            let content: JSONValue = ["transaction_id": .string(id), "from_device": .string(sender.device.text)]
            server.deliver("m.key.verification.\(kind)", content, from: sender, to: "@me:b", "OLD")
        }
        for kind in ["cancel", "done", "other"] { deliver(kind, "t", from: new.id) }
        deliver("start", "t", from: DeviceID(user: "@x:b", device: "X"))
        deliver("start", "t", from: DeviceID(user: "@me:b", device: "GHOST"))
        try await server.exchangeAll()
        #expect(canceled.isEmpty)
        deliver("start", "u", from: new.id)
        try await server.exchangeAll()
        #expect(canceled == ["NEW"])
        for number in 0..<200 { deliver("ready", "\(number)", from: new.id) }
        try await server.exchangeAll()
        #expect(canceled.count < 100 && Set(canceled) == ["NEW"])
    }

    // MARK: Crossed requests

    @Test("Two users who ask each other at once go on with one of both requests.")
    func crossedInRoom() async throws {
        let ann = try await server.confirmed("@ann:b", "ANN")
        let bo = try await server.confirmed("@bo:b", "BO")
        let room = VerificationRoom(server, [ann, bo])
        let (id, event) = try await room.ask("@bo:b", by: ann)
        _ = try await room.ask("@ann:b", by: bo)
        try await room.deliver()
        #expect(try await running(ann).map(\.id) == [id.text])
        #expect(try await running(bo).map(\.id) == [event.text])
        let shown = [try await running(ann).first?.phase, try await running(bo).first?.phase]
        guard case .comparing? = shown[0] else {
            Issue.record("\(shown)")
            return
        }
        #expect(shown[0] == shown[1])
        try await room.perform(.confirmMatch, in: id, by: ann)
        try await room.perform(.confirmMatch, in: event, by: bo)
        #expect(try await ann.machine.identity(of: "@bo:b") == .verified)
        #expect(try await bo.machine.identity(of: "@ann:b") == .verified)
        #expect(try await running(ann).isEmpty)
        #expect(try await running(bo).isEmpty)
    }

    @Test("Two devices that ask each other at once go on with one of both requests.")
    func crossedDevices() async throws {
        let old = try await server.confirmed("@me:b", "OLD")
        let new = try await server.signIn("@me:b", "NEW")
        let id = try await new.machine.verifyDevice(nil, at: server.now)
        _ = try await old.machine.verifyDevice("NEW", at: server.now)
        try await server.exchangeAll()
        for client in [old, new] { #expect(try await running(client).map(\.id) == [id.text]) }
        for client in [old, new] {
            _ = try await client.machine.perform(.confirmMatch, in: id, at: server.now)
            try await server.exchangeAll()
        }
        #expect(try await new.machine.ownIdentity() == .confirmed)
        #expect(try await old.machine.ownDevices()["NEW"]?.isConfirmed == true)
    }
}
