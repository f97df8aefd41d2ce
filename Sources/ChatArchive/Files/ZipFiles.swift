import CArchive
import ChatCore
import Foundation

/// A ZIP file, read by libarchive.
struct ZipFiles: SourceFiles {
    /// More are not looked at.
    static let mostEntries = 500_000

    let entries: [SourceEntry]
    private let path: String

    /// Whether a file begins as ZIP files do.
    static func isZip(_ start: Data) -> Bool { start.starts(with: [0x50, 0x4B, 0x03, 0x04]) }

    /// - Throws: ``ArchiveError``.
    init(_ url: URL) throws {
        path = url.path
        var entries: [SourceEntry] = []
        let archive = try OpenArchive(path)
        while let entry = try archive.next(), entries.count < Self.mostEntries {
            if entry.isFile { entries.append(SourceEntry(path: entry.path, size: entry.size)) }
        }
        self.entries = entries
    }

    /// Whatever lies in the wanted order is read in one pass over the archive.
    func read(_ paths: [String], _ body: (String, any ByteReader) async throws -> Void) async throws {
        var rest = paths[...]
        while !rest.isEmpty {
            let archive = try OpenArchive(path)
            let before = rest.count
            while let wanted = rest.first, let entry = try archive.next() {
                guard entry.isFile, entry.path == wanted else { continue }
                try await body(wanted, archive)
                rest.removeFirst()
            }
            guard rest.count < before else { throw ArchiveError.unreadable(path: rest.first ?? path) }
        }
    }
}

/// An archive at one of its entries.
private final class OpenArchive: ByteReader {
    struct Entry {
        var path: String
        var size: Int
        var isFile: Bool
    }

    private let archive = archive_read_new()
    private let path: String

    init(_ path: String) throws {
        self.path = path
        // By its directory, which is at its end: one that was cut off is refused, not read as far as it goes.
        archive_read_support_format_zip_seekable(archive)
        guard archive_read_open_filename(archive, path, 1 << 16) == ARCHIVE_OK else {
            throw ArchiveError.unreadable(path: path)
        }
    }

    deinit { archive_read_free(archive) }

    func next() throws -> Entry? {
        var entry: OpaquePointer?
        let status = archive_read_next_header(archive, &entry)
        if status == ARCHIVE_EOF { return nil }
        guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let entry else { throw damage }
        // In a locale without UTF-8 libarchive has no other name for it.
        let name = archive_entry_pathname_utf8(entry) ?? archive_entry_pathname(entry)
        let isFile = archive_entry_filetype(entry) & 0o170000 == 0o100000
        return Entry(
            path: name.map { String(cString: $0) } ?? "", size: Int(clamping: archive_entry_size(entry)),
            isFile: isFile && name != nil)
    }

    func read(_ count: Int) throws -> Data {
        var data = Data(count: count)
        let read = data.withUnsafeMutableBytes { archive_read_data(archive, $0.baseAddress, $0.count) }
        guard read >= 0 else { throw damage }
        return data.prefix(read)
    }

    private var damage: ArchiveError {
        let text = archive_error_string(archive).map { String(cString: $0) } ?? ""
        return text.lowercased().contains("trunc") ? .truncated : .malformed(line: 0, reason: text)
    }
}
