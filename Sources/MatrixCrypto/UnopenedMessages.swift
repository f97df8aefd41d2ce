public import ChatCore
public import Foundation
public import JSONReading

/// To-device messages received while the keys could not be opened. A plain sync delivers each only once, so they are
/// stored as received, which needs no keys, and processed once the keys are open.
public enum UnopenedMessages {
    /// More than arrive in months. Beyond this the newest are dropped, as messages may depend on earlier ones.
    static let maxCount = 10_000
    static let maxBytes = 32 * 1024 * 1024
    /// The limits for one sender, so that none uses up the space of all others.
    static let maxCountOfSender = 500
    static let maxBytesOfSender = 2 * 1024 * 1024
    /// No genuine message is longer.
    private static let maxMessage = 256 * 1024
    private static let messagesInRecord = 100
    /// Messages of other types are obsolete before anyone could answer them.
    private static let types: Set = ["m.room.encrypted", "m.room_key.withheld"]
    fileprivate static let headKey = CryptoRecord.Key(.unopenedMessage)

    /// The fields of a message that are processed later.
    fileprivate struct Message {
        let sender: ExactText
        let json: [UInt8]

        /// - Returns: `nil` if the message is irrelevant, too long or malformed.
        init?(_ event: JSONValue) {
            guard let type = event["type"], types.contains(type.string ?? ""), let sender = event["sender"],
                let user = sender.exactText, (1...DeviceKeys.maxIdentifier).contains(user.bytes.count),
                let content = event["content"],
                let json = try? CanonicalJSON.bytes(of: ["type": type, "sender": sender, "content": content]),
                json.count <= maxMessage
            else { return nil }
            self.sender = user
            self.json = json
        }
    }

    /// What is stored, in total and by sender.
    fileprivate struct Head {
        var next = 1
        private var total = Usage()
        private var senders: [ExactText: Usage] = [:]

        private struct Usage {
            var count = 0
            var bytes = 0

            mutating func add(_ size: Int) {
                count += 1
                bytes += size
            }
        }

        private struct Stored: Codable {
            let next: Int
            let count: Int
            let bytes: Int
            let senders: [Sender]

            /// An array, as IDs that are canonically equivalent would be one key of an object.
            struct Sender: Codable {
                let user: StoredBytes
                let count: Int
                let bytes: Int
            }
        }

        /// An unreadable head is recomputed from the records, as is that of an earlier version, without senders.
        init(in storage: any CryptoStorage) async throws {
            if let record = try await storage.cryptoRecord(headKey),
                let stored = try? JSONDecoder().decode(Stored.self, from: record.value)
            {
                self.init(stored)
            } else {
                self.init(of: try await records(in: storage))
            }
        }

        private init(_ stored: Stored) {
            next = stored.next
            total = Usage(count: stored.count, bytes: stored.bytes)
            for sender in stored.senders {
                senders[ExactText(bytes: sender.user.bytes)] = Usage(count: sender.count, bytes: sender.bytes)
            }
        }

        private init(of records: [CryptoRecord]) {
            next = (records.compactMap { Int($0.key.id.text) }.max() ?? 0) + 1
            for record in records {
                let events = (try? JSONValue(parsing: record.value))?.array ?? []
                for event in events {
                    if let message = Message(event) { add(message) }
                }
            }
        }

        func record() throws -> CryptoRecord {
            let stored = Stored(
                next: next, count: total.count, bytes: total.bytes,
                senders: senders.map { user, usage in
                    Stored.Sender(user: StoredBytes(user.bytes), count: usage.count, bytes: usage.bytes)
                })
            return CryptoRecord(headKey, value: try JSONEncoder().encode(stored))
        }

        func hasRoom(for message: Message) -> Bool {
            let (size, own) = (message.json.count, senders[message.sender] ?? Usage())
            return total.count < maxCount && total.bytes + size <= maxBytes && own.count < maxCountOfSender
                && own.bytes + size <= maxBytesOfSender
        }

        mutating func add(_ message: Message) {
            total.add(message.json.count)
            senders[message.sender, default: Usage()].add(message.json.count)
        }
    }

    /// Stores messages. They are on the disk when this returns.
    public static func keep(_ events: [JSONValue], in storage: any CryptoStorage) async throws {
        let readable = events.compactMap { Message($0) }
        guard !readable.isEmpty else { return }
        var head = try await Head(in: storage)
        var change = CryptoChange()
        var rest = readable[...]
        while !rest.isEmpty {
            let part = rest.prefix(messagesInRecord)
            rest = rest.dropFirst(messagesInRecord)
            var kept: [[UInt8]] = []
            for message in part where head.hasRoom(for: message) {
                head.add(message)
                kept.append(message.json)
            }
            guard !kept.isEmpty else { continue }
            change.put.append(record(head.next, kept))
            head.next += 1
        }
        guard !change.isEmpty else { return }
        change.put.append(try head.record())
        try await storage.commit(change)
    }

    private static func record(_ number: Int, _ events: [[UInt8]]) -> CryptoRecord {
        // Zero-padded, so that lexicographic order is numeric order.
        let digits = String(number)
        let id = ExactText(String(repeating: "0", count: max(0, 20 - digits.count)) + digits)
        var array = Data()
        for event in events {
            array.append(UInt8(ascii: array.isEmpty ? "[" : ","))
            array.append(contentsOf: event)
        }
        array.append(UInt8(ascii: "]"))
        return CryptoRecord(CryptoRecord.Key(.unopenedMessage, id: id), value: array)
    }

    /// In order of arrival.
    private static func records(in storage: any CryptoStorage) async throws -> [CryptoRecord] {
        try await storage.cryptoRecords(.unopenedMessage, owner: nil).filter { $0.key != headKey }
    }
}

extension CryptoMachine {
    /// Processes the messages in ``UnopenedMessages``. A message that fails because of damaged records stays stored.
    public func receiveUnopened(at now: Date) async throws -> CryptoReceipt {
        let records = try await storage.cryptoRecords(.unopenedMessage, owner: nil)
        guard !records.isEmpty else { return CryptoReceipt() }
        var receipt = CryptoReceipt()
        for record in records where record.key != UnopenedMessages.headKey {
            guard let events = (try? JSONValue(parsing: record.value))?.array else {
                try await change { _, change in _ = change.removed.insert(record.key) }
                continue
            }
            do {
                receipt.add(try await receive(events, endingWith: CryptoChange(removed: [record.key]), at: now))
            } catch let error where !error.isOfStorage {
                try await receiveEach(of: events, in: record, &receipt, at: now)
            }
        }
        // Made anew from the records with the next message. One made here would lack those that were added meanwhile,
        // and the next would replace them.
        try await change { _, change in _ = change.removed.insert(UnopenedMessages.headKey) }
        return receipt
    }

    private func receiveEach(
        of events: [JSONValue], in record: CryptoRecord, _ receipt: inout CryptoReceipt, at now: Date
    ) async throws {
        var left: [JSONValue] = []
        for event in events {
            do {
                receipt.add(try await receive([event], endingWith: CryptoChange(), at: now))
            } catch let error where !error.isOfStorage {
                left.append(event)
            }
        }
        let rest =
            left.isEmpty
            ? nil : CryptoRecord(record.key, value: Data(try CanonicalJSON.bytes(of: .array(left))))
        try await change { _, change in
            if let rest { change.put.append(rest) } else { change.removed.insert(record.key) }
        }
    }

    private func receive(
        _ events: [JSONValue], endingWith end: CryptoChange, at now: Date
    ) async throws -> CryptoReceipt {
        try await change { state, change in
            var receipt = CryptoReceipt()
            try await self.takeMessages(events, outdating: nil, &state, &change, &receipt, at: now)
            change.merge(end)
            return receipt
        }
    }
}

extension Error {
    /// Whether a later attempt may succeed, as after a full disk.
    var isOfStorage: Bool { self is ChatError || self is CancellationError }
}

extension CryptoReceipt {
    fileprivate mutating func add(_ other: CryptoReceipt) {
        sessions.formUnion(other.sessions)
        rejected.merge(other.rejected, uniquingKeysWith: +)
    }
}
