import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing

/// Who receives room keys, and whose messages are shown.
@Suite(.enabled(if: RatchetLibrary.version != nil))
struct TrustPolicyTests {
    private let server = TestServer()
    private let room: ExactText = "!r:b"

    private func share(
        _ sender: TestServer.Client, members: [ExactText], verifying other: ExactText? = nil
    ) async throws -> JSONValue {
        try await EncryptedRoom.note(
            [(room, ["algorithm": "m.megolm.v1.aes-sha2"])], in: sender.storage, at: server.now)
        for _ in 0..<8 {
            let content: [String: JSONValue] = ["body": "hello"]
            switch try await sender.machine.seal(
                "m.room.message", content, in: room, verifying: other, at: server.now)
            {
            case .sealed(let sealed): return sealed
            case .needsMembers(let version):
                let all = Dictionary(uniqueKeysWithValues: members.map { ($0, "join") })
                _ = try await sender.machine.setMembers(all, visibility: "joined", of: room, since: version)
            case .waits: try await server.exchangeAll()
            case .refused(let rejection): throw rejection
            }
        }
        throw CancellationError()
    }

    private func read(_ sealed: JSONValue, _ event: ExactText, by client: TestServer.Client) async throws
        -> CryptoMachine.Reading
    {
        let event = SealedEvent(room: room, event: event, sender: "@me:b", content: sealed)
        return try #require(try await client.machine.read([event]).first)
    }

    @Test("Only devices that their owners have confirmed receive a room key.")
    func keysGoToConfirmedDevices() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let (confirmed, other) = (try await server.signIn("@a:b", "A1"), try await server.signIn("@a:b", "A2"))
        try await server.makeIdentity(on: confirmed)
        let without = try await server.signIn("@x:b", "X")
        let sealed = try await share(sender, members: ["@me:b", "@a:b", "@x:b"])
        try await server.exchangeAll()
        #expect(try await read(sealed, "$1", by: confirmed).get().content["body"] == "hello")
        for client in [other, without] {
            await #expect(throws: GroupMessageReader.Seal.withheld(.unverified)) {
                try await read(sealed, "$1", by: client).get()
            }
        }
        let trust = try await sender.machine.trust(in: room) { [] }
        #expect(trust == RoomTrust(withoutIdentity: [MemberID("@x:b")]))

        // Once confirmed, it can read new messages, but no earlier ones.
        #expect(try await other.machine.adopt(try await confirmed.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        let later = try await share(sender, members: [])
        try await server.exchangeAll()
        #expect(try await read(later, "$2", by: other).get().content["body"] == "hello")
        await #expect(throws: GroupMessageReader.Seal.self) { try await read(sealed, "$1", by: other).get() }
    }

    @Test("A device that gets no key is notified why, once per session, also after a restart and if it is added later.")
    func unconfirmedDevicesAreInformed() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let without = try await server.signIn("@x:b", "X")
        func reasons() -> [ExactText] {
            server.sent.filter { $0.type == "m.room_key.withheld" }.map(\.reader.device)
        }
        _ = try await share(sender, members: ["@me:b", "@x:b"])
        try await server.exchangeAll()
        #expect(reasons() == ["X"])
        for _ in 0..<2 {
            _ = try await share(sender, members: [])
            try await server.exchangeAll()
        }
        #expect(reasons() == ["X"])
        let later = try await server.signIn("@x:b", "Y")
        let again = try await server.restart(sender)
        let sealed = try await share(again, members: ["@me:b", "@x:b"])
        try await server.exchangeAll()
        #expect(reasons() == ["X", "Y"])
        for client in [without, later] {
            await #expect(throws: GroupMessageReader.Seal.withheld(.unverified)) {
                try await read(sealed, "$1", by: client).get()
            }
        }
    }

    @Test("A message from an unconfirmed device is hidden until the device is confirmed.")
    func unconfirmedSendersAreHidden() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        let reader = try await server.signIn("@a:b", "A1")
        try await server.makeIdentity(on: reader)
        let sealed = try await share(sender, members: ["@me:b", "@a:b"])
        try await server.exchangeAll()
        await #expect(throws: GroupMessageReader.Seal.unconfirmedSender) {
            try await read(sealed, "$1", by: reader).get()
        }
        try await server.makeIdentity(on: sender)
        #expect(try await reader.machine.takeChangedUsers().contains("@me:b"))
        let session = SessionID(room: room, session: ExactText(sealed["session_id"]?.string ?? ""))
        #expect(try await reader.machine.known([session], of: ["@me:b"]) == [session])
        #expect(try await reader.machine.known([session], of: ["@x:b"]).isEmpty)
        #expect(try await read(sealed, "$1", by: reader).get().trust == nil)
        // A message sent after the confirmation is readable, too.
        let again = try await share(sender, members: [])
        #expect(try await reader.machine.identity(of: "@me:b") == .unverified)
        #expect(try await read(again, "$2", by: reader).get().content["body"] == "hello")
    }

    @Test("The devices of a user who left before they were queried are queried when a message of theirs is read.")
    func sendersWhoHaveLeftAreAskedAbout() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let reader = try await server.signIn("@a:b", "A1")
        try await server.makeIdentity(on: reader)
        // The response that delivers the key also reports that the user has left.
        server.left = ["@me:b"]
        let sealed = try await share(sender, members: ["@me:b", "@a:b"])
        try await server.exchangeAll()
        server.left = []
        await #expect(throws: GroupMessageReader.Seal.unknownSender) {
            try await read(sealed, "$1", by: reader).get()
        }
        try await server.exchangeAll()
        #expect(try await reader.machine.takeChangedUsers().contains("@me:b"))
        #expect(try await read(sealed, "$1", by: reader).get().content["body"] == "hello")
    }

    @Test("Nothing is sent to a user whose verified identity has changed, until the change is accepted.")
    func changedIdentitiesHoldSending() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let reader = try await server.signIn("@a:b", "A1")
        try await server.makeIdentity(on: reader)
        _ = try await share(sender, members: ["@me:b", "@a:b"])
        try await verify(sender, reader)
        #expect(try await sender.machine.identity(of: "@a:b") == .verified)
        #expect(try await reader.machine.identity(of: "@me:b") == .verified)
        _ = try await share(sender, members: [])

        let other = try await server.signIn("@a:b", "A2")
        try await server.makeIdentity(on: other)
        let key = try await newKey(of: "@a:b", for: sender)
        let trust = try await sender.machine.trust(in: room) { [] }
        #expect(trust == RoomTrust(changed: [MemberID("@a:b")], holding: [MemberID("@a:b")]))
        // Withdrawing the verification does not end the hold.
        try await sender.machine.withdrawVerification(of: "@a:b")
        #expect(try await sender.machine.identity(of: "@a:b") == .changedAfterVerification(to: key))
        await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@a:b"])) {
            try await share(sender, members: [])
        }
        try await sender.machine.accept(key, of: "@a:b")
        #expect(try await sender.machine.identity(of: "@a:b") == .unverified)
        let sealed = try await share(sender, members: [])
        try await server.exchangeAll()
        #expect(try await read(sealed, "$9", by: other).get().content["body"] == "hello")
        await #expect(throws: GroupMessageReader.Seal.withheld(.unverified)) {
            try await read(sealed, "$9", by: reader).get()
        }
    }

    /// The identity of a user that has changed after it was verified.
    private func newKey(of user: ExactText, for client: TestServer.Client) async throws -> IdentityKey {
        guard case .changedAfterVerification(let key) = try await client.machine.identity(of: user) else {
            throw CancellationError()
        }
        return key
    }

    @Test("What verifies a changed identity can be sent, and nothing else.")
    func changedIdentitiesCanBeVerified() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let reader = try await server.signIn("@a:b", "A1")
        try await server.makeIdentity(on: reader)
        _ = try await share(sender, members: ["@me:b", "@a:b"])
        try await verify(sender, reader)
        let other = try await server.signIn("@a:b", "A2")
        try await server.makeIdentity(on: other)
        for number in 1...2 {
            await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@a:b"])) {
                try await share(sender, members: [])
            }
            await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@a:b"])) {
                try await share(sender, members: [], verifying: "@b:b")
            }
            let sealed = try await share(sender, members: [], verifying: "@a:b")
            try await server.exchangeAll()
            #expect(try await read(sealed, ExactText("$\(number)"), by: other).get().content["body"] == "hello")
        }
        try await verify(sender, other)
        #expect(try await sender.machine.identity(of: "@a:b") == .verified)
        _ = try await share(sender, members: [])
    }

    @Test("An identity is accepted only if it is the one that the user was asked about.")
    func anotherChangeIsNotAccepted() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let reader = try await server.signIn("@a:b", "A1")
        try await server.makeIdentity(on: reader)
        _ = try await share(sender, members: ["@me:b", "@a:b"])
        try await verify(sender, reader)
        try await server.makeIdentity(on: try await server.signIn("@a:b", "A2"))
        let first = try await newKey(of: "@a:b", for: sender)
        try await server.makeIdentity(on: try await server.signIn("@a:b", "A3"))
        let second = try await newKey(of: "@a:b", for: sender)
        #expect(first != second)
        await #expect(throws: CryptoMachine.VerificationFailure.otherIdentity) {
            try await sender.machine.accept(first, of: "@a:b")
        }
        #expect(try await sender.machine.identity(of: "@a:b") == .changedAfterVerification(to: second))
        await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@a:b"])) {
            try await share(sender, members: [])
        }
        try await sender.machine.accept(second, of: "@a:b")
        #expect(try await sender.machine.identity(of: "@a:b") == .unverified)
    }

    @Test("A room's warnings concern its readers: also unloaded and invited ones, but not those who have left.")
    func warningsConcernReaders() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let reader = try await server.signIn("@a:b", "A1")
        try await server.makeIdentity(on: reader)
        _ = try await share(sender, members: ["@me:b", "@a:b"])
        try await verify(sender, reader)
        try await server.makeIdentity(on: try await server.signIn("@a:b", "A2"))
        let changed = RoomTrust(changed: [MemberID("@a:b")], holding: [MemberID("@a:b")])
        // The history has not loaded the member.
        #expect(try await sender.machine.trust(in: room) { [] } == changed)

        func news(_ items: AudienceNews.Item...) async throws {
            try await sender.machine.received([AudienceNews(room: room, items: items)])
        }
        try await news(.member("@a:b", "leave"))
        #expect(try await sender.machine.trust(in: room) { ["@a:b"] } == RoomTrust())
        // Whether invited users receive keys depends on the history visibility, which is `joined`.
        try await news(.member("@a:b", "invite"))
        #expect(try await sender.machine.trust(in: room) { [] } == RoomTrust())
        try await news(.visibility("invited"))
        #expect(try await sender.machine.trust(in: room) { [] } == changed)
        // After a gap, the member may have come back.
        try await news(.member("@a:b", "leave"), .gap)
        #expect(try await sender.machine.trust(in: room) { [] } == RoomTrust())
        #expect(try await sender.machine.trust(in: room) { ["@me:b", "@a:b"] } == changed)
        // Before the first message, only the history's members are known.
        #expect(try await sender.machine.trust(in: "!other:b") { [] } == RoomTrust())
        #expect(try await sender.machine.trust(in: "!other:b") { ["@me:b", "@a:b"] } == changed)
    }

    @Test("A replaced identity of the local user is no identity to accept, and ends as it confirms this device.")
    func replacedOwnIdentity() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        _ = try await share(sender, members: ["@me:b"])
        #expect(try await sender.machine.trust(in: room) { [] } == RoomTrust())
        let other = try await server.signIn("@me:b", "ME2")
        try await server.makeIdentity(on: other)
        #expect(try await sender.machine.trust(in: room) { [] } == RoomTrust(isOwnReplaced: true))
        await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@me:b"])) {
            try await share(sender, members: [])
        }
        _ = try await sender.machine.adopt(try await other.machine.storedSecrets())
        try await server.exchangeAll()
        #expect(try await sender.machine.trust(in: room) { [] } == RoomTrust())
    }

    @Test(
        "Before this device is confirmed, another own identity than the first one seen gets no keys until it confirms it."
    )
    func replacedBeforeConfirmation() async throws {
        try await server.makeIdentity(on: try await server.signIn("@me:b", "ME"))
        let sender = try await server.signIn("@me:b", "NEW")
        _ = try await share(sender, members: ["@me:b"])
        #expect(try await sender.machine.ownIdentity() == .unconfirmed)
        let other = try await server.signIn("@me:b", "OTHER")
        try await server.makeIdentity(on: other)
        #expect(try await sender.machine.ownIdentity() == .replaced)
        #expect(try await sender.machine.trust(in: room) { [] } == RoomTrust(isOwnReplaced: true))
        await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@me:b"])) {
            try await share(sender, members: [])
        }
        _ = try await sender.machine.adopt(try await other.machine.storedSecrets())
        try await server.exchangeAll()
        #expect(try await sender.machine.ownIdentity() == .confirmed)
        _ = try await share(sender, members: [])
    }

    @Test(
        "A new identity of the local user voids verifications, but does not accept an identity that had changed.",
        arguments: [true, false])
    func ownResetDoesNotAcceptOthers(isCreatedHere: Bool) async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let (changed, same) = (try await server.signIn("@a:b", "A1"), try await server.signIn("@c:b", "C1"))
        for reader in [changed, same] { try await server.makeIdentity(on: reader) }
        _ = try await share(sender, members: ["@me:b", "@a:b", "@c:b"])
        for reader in [changed, same] { try await verify(sender, reader) }
        try await server.makeIdentity(on: try await server.signIn("@a:b", "A2"))
        let key = try await newKey(of: "@a:b", for: sender)

        if isCreatedHere {
            try await server.makeIdentity(on: sender)
        } else {
            let other = try await server.signIn("@me:b", "ME2")
            try await server.makeIdentity(on: other)
            _ = try await sender.machine.adopt(try await other.machine.storedSecrets())
            try await server.exchangeAll()
        }
        #expect(try await sender.machine.ownIdentity() == .confirmed)
        #expect(try await sender.machine.identity(of: "@c:b") == .unverified)
        #expect(try await sender.machine.identity(of: "@a:b") == .changedAfterVerification(to: key))
        await #expect(throws: CryptoMachine.Rejection.changedIdentities(["@a:b"])) {
            try await share(sender, members: [])
        }
        try await sender.machine.accept(key, of: "@a:b")
        _ = try await share(sender, members: [])
    }

    @Test("A person whose signature the server rejects stays verified on this device, which asks what the server has.")
    func rejectedSignatureOfAPerson() async throws {
        let sender = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: sender)
        let reader = try await server.signIn("@a:b", "A1")
        try await server.makeIdentity(on: reader)
        _ = try await share(sender, members: ["@me:b", "@a:b"])
        server.signatureFailure = { user, _ in user == "@a:b" ? ["errcode": "M_INVALID_SIGNATURE"] : nil }
        let (queries, uploads) = (server.queries.count, server.signatureUploads)
        try await verify(sender, reader, outcome: .canceled(.signatureRejected))
        #expect(try await sender.machine.identity(of: "@a:b") == .verified)
        #expect(server.queries.dropFirst(queries).contains(["@a:b", "@me:b"]))
        // One of each user.
        #expect(server.signatureUploads == uploads + 2)
    }

    @Test("A device that is not confirmed verifies nobody.")
    func unconfirmedDevicesVerifyNobody() async throws {
        let first = try await server.signIn("@me:b", "ME")
        try await server.makeIdentity(on: first)
        let second = try await server.signIn("@me:b", "ME2")
        let other = try await server.signIn("@a:b", "A1")
        try await server.makeIdentity(on: other)
        try await second.machine.track(["@a:b"])
        try await server.exchangeAll()
        await #expect(throws: CryptoMachine.VerificationFailure.unconfirmed) {
            try await second.machine.verificationRequest(to: "@a:b")
        }
        _ = try await share(first, members: ["@me:b", "@a:b"])
        try await verify(first, other)
        // The other device has seen the signature, which counts once the device is confirmed.
        #expect(try await second.machine.identity(of: "@a:b") == .unverified)
        #expect(try await second.machine.adopt(try await first.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        #expect(try await second.machine.identity(of: "@a:b") == .verified)
        try await second.machine.withdrawVerification(of: "@a:b")
        try await server.exchangeAll()
        #expect(try await second.machine.identity(of: "@a:b") == .unverified)
        // After its record was damaged, the own identity is still the same one.
        await second.storage.set(Data("{".utf8), for: CryptoRecord.Key(.identity, owner: "@me:b"))
        let restarted = try await server.restart(second)
        try await server.exchangeAll()
        #expect(try await restarted.machine.adopt(restarted.machine.storedSecrets()).count == 3)
        try await server.exchangeAll()
        #expect(try await restarted.machine.ownIdentity() == .confirmed)
        #expect(try await restarted.machine.identity(of: "@a:b") == .unverified)
    }

    /// Makes two users compare emoji in a room.
    /// - Parameter outcome: The end on the side of the first one.
    private func verify(
        _ one: TestServer.Client, _ other: TestServer.Client, outcome: Verification.Phase = .done
    ) async throws {
        let (asking, asked) = (one.id.user, other.id.user)
        let request = try await one.machine.verificationRequest(to: asked)
        let id = ExactText("$request \(other.id.device)")
        try await one.machine.willRequestVerification(of: asked, as: id, in: room, at: server.now)
        #expect(try await one.machine.didRequestVerification(id, as: id, at: server.now).isEmpty)
        var waiting: [(sender: ExactText, message: VerificationRoomMessage)] = []
        func event(_ sender: ExactText, _ type: String, _ content: JSONValue, _ id: ExactText) -> VerificationEvent {
            VerificationEvent(
                room: room, event: id, sender: sender, type: type, content: content, sentAt: server.now)
        }
        var number = 0
        /// Delivers the waiting events to both, as a room does.
        func deliver() async throws {
            while !waiting.isEmpty {
                let (sender, message) = waiting.removeFirst()
                number += 1
                let event = event(sender, message.type, .object(message.content), ExactText("$answer\(number)"))
                for client in [one, other] {
                    let answers = try await client.machine.received([event], at: server.now)
                    waiting += answers.map { (client.id.user, $0) }
                }
            }
            try await server.exchangeAll()
        }
        let asks = event(asking, "m.room.message", .object(request), id)
        for client in [one, other] { _ = try await client.machine.received([asks], at: server.now) }
        try await server.exchangeAll()
        for (action, client) in [(Verification.Action.accept, other), (.confirmMatch, one), (.confirmMatch, other)] {
            let answers = try await client.machine.perform(action, in: id, at: server.now)
            waiting += answers.map { (client.id.user, $0) }
            try await deliver()
        }
        for (client, phase) in [(one, outcome), (other, .done)] {
            #expect(try await client.machine.verifications().map(\.phase) == [phase])
            _ = try await client.machine.perform(.dismiss, in: id, at: server.now)
        }
    }
}
