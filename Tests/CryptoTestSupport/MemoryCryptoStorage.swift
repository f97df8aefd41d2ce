public import ChatCore
import Foundation

/// In-memory storage that groups records by kind, for fast lookup.
public actor MemoryCryptoStorage: CryptoStorage {
    private var records: [CryptoRecord.Kind: [CryptoRecord.Key: Data]] = [:]
    private var read: [GroupMessage: ExactText] = [:]

    public init() {}

    /// Copies the current content of another storage.
    public init(copying other: MemoryCryptoStorage) async {
        records = await other.records
        read = await other.read
    }

    public var count: Int { records.values.reduce(0) { $0 + $1.count } }

    public func cryptoRecords(_ kind: CryptoRecord.Kind, owner: ExactText?) -> [CryptoRecord] {
        records(kind) { owner == nil || $0.owner == owner }
    }

    private func records(
        _ kind: CryptoRecord.Kind, where isRequested: (CryptoRecord.Key) -> Bool
    ) -> [CryptoRecord] {
        (records[kind] ?? [:]).filter { isRequested($0.key) }.map { CryptoRecord($0.key, value: $0.value) }
            .sorted { ($0.key.owner, $0.key.id) < ($1.key.owner, $1.key.id) }
    }

    public func cryptoRecords(
        _ kind: CryptoRecord.Kind, owners: Set<ExactText>, limit: Int?
    ) -> [ExactText: [CryptoRecord]] {
        Dictionary(grouping: records(kind) { owners.contains($0.owner) }, by: \.key.owner)
            .mapValues { Array($0.prefix(limit ?? .max)) }
    }

    public func cryptoRecords(
        _ kind: CryptoRecord.Kind, after key: CryptoRecord.Key?, limit: Int
    ) -> [CryptoRecord] {
        let all = cryptoRecords(kind, owner: nil)
        guard let key else { return Array(all.prefix(limit)) }
        return Array(all.filter { (key.owner, key.id) < ($0.key.owner, $0.key.id) }.prefix(limit))
    }

    public func cryptoRecordCount(_ kind: CryptoRecord.Kind) -> Int { records[kind]?.count ?? 0 }

    public func cryptoRecord(_ key: CryptoRecord.Key) -> CryptoRecord? {
        records[key.kind]?[key].map { CryptoRecord(key, value: $0) }
    }

    public func events(readFrom messages: Set<GroupMessage>) -> [GroupMessage: ExactText] {
        var found: [GroupMessage: ExactText] = [:]
        for message in messages { found[message] = read[message] }
        return found
    }

    public private(set) var changes: UInt64 = 0
    public func changeCount() -> UInt64 { changes }

    public func commit(_ change: CryptoChange) {
        changes += 1
        for key in change.removed { records[key.kind]?[key] = nil }
        for record in change.put { records[record.key.kind, default: [:]][record.key] = record.value }
        read.merge(change.read) { first, _ in first }
    }
}
