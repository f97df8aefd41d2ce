import ChatCore
public import Foundation

/// A message to a device that must reach the server, encrypted already.
public struct DeviceMessage: Codable, Equatable, Sendable {
    public let type: String
    /// The same in each attempt: the server knows by it what it has.
    public let transaction: String
    public let user: String
    public let device: String
    /// A JSON object.
    public let content: Data
}

/// What must reach the server, in the order in which it was added, stored until the server has answered.
struct OutgoingQueue {
    enum Item: Codable, Equatable, Sendable {
        case message(DeviceMessage)
        case batch(DeviceBatch)
        /// The body of a `keys/signatures/upload`.
        case signatures(Data)
        /// Nothing reads the messages of this device: a new session is to be made with it.
        case repair(user: String, identityKey: [UInt8])
    }

    /// More devices than break at a time.
    static let maxRepairs = 1_000
    /// More than a user's devices that break at a time.
    static let maxRepairsOfUser = 20

    private(set) var items: [UInt64: Item]
    private var unsaved: Set<UInt64> = []
    private var next: UInt64

    /// - Parameter records: Those of the kind ``CryptoRecord/Kind/outgoingRequest``. One that cannot be read is an error:
    ///   a message that is lost is never sent again.
    init(records: [CryptoRecord]) throws {
        items = [:]
        for record in records {
            guard let number = UInt64(record.key.id.text) else { throw KeyUpkeep.Failure.state }
            items[number] = try JSONDecoder().decode(Item.self, from: record.value)
        }
        next = (items.keys.max() ?? 0) + 1
    }

    /// What has to be sent always has; anybody can make repairs necessary.
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

    var holdsSignatures: Bool {
        items.values.contains { if case .signatures = $0 { true } else { false } }
    }

    /// What is the next to be sent.
    var nextToSend: (number: UInt64, action: CryptoRequest.Action)? {
        for number in items.keys.sorted() {
            switch items[number] {
            case .message(let message)?: return (number, .send(message))
            case .batch(let batch)?: return (number, .sendAll(batch))
            case .signatures(let body)?: return (number, .uploadSignatures(body))
            case .repair?, nil: continue
            }
        }
        return nil
    }

    func unsavedChange() throws -> CryptoChange {
        var change = CryptoChange()
        for number in unsaved {
            // With leading zeros, so that their order is that of the numbers.
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
