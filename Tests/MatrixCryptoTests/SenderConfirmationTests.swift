import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// Devices that are signed out before any message of theirs is read.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SenderConfirmationTests {
    private let group: OutboundGroupSession

    init() throws { group = try OutboundGroupSession() }

    /// Ann's other device, which stays signed in.
    private func phone() throws -> TestDevice { try TestDevice("@ann:b", "PHONE") }

    /// Makes the machine learn that only this device of Ann's is left.
    private func signOut(of fixture: MachineFixture, leaving phone: TestDevice) async throws {
        var sync = CryptoSync(kind: .sliding)
        sync.changed = ["@ann:b"]
        _ = try await fixture.machine.received(sync, at: fixture.start)
        try await fixture.answerAll([phone])
    }

    private func reading(of peer: TestPeer, by fixture: MachineFixture) async throws -> CryptoMachine.Reading {
        try #require(try await fixture.machine.read([peer.say("Hello", with: group, as: "$1")]).first)
    }

    @Test("A message of a device that was confirmed when its key arrived, or by a list since, is read once it is gone.")
    func listedDevice() async throws {
        for isKnownBefore in [true, false] {
            let fixture = try await MachineFixture()
            let (peer, phone) = (try await fixture.peer("@ann:b", "LAPTOP"), try phone())
            if isKnownBefore { try await fixture.know([peer.device, phone]) }
            try await fixture.receive([peer.share(group)])
            if !isKnownBefore { try await fixture.know([peer.device, phone]) }
            try await signOut(of: fixture, leaving: phone)
            let payload = try await reading(of: peer, by: fixture).get()
            #expect(payload.content["body"] == "Hello" && payload.trust == nil)
        }
    }

    @Test("Once an outdated list turns out to be unchanged, the messages that waited for it are to be read again.")
    func unchangedList() async throws {
        let fixture = try await MachineFixture()
        let (own, keys) = try await fixture.published()
        var device = try TestDevice("@ann:b", "LAPTOP")
        device.isConfirmed = false
        let peer = try TestPeer(device, to: own, with: try #require(keys.first))
        try await fixture.know([device])
        var sync = CryptoSync(kind: .sliding)
        sync.events = [try peer.share(group)]
        sync.changed = ["@ann:b"]
        _ = try await fixture.machine.received(sync, at: fixture.start)
        _ = try await fixture.machine.takeChangedUsers()
        #expect(try await reading(of: peer, by: fixture) == .failure(.unknownSender))
        try await fixture.answerAll([device])
        #expect(try await fixture.machine.takeChangedUsers() == ["@ann:b"])
        #expect(try await reading(of: peer, by: fixture) == .failure(.unconfirmedSender))
    }

    /// The room key of a device that no list has shown, as a list changes, and the reading once the device is gone.
    private func reading(
        stating change: (TestDevice) throws -> JSONValue, isListCurrent: Bool = false
    ) async throws -> CryptoMachine.Reading {
        let fixture = try await MachineFixture()
        let (peer, phone) = (try await fixture.peer("@ann:b", "LAPTOP"), try phone())
        try await fixture.know([phone])
        var payload = try peer.payload("m.room_key", peer.roomKey(of: group))
        payload["sender_device_keys"] = try change(peer.device)
        var sync = CryptoSync(kind: .sliding)
        sync.events = [try peer.sealed(payload)]
        if !isListCurrent { sync.changed = ["@ann:b"] }
        _ = try await fixture.machine.received(sync, at: fixture.start)
        try await fixture.answerAll([phone])
        return try await reading(of: peer, by: fixture)
    }

    @Test("The signature of the sender's identity that comes with a key confirms a device that no list has shown.")
    func statedDevice() async throws {
        #expect(try await reading(stating: { try $0.json() }).get().content["body"] == "Hello")
    }

    @Test("Device keys without a valid signature of the known identity confirm nothing.")
    func forgedStatement() async throws {
        func unsigned(_ device: TestDevice) throws -> [String: JSONValue] {
            var device = device
            device.isConfirmed = false
            return try #require(try device.json().object)
        }
        let (own, other) = (try TestIdentity("@ann:b"), try TestIdentity("@ann:b", number: 1))
        let forgeries: [(TestDevice) throws -> JSONValue] = [
            { .object(try unsigned($0)) },
            // By another identity under its own name, and under the name of the known one.
            { .object(try other.confirming(unsigned($0))) },
            { device in
                .object(
                    try SignedJSON.signed(
                        unsigned(device), by: "@ann:b", keyID: ExactText("\(own.selfSigning.publicKey)")
                    ) { try other.selfSigning.sign($0) })
            },
        ]
        for forgery in forgeries {
            #expect(try await reading(stating: forgery) == .failure(.unconfirmedSender))
        }
    }

    @Test("A session of an earlier version, which did not record what confirms its device, proves nothing by itself.")
    func earlierVersion() async throws {
        var fixture = try await MachineFixture()
        let (peer, phone) = (try await fixture.peer("@ann:b", "LAPTOP"), try phone())
        try await fixture.know([peer.device, phone])
        try await fixture.receive([peer.share(group)])
        let key = CryptoRecord.Key(.inboundGroupSession, owner: "!r:b", id: ExactText(try group.id))
        let record = try #require(await fixture.storage.cryptoRecord(key))
        var stored = try #require(try JSONValue(parsing: record.value).object)
        let confirmation = stored.removeValue(forKey: "confirmedBy")
        #expect(confirmation != nil)
        await fixture.storage.set(Data(try CanonicalJSON.bytes(of: .object(stored))), for: key)
        try await fixture.restart()
        try await signOut(of: fixture, leaving: phone)
        #expect(try await reading(of: peer, by: fixture) == .failure(.unconfirmedSender))
    }

    @Test("A signature confirms no device that a current list lacks: it is signed out.") func signedOutDevice()
        async throws
    {
        let reading = try await reading(stating: { try $0.json() }, isListCurrent: true)
        #expect(reading == .failure(.unconfirmedSender))
    }

    private struct IsNoQuery: Error {}

    @Test("However many keys a device has sent before it is confirmed, that is recorded in parts, also over a restart.")
    func manySessions() async throws {
        var fixture = try await MachineFixture()
        let (peer, phone) = (try await fixture.peer("@ann:b", "LAPTOP"), try phone())
        let groups = try (0..<450).map { _ in try OutboundGroupSession() }
        for part in stride(from: 0, to: groups.count, by: 50) {
            try await fixture.receive(groups[part..<part + 50].map { try peer.share($0) })
        }
        try await fixture.machine.track(["@ann:b"])
        let request = try #require(try await fixture.machine.nextRequest(at: fixture.start))
        guard case .query = request.action else { throw IsNoQuery() }
        try await fixture.answer(request, of: [peer.device, phone])
        try await fixture.restart()
        try await fixture.answerAll([peer.device, phone])
        // Of each session of a part its record, its mark, and the mark for the backup.
        #expect(await fixture.storage.largestChange < 3 * 200 + 20)
        #expect(await fixture.storage.cryptoRecords(.pendingConfirmation, owner: nil).isEmpty)
        try await signOut(of: fixture, leaving: phone)
        for (number, group) in groups.enumerated() {
            let event = try peer.say("Hello", with: group, as: ExactText("$\(number)"))
            let reading = try #require(try await fixture.machine.read([event]).first)
            #expect(try reading.get().trust == nil)
        }
    }

    @Test("Of a user with many marked sessions, few marks are read at once to find those whose messages wait.")
    func manyMarks() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer("@ann:b", "LAPTOP")
        let groups = try (0..<450).map { _ in try OutboundGroupSession() }
        for part in stride(from: 0, to: groups.count, by: 50) {
            try await fixture.receive(groups[part..<part + 50].map { try peer.share($0) })
        }
        let sessions = Set(try groups.map { SessionID(room: "!r:b", session: ExactText(try $0.id)) })
        let unmarked = [SessionID(room: "!r:b", session: "unknown"), SessionID(room: "!x:b", session: "~")]
        for waiting in [sessions, Set(sessions.prefix(2)), Set(sessions.prefix(1)), []] {
            let found = try await fixture.machine.known(waiting.union(unmarked), of: ["@ann:b", "@bob:b"])
            #expect(found == waiting)
        }
        #expect(await fixture.storage.largestReads[.unconfirmedSession] ?? 0 <= 200)
    }

    @Test("For a change of one user's devices, no session of another user is read.")
    func changesOfOthers() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer("@ann:b", "LAPTOP")
        let groups = try (0..<50).map { _ in try OutboundGroupSession() }
        try await fixture.receive(groups.map { try peer.share($0) })
        let sessions = Set(try groups.map { SessionID(room: "!r:b", session: ExactText(try $0.id)) })
        let reads = await fixture.storage.singleReads
        #expect(try await fixture.machine.known(sessions, of: ["@bob:b"]).isEmpty)
        #expect(await fixture.storage.singleReads == reads)
        #expect(try await fixture.machine.known(sessions, of: ["@ann:b"]) == sessions)
        // That they are confirmed is what has their messages opened.
        try await fixture.know([peer.device])
        #expect(try await fixture.machine.known(sessions, of: ["@ann:b"]) == sessions)
        // Later changes do not concern them any more.
        var sync = CryptoSync(kind: .sliding)
        sync.changed = ["@ann:b"]
        _ = try await fixture.machine.received(sync, at: fixture.start + 3601)
        try await fixture.answerAll([peer.device], at: fixture.start + 3601)
        #expect(await fixture.storage.cryptoRecords(.unconfirmedSession, owner: nil).isEmpty)
    }
}
