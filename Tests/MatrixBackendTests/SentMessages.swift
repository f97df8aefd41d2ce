import CryptoTestSupport
import Foundation
import JSONReading
import Ratchets
import Testing

/// What an account has sent to a recording server in a random history.
struct SentMessages {
    let server: RecordingHomeserver
    let seed: UInt64

    /// Expects that no request has a word of what the user wrote and attached, from when on the room is encrypted.
    func expectNothingInTheClear(of marker: String) {
        // The type of a received file, such as one to forward, is in lower case.
        let markers = [marker, marker.lowercased()].map { Data($0.utf8) }
        for bytes in server.sealedBytes {
            let data = Data(bytes)
            #expect(markers.allSatisfy { data.range(of: $0) == nil }, "seed \(seed)")
        }
    }

    /// Expects all messages, and that neither they nor edits were sent unencrypted and then encrypted.
    func expectEachOnce(of written: Int) {
        let transactions = server.events.compactMap { $0["unsigned"]?["transaction_id"]?.string }
        #expect(Set(transactions).count == transactions.count, "seed \(seed)")
        let messages = transactions.filter { ["c", "w"].contains($0.prefix(1)) && Int($0.dropFirst()) != nil }
        #expect(Set(messages).count == messages.count && messages.count == written, "seed \(seed)")
    }

    func expectIndicesAreUsedOnce() throws {
        var used: Set<String> = []
        for content in encrypted {
            let index = try Self.index(of: content)
            let isNew = used.insert("\(content["session_id"]?.string ?? "") \(index)").inserted
            #expect(isNew, "seed \(seed)")
        }
    }

    /// Expects that another device can decrypt all that was sent encrypted.
    func expectReadable(by reader: ReadingDevice) throws {
        for message in server.keyMessages { try reader.receive(message) }
        for content in encrypted { #expect(try reader.read(content) != nil, "seed \(seed)") }
    }

    private var encrypted: [JSONValue] {
        server.events.filter { $0["type"] == "m.room.encrypted" }.map { $0["content"] ?? .null }
    }

    /// The index of a Megolm message, which begins with its version and, as a protocol buffer, the index.
    private static func index(of sealed: JSONValue) throws -> UInt64 {
        let bytes = try Base64.decoded(sealed["ciphertext"]?.string ?? "").dropFirst()
        guard bytes.first == 8 else { return 0 }
        var index: UInt64 = 0
        for (position, byte) in bytes.dropFirst().prefix(5).enumerated() {
            index |= UInt64(byte & 0x7F) << UInt64(7 * position)
            if byte < 0x80 { break }
        }
        return index
    }
}
