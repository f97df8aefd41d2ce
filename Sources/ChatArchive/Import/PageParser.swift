import ChatCore
import Foundation

/// Parses a room that this application exported as HTML (``HTMLExport``): the records in its comments are passed on as
/// one JSON text.
final class PageParser: ConversationParser {
    /// The maximum size of a record in bytes; that of the room contains all members.
    private static let maxBytes = 64 << 20
    private static let start = Array("<!--\(HTMLExport.record)".utf8)
    private static let end = Array("-->".utf8)

    private let parser: ParlanceParser
    /// The number of matched bytes of ``start``.
    private var matched = 0
    private var record: [UInt8] = []
    private var isInRecord = false
    private var count = 0

    /// See ``ParlanceParser/init(paths:base:)``.
    init(paths: Set<String>, base: String) {
        parser = ParlanceParser(paths: paths, base: base)
    }

    func feed(_ bytes: Data) throws {
        for byte in bytes {
            if isInRecord {
                try add(byte)
            } else if byte == Self.start[matched] {
                matched += 1
                if matched == Self.start.count { (isInRecord, matched) = (true, 0) }
            } else {
                // The first byte occurs only once in ``start``, so no longer prefix can match.
                matched = byte == Self.start[0] ? 1 : 0
            }
        }
    }

    private func add(_ byte: UInt8) throws {
        record.append(byte)
        guard record.count <= Self.maxBytes else {
            throw ArchiveError.malformed(line: 0, reason: "a record without an end")
        }
        guard byte == Self.end[2], record.suffix(3).elementsEqual(Self.end) else { return }
        isInRecord = false
        try finish(record.dropLast(3))
        record = []
    }

    /// The first record is the room object, to which the others are added as `messages`.
    private func finish(_ found: ArraySlice<UInt8>) throws {
        count += 1
        if count == 1 {
            try parser.feed(Data(found.dropLast()) + Data(",\"messages\":[".utf8))
        } else {
            try parser.feed((count > 2 ? Data(",".utf8) : Data()) + Data(found))
        }
    }

    func finish() throws {
        guard count > 0 else { throw ArchiveError.unknownFormat }
        try parser.feed(Data("]}".utf8))
        try parser.finish()
    }

    func drainEvents() -> [ImportEvent] { parser.drainEvents() }
}
