import ChatCore
import Foundation
import JSONReading
import MatrixCrypto
import Testing

/// A room's encryption is never forgotten or loosened.
@Suite struct EncryptedRoomTests {
    private let now = Date(timeIntervalSince1970: 1_000_000)
    private static let megolm: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2"]

    private static func megolm(_ messages: Int64, _ age: Int64) -> JSONValue {
        [
            "algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": .integer(messages),
            "rotation_period_ms": .integer(age),
        ]
    }

    private func noted(_ contents: JSONValue...) async throws -> EncryptedRoom? {
        let storage = FakeCryptoStorage()
        for content in contents {
            try await EncryptedRoom.note([("!r:b", content)], in: storage, at: now)
        }
        return try await EncryptedRoom.stored("!r:b", in: storage)
    }

    @Test("Any content marks a room as encrypted", arguments: [.null, [:], 5, ["algorithm": 5], megolm])
    func anything(_ content: JSONValue) async throws {
        let room = try #require(try await noted(content))
        #expect(room.isSupported && room.maxMessages == 100 && room.maxAge == 604_800_000)
        #expect(room.firstSeen == 1_000_000_000)
    }

    @Test("A later event can only shorten the periods, and an unknown algorithm never replaces a known one")
    func later() async throws {
        let first = Self.megolm(500, 1_000_000_000)
        let same = try #require(try await noted(first))
        #expect(same.maxMessages == 500 && same.maxAge == 1_000_000_000)
        for other: JSONValue in [
            .null, [:], Self.megolm, Self.megolm(600, 2_000_000_000), ["algorithm": "m.other"],
            ["algorithm": "m.other", "rotation_period_msgs": 1], ["rotation_period_msgs": 1],
        ] {
            #expect(try await noted(first, other) == same)
        }
        let stricter = try #require(try await noted(first, Self.megolm(50, 2_000_000_000)))
        #expect(stricter.maxMessages == 50 && stricter.maxAge == 1_000_000_000)
    }

    @Test("Periods are bounded")
    func bounds() async throws {
        let least = try #require(try await noted(Self.megolm(-5, 0)))
        #expect(least.maxMessages == 1 && least.maxAge == 3_600_000)
        let most = try #require(try await noted(Self.megolm(.max, .max)))
        #expect(most.maxMessages == 10_000 && most.maxAge == 2_678_400_000)
    }

    @Test(
        "A room with an unknown algorithm is encrypted, and nothing can be written into it until a known one is named")
    func unknownAlgorithm() async throws {
        #expect(try await noted(["algorithm": "m.other"])?.isSupported == false)
        #expect(try await noted(["algorithm": "m.other"], Self.megolm)?.isSupported == true)
    }

    @Test("A damaged record is an error until it is replaced by the strictest settings, and a copy of it stays")
    func damaged() async throws {
        let storage = FakeCryptoStorage()
        try await EncryptedRoom.note([("!r:b", ["algorithm": "m.other"])], in: storage, at: now)
        await storage.set(Data("x".utf8), for: CryptoRecord.Key(.encryptedRoom, owner: "!r:b"))
        await #expect(throws: DecodingError.self) { try await EncryptedRoom.stored("!r:b", in: storage) }
        let later = now.addingTimeInterval(60)
        try await EncryptedRoom.note([("!other:b", Self.megolm), ("!r:b", .null)], in: storage, at: later)
        let room = try #require(try await EncryptedRoom.stored("!r:b", in: storage))
        #expect(room.isSupported && room.maxMessages == 1 && room.maxAge == 3_600_000)
        // Whatever was queued until then may have been sent in the clear.
        #expect(room.firstSeen == Int64(later.timeIntervalSince1970 * 1000))
        #expect(try await EncryptedRoom.stored("!other:b", in: storage)?.maxMessages == 100)
        #expect(await storage.cryptoRecords(.damaged, owner: nil).map(\.value) == [Data("x".utf8)])
        // What it names later counts, and is not damaged.
        try await EncryptedRoom.note([("!r:b", ["algorithm": "m.other"])], in: storage, at: later)
        #expect(try await EncryptedRoom.stored("!r:b", in: storage)?.isSupported == false)
    }

    @Test("Nothing is recorded that cannot be stored")
    func failures() async throws {
        let storage = FakeCryptoStorage()
        await storage.fail(1)
        await #expect(throws: (any Error).self) {
            try await EncryptedRoom.note([("!r:b", Self.megolm)], in: storage, at: now)
        }
        #expect(try await EncryptedRoom.stored("!r:b", in: storage) == nil)
    }
}
