import ChatCore
public import Foundation
import JSONReading

/// A to-device message that must reach the server, with its final content.
public struct DeviceMessage: Codable, Equatable, Sendable {
    public let type: String
    /// The transaction ID, the same for each attempt, so that the server recognizes duplicates.
    public let transaction: String
    public let user: String
    public let device: String
    /// A JSON object.
    public let content: Data
}

/// Requests that must reach the server, in order, stored until the server has answered.
struct OutgoingQueue {
    enum Item: Codable, Equatable, Sendable {
        case message(DeviceMessage)
        case batch(DeviceBatch)
        /// The body of a `keys/signatures/upload`.
        case signatures(Data)
        /// No session decrypts this device's messages: a new one has to be established.
        case repair(user: String, identityKey: [UInt8])
    }

    /// The queue size beyond which repairs are dropped; honest devices do not break in such numbers.
    static let maxRepairs = 1_000
    /// The number of repairs per user beyond which further ones are dropped.
    static let maxRepairsOfUser = 20

    private(set) var items: [UInt64: Item]
    private var unsaved: Set<UInt64> = []
    private var next: UInt64

    /// - Parameter records: Records of the kind ``CryptoRecord/Kind/outgoingRequest``. An unreadable one is an error:
    ///   ``DamagedRecords`` has to have its message made again first.
    init(records: [CryptoRecord]) throws {
        items = [:]
        for record in records {
            let (number, item) = try Self.decoded(record)
            items[number] = item
        }
        next = (items.keys.max() ?? 0) + 1
    }

    static func decoded(_ record: CryptoRecord) throws -> (number: UInt64, item: Item) {
        guard let number = UInt64(record.key.id.text), number < .max else { throw KeyUpkeep.Failure.state }
        return (number, try JSONDecoder().decode(Item.self, from: record.value))
    }

    /// Repairs are limited, as anyone can cause them; everything else must be sent.
    func hasRoom(for item: Item) -> Bool {
        guard case .repair(let user, _) = item else { return true }
        var count = 0
        for case .repair(let other, _) in items.values where ExactText(other) == ExactText(user) { count += 1 }
        return count < Self.maxRepairsOfUser && items.count < Self.maxRepairs && !items.values.contains(item)
    }

    mutating func add(_ item: Item) {
        guard hasRoom(for: item) else { return }
        items[next] = item
        unsaved.insert(next)
        next += 1
    }

    mutating func remove(_ number: UInt64) {
        guard items.removeValue(forKey: number) != nil else { return }
        unsaved.insert(number)
    }

    var isEmpty: Bool { items.isEmpty }

    /// Whether a signature of this device waits for being uploaded.
    func holdsSignature(of device: DeviceID) -> Bool {
        items.values.contains { item in
            guard case .signatures(let body) = item else { return false }
            return SignatureUpload(body).objects.contains(device)
        }
    }

    /// Whether a message of a verification between devices waits for being sent.
    func holdsMessage(ofVerification id: ExactText) -> Bool {
        items.values.contains { item in
            guard case .message(let message) = item, message.type.hasPrefix(VerificationFlow.prefix) else {
                return false
            }
            // Written by this device, so that it can be parsed.
            return (try? JSONValue(parsing: message.content))?["transaction_id"]?.exactText == id
        }
    }

    /// The next item to send.
    /// - Parameters:
    ///   - delays: The retry delays of items, by their number. Items behind them do not wait.
    ///   - kinds: The kinds of requests to skip.
    func nextToSend(
        after delays: [UInt64: RetryDelay], skipping kinds: Set<CryptoRequest.Kind>, at now: Date
    ) -> (number: UInt64, action: CryptoRequest.Action)? {
        for number in items.keys.sorted() where delays[number]?.until ?? now <= now {
            let action: CryptoRequest.Action
            switch items[number] {
            case .message(let message)?: action = .send(message)
            case .batch(let batch)?: action = .sendAll(batch)
            case .signatures(let body)?: action = .uploadSignatures(body)
            case .repair?, nil: continue
            }
            if !kinds.contains(action.kind) { return (number, action) }
        }
        return nil
    }

    func unsavedChange() throws -> CryptoChange {
        var change = CryptoChange()
        for number in unsaved {
            // Zero-padded, so that lexicographic order is numeric order.
            let digits = String(number)
            let id = ExactText(String(repeating: "0", count: 20 - digits.count) + digits)
            let key = CryptoRecord.Key(.outgoingRequest, id: id)
            if let item = items[number] {
                change.put.append(CryptoRecord(key, value: try JSONEncoder().encode(item)))
            } else {
                change.removed.insert(key)
            }
        }
        return change
    }

    mutating func saved() { unsaved = [] }
}
