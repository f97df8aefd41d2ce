import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// Olm sessions of identity keys that no listed device of the sender has.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct UnlistedPeerTests {
    /// Makes the machine upload its keys.
    /// - Returns: The device keys, and the fallback key, with which any number of sessions can be begun.
    private func published(by fixture: MachineFixture) async throws -> (device: DeviceKeys, key: Curve25519Key) {
        var sync = CryptoSync(kind: .sliding)
        sync.keyCounts = ["signed_curve25519": 50]
        sync.unusedFallbackKeys = []
        _ = try await fixture.machine.received(sync, at: fixture.start)
        var (device, key): (DeviceKeys?, Curve25519Key?) = (nil, nil)
        for case .upload(let body) in try await fixture.answerAll() {
            let upload = try JSONValue(parsing: Data(body))
            if let json = upload["device_keys"] {
                device = try DeviceKeys(json, of: fixture.machine.user, device: fixture.machine.device)
            }
            for value in (upload["fallback_keys"]?.object ?? [:]).values {
                key = try Curve25519Key(base64: value["key"]?.string ?? "")
            }
        }
        return (try #require(device), try #require(key))
    }

    private func count(_ kind: CryptoRecord.Kind, _ fixture: MachineFixture) async -> Int {
        await fixture.storage.cryptoRecords(kind, owner: nil).count
    }

    /// Makes the machine learn which devices of a user there are now.
    private func change(_ user: ExactText, to devices: [TestDevice], _ fixture: MachineFixture, at now: Date)
        async throws
    {
        var sync = CryptoSync(kind: .sliding)
        sync.changed = [user]
        _ = try await fixture.machine.received(sync, at: now)
        try await fixture.answerAll(devices, at: now)
    }

    @Test("Only the latest sessions of invented keys are stored, and other users keep theirs")
    func manyKeys() async throws {
        let fixture = try await MachineFixture()
        let (own, key) = try await published(by: fixture)
        func peers(_ user: ExactText) throws -> [TestPeer] {
            try (0..<UnlistedPeers.maxCount + 10).map { try TestPeer(user, ExactText("D\($0)"), to: own, with: key) }
        }
        let other = try TestPeer("@b:b", "OTHER", to: own, with: key)
        try await fixture.receive([other.share(OutboundGroupSession())])
        let single = try peers("@m:b")
        for (number, peer) in single.enumerated() {
            try await fixture.receive([peer.share(OutboundGroupSession())], at: fixture.start + Double(number))
        }
        for kind in [CryptoRecord.Kind.olmSession, .readMessage, .unlistedPeer] {
            #expect(await count(kind, fixture) == UnlistedPeers.maxCount + 1, "\(kind)")
        }
        let last = try #require(single.last)
        let owner = OlmPeer.owner(OlmPeer.ID(user: "@m:b", identityKey: last.device.account.identityKey))
        #expect(await fixture.storage.cryptoRecords(.olmSession, owner: owner).count == 1)
        // In one response as well. Each room key is read all the same.
        let receipt = try await fixture.receive(peers("@n:b").map { try $0.share(OutboundGroupSession()) })
        #expect(receipt.sessions.count == UnlistedPeers.maxCount + 10)
        for kind in [CryptoRecord.Kind.olmSession, .readMessage, .unlistedPeer] {
            #expect(await count(kind, fixture) == 2 * UnlistedPeers.maxCount + 1, "\(kind)")
        }
        let others = OlmPeer.owner(OlmPeer.ID(user: "@b:b", identityKey: other.device.account.identityKey))
        #expect(await fixture.storage.cryptoRecords(.olmSession, owner: others).count == 1)
    }

    @Test("A key that the current list lacks is removed after an hour without messages; a listed one stays")
    func currentList() async throws {
        let fixture = try await MachineFixture()
        let (own, key) = try await published(by: fixture)
        let listed = try TestPeer("@m:b", "LISTED", to: own, with: key)
        let invented = try TestPeer("@m:b", "INVENTED", to: own, with: key)
        try await fixture.receive([listed.share(OutboundGroupSession()), invented.share(OutboundGroupSession())])
        #expect(await count(.unlistedPeer, fixture) == 2)
        // The first list comes a day later: until then, it is unknown whose keys these are.
        let day = fixture.start + 86_400
        try await fixture.receive([invented.share(OutboundGroupSession())], at: day)
        try await fixture.answerAll([listed.device], at: day)
        #expect(await count(.unlistedPeer, fixture) == 1)
        #expect(await count(.olmSession, fixture) == 2)
        #expect(try await fixture.receive([invented.share(OutboundGroupSession())], at: day + 3600).sessions.count == 1)
        try await change("@m:b", to: [listed.device], fixture, at: day + 7200)
        #expect(await count(.olmSession, fixture) == 2)
        try await change("@m:b", to: [listed.device], fixture, at: day + 7201)
        for kind in [CryptoRecord.Kind.olmSession, .readMessage] { #expect(await count(kind, fixture) == 1) }
        #expect(await count(.unlistedPeer, fixture) == 0)
        #expect(try await fixture.receive([listed.share(OutboundGroupSession())], at: day + 7201).sessions.count == 1)
    }

    @Test("What a device has sent before it was signed out is read for an hour; then its sessions are removed")
    func signedOutDevice() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        let phone = try TestDevice("@a:b", "PHONE")
        try await fixture.know([peer.device, phone])
        try await fixture.receive([peer.share(OutboundGroupSession())])
        #expect(await count(.unlistedPeer, fixture) == 0)
        try await change("@a:b", to: [phone], fixture, at: fixture.start)
        try await change("@a:b", to: [phone], fixture, at: fixture.start + 3600)
        #expect(await count(.unlistedPeer, fixture) == 1)
        let late = try peer.share(OutboundGroupSession())
        #expect(try await fixture.receive([late], at: fixture.start + 3600).sessions.count == 1)
        try await change("@a:b", to: [phone], fixture, at: fixture.start + 7201)
        for kind in [CryptoRecord.Kind.olmSession, .readMessage, .unlistedPeer] {
            #expect(await count(kind, fixture) == 0)
        }
    }

    @Test("A device that is listed again goes on with its sessions")
    func listedAgain() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.know([peer.device])
        try await fixture.receive([peer.share(OutboundGroupSession())])
        try await change("@a:b", to: [], fixture, at: fixture.start)
        #expect(await count(.unlistedPeer, fixture) == 1)
        try await change("@a:b", to: [peer.device], fixture, at: fixture.start)
        #expect(await count(.unlistedPeer, fixture) == 0)
        try await change("@a:b", to: [peer.device], fixture, at: fixture.start + 86_400)
        let late = try peer.share(OutboundGroupSession())
        #expect(try await fixture.receive([late], at: fixture.start + 86_400).sessions.count == 1)
    }

    @Test("A message whose payload is rejected begins no session, and leaves its one-time key to the next one")
    func rejectedPayloads() async throws {
        let fixture = try await MachineFixture()
        let (own, keys) = try await fixture.published()
        let peers = try (0..<3).map { try TestPeer("@m:b", ExactText("D\($0)"), to: own, with: keys[$0]) }
        var payload = try peers[1].payload("m.room_key", peers[1].roomKey(of: OutboundGroupSession()))
        payload["recipient"] = "@other:b"
        let rejected = try peers[1].sealed(payload)
        let before = await fixture.storage.records.count
        #expect(try await fixture.receive([rejected]).rejected == [.recipient: 1])
        #expect(await fixture.storage.records.count == before)
        // Amid others of the same response.
        let receipt = try await fixture.receive([
            peers[0].share(OutboundGroupSession()), rejected, peers[1].share(OutboundGroupSession()),
            peers[2].share(OutboundGroupSession()), peers[0].share(OutboundGroupSession()),
        ])
        #expect(receipt.sessions.count == 4 && receipt.rejected == [.recipient: 1])
        #expect(await count(.olmSession, fixture) == 3)
    }

    @Test("Another device's keys begin without any of these records")
    func anotherDevice() async throws {
        let fixture = try await MachineFixture()
        let peer = try await fixture.peer()
        try await fixture.receive([peer.share(OutboundGroupSession())])
        try await CryptoMachine.begin(user: "@me:b", device: "NEXT", in: fixture.storage, key: fixture.key)
        for kind in [CryptoRecord.Kind.olmSession, .readMessage, .unlistedPeer] {
            #expect(await count(kind, fixture) == 0)
        }
    }
}
