import ChatCore
import Foundation
import GRDB

extension Row {
    /// Returns the column's value. Unlike GRDB's subscript, which traps, this throws if a damaged file contains another
    /// type.
    func value<T: DatabaseValueConvertible>(_ column: String) throws -> T {
        guard let value = try optional(column) as T? else { throw UnreadableColumn(name: column) }
        return value
    }

    /// Returns the column's value, or `nil` for NULL.
    func optional<T: DatabaseValueConvertible>(_ column: String) throws -> T? {
        let stored: DatabaseValue = self[column]
        if stored.isNull { return nil }
        guard let value = T.fromDatabaseValue(stored) else { throw UnreadableColumn(name: column) }
        return value
    }

    /// Returns the column's value as a raw representable type.
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
    /// Creates a date from its stored form. Stored dates survive the round trip unchanged.
    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Milliseconds since 1970, clamped to ±100 million days as in ECMAScript.
    var milliseconds: Int64 {
        let exact = (timeIntervalSince1970 * 1000).rounded()
        guard exact.isFinite else { return 0 }
        return Int64(min(max(exact, -8.64e15), 8.64e15))
    }
}
