import ChatCore
import CryptoTestSupport
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

/// Devices whose published keys are of small order, with which no secret can be agreed on.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SmallOrderKeyTests {
    private static func key(_ first: UInt8, _ middle: UInt8, _ last: UInt8) -> [UInt8] {
        [first] + [UInt8](repeating: middle, count: 30) + [last]
    }

    /// All of them, in the one spelling that is read: 0, 1, −1, and two of order 8.
    private static let keys: [[UInt8]] = [
        key(0, 0, 0), key(1, 0, 0), key(0xEC, 0xFF, 0x7F),
        [
            0xE0, 0xEB, 0x7A, 0x7C, 0x3B, 0x41, 0xB8, 0xAE, 0x16, 0x56, 0xE3, 0xFA, 0xF1, 0x9F, 0xC4, 0x6A,
            0xDA, 0x09, 0x8D, 0xEB, 0x9C, 0x32, 0xB1, 0xFD, 0x86, 0x62, 0x05, 0x16, 0x5F, 0x49, 0xB8, 0x00,
        ],
        [
            0x5F, 0x9C, 0x95, 0xBC, 0xA3, 0x50, 0x8C, 0x24, 0xB1, 0xD0, 0xB1, 0x55, 0x9C, 0x83, 0xEF, 0x5B,
            0x04, 0x44, 0x5C, 0xC4, 0x58, 0x1C, 0x8E, 0x86, 0xD8, 0x22, 0x4E, 0xDD, 0xD0, 0x9F, 0x11, 0x57,
        ],
    ]

    @Test(
        "A device with such a key gets no session and is notified; another one of the same answer gets the room key",
        arguments: [true, false], keys)
    func claims(isIdentityKey: Bool, bytes: [UInt8]) async throws {
        var fixture = try await SendingFixture()
        let key = try Curve25519Key(bytes: bytes)
        // The other device's claim is before or after this one's.
        for user: ExactText in ["@0:b", "@z:b"] {
            var device = try TestDevice(user, "WEAK")
            if isIdentityKey { device.publishedIdentityKey = key }
            let reader = ReadingDevice(device)
            if !isIdentityKey { reader.publishedOneTimeKey = key }
            fixture.members[user] = "join"
            fixture.readers.append(reader)
        }
        let sealed = try await fixture.say("Text")
        #expect(fixture.counts["claim"] == 1)
        #expect(try fixture.reader("A1").read(sealed)?.text == "Text")
        #expect(fixture.readers.dropFirst().allSatisfy { $0.contents.isEmpty })
        try await fixture.answerAll()
        #expect(fixture.withheld.map { $0["code"] } == ["m.no_olm", "m.no_olm"])
        // Nothing of it is left behind.
        let next = try await fixture.say("Next")
        #expect(try fixture.reader("A1").read(next)?.text == "Next")
    }
}
