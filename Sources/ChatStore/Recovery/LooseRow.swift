import Foundation
import GRDB

/// A row found on a page, with its table unknown.
struct LooseRow {
    let key: Int64
    /// In SQLite's record format.
    let record: [UInt8]

    /// Decodes the values; returns `nil` unless they fill the record exactly and all text is valid UTF-8.
    func values() -> [DatabaseValue]? {
        let bytes = PageBytes(record)
        var offset = 0
        guard let headerSize = bytes.varint(&offset), headerSize > 0, headerSize <= Int64(record.count) else {
            return nil
        }
        var types: [Int64] = []
        while offset < Int(headerSize) {
            guard types.count < Self.maxColumns, let type = bytes.varint(&offset), type >= 0 else { return nil }
            types.append(type)
        }
        guard offset == Int(headerSize) else { return nil }
        var values: [DatabaseValue] = []
        for type in types {
            guard let value = Self.value(of: type, in: record, at: &offset) else { return nil }
            values.append(value)
        }
        return offset == record.count ? values : nil
    }

    private static let maxColumns = 64

    private static func value(of type: Int64, in record: [UInt8], at offset: inout Int) -> DatabaseValue? {
        let sizes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
        let size: Int
        switch type {
        case 0...9: size = sizes[Int(type)]
        case 12...: size = Int(clamping: (type - 12) / 2)
        default: return nil
        }
        guard size <= record.count - offset else { return nil }
        let bytes = record[offset..<offset + size]
        offset += size
        switch type {
        case 0: return .null
        case 1...6:
            let isNegative = bytes.first.map { $0 & 0x80 != 0 } ?? false
            return bytes.reduce(isNegative ? -1 : 0 as Int64) { $0 << 8 | Int64($1) }.databaseValue
        case 7: return Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) }).databaseValue
        case 8: return Int64(0).databaseValue
        case 9: return Int64(1).databaseValue
        case _ where type % 2 == 0: return Data(bytes).databaseValue
        default: return String(validating: bytes, as: UTF8.self)?.databaseValue
        }
    }
}
