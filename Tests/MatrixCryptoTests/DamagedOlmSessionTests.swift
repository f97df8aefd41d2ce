import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// Olm sessions whose records cannot be decoded.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct DamagedOlmSessionTests {
    /// No JSON, no pickle, and a pickle that is no text.
    private static let damages = ["damaged", #"{"use":1,"pickle":"AAAA"}"#, #"{"use":1,"pickle":"////"}"#]

    @Test("A device whose session is damaged gets the room key by a new one, which replaces it", arguments: damages)
    func sending(damage: String) async throws {
        var fixture = try await SendingFixture()
        _ = try await fixture.say("One")
        let storage = fixture.machine.storage
        let record = try #require(await storage.cryptoRecords(.olmSession, owner: nil).first)
        await storage.set(Data(damage.utf8), for: record.key)
        fixture.now += 8 * 86_400
        let second = try await fixture.say("Two")
        #expect(try fixture.reader("A1").read(second)?.text == "Two")
        #expect(fixture.counts["claim"] == 2)
        let left = await storage.cryptoRecords(.olmSession, owner: nil)
        #expect(left.count == 1 && left.first?.key != record.key)
    }

    @Test("A message of a damaged session has a new one begun, and costs no other message", arguments: damages)
    func receiving(damage: String) async throws {
        let fixture = try await MachineFixture()
        let (own, keys) = try await fixture.published()
        let peer = try TestPeer("@a:b", "A", to: own, with: keys[0])
        try await fixture.know([peer.device])
        try await fixture.receive([peer.share(OutboundGroupSession())])
        let record = try #require(await fixture.storage.cryptoRecords(.olmSession, owner: nil).first)
        await fixture.storage.set(Data(damage.utf8), for: record.key)
        let other = try TestPeer("@c:b", "C", to: own, with: keys[1])
        let receipt = try await fixture.receive([
            peer.share(OutboundGroupSession()), other.share(OutboundGroupSession()),
        ])
        #expect(receipt.sessions.count == 1 && receipt.rejected == [.unreadable: 1])
        var claimed: [ExactText] = []
        for case .claim(let claims) in try await fixture.answerAll([peer.device, other.device]) {
            claimed += claims.map(\.device)
        }
        #expect(claimed == ["A"])
    }
}
