import ChatCore
import Foundation
import GRDB

extension Row {
    /// The column's value. Unlike GRDB's subscript, which traps, this throws when a damaged file holds something else.
    func value<T: DatabaseValueConvertible>(_ column: String) throws -> T {
        guard let value = try optional(column) as T? else { throw UnreadableColumn(name: column) }
        return value
    }

    /// The column's value, nil for NULL.
    func optional<T: DatabaseValueConvertible>(_ column: String) throws -> T? {
        let stored: DatabaseValue = self[column]
        if stored.isNull { return nil }
        guard let value = T.fromDatabaseValue(stored) else { throw UnreadableColumn(name: column) }
        return value
    }

    /// A column that holds one of a type's raw values.
    func choice<T: RawRepresentable>(_ column: String) throws -> T where T.RawValue == String {
        guard let value = T(rawValue: try value(column)) else { throw UnreadableColumn(name: column) }
        return value
    }

    func flag(_ column: String) throws -> Bool {
        try value(column) as Int64 != 0
    }

    func identifier<S>(_ column: String) throws -> Identifier<S> {
        Identifier(try value(column) as String)
    }

    func optionalIdentifier<S>(_ column: String) throws -> Identifier<S>? {
        (try optional(column) as String?).map { Identifier($0) }
    }

    func date(_ column: String) throws -> Date {
        Date(milliseconds: try value(column))
    }

    func optionalDate(_ column: String) throws -> Date? {
        (try optional(column) as Int64?).map { Date(milliseconds: $0) }
    }
}

extension Date {
    /// As stored: a date read back equals the date it was stored from, once rounded.
    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Milliseconds since 1970, within ± 100 million days of it as in ECMAScript.
    var milliseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1000).rounded()
        guard exact.isFinite else { return 0 }
        return Int64(min(max(exact, -8.64e15), 8.64e15))
    }
}
