import ChatCore
import Foundation

/// A room as this application exports it as a page (``HTMLExport``): what that tells in its comments, as one JSON text.
final class PageParser: ConversationParser {
    /// Bytes of one record: that of a room names each of its members.
    private static let maxBytes = 64 << 20
    private static let start = Array("<!--\(HTMLExport.record)".utf8)
    private static let end = Array("-->".utf8)

    private let parser: ParlanceParser
    /// How much of ``start`` was just read.
    private var matched = 0
    /// The record that is under way.
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
                // Nothing in the sign looks like its beginning.
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

    /// The first record is the room, and holds all others.
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
