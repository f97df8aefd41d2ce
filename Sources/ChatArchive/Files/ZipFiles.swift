import CArchive
import ChatCore
import Foundation

/// A ZIP file, read by libarchive.
///
/// To open one is to read its whole directory, and then it goes forward alone: what was opened is kept and read on.
final class ZipFiles: SourceFiles {
    /// More are not looked at.
    static let maxEntries = 500_000

    /// Archives that are kept open: one for conversations, and one for the files that go with them.
    private static let maxCachedArchives = 2

    let entries: [SourceEntry]
    let positions: [String: Int]
    /// How often the archive was opened to read from it.
    private(set) var openings = 0
    private let path: String
    private var cachedArchives: [OpenArchive] = []

    /// Whether a file begins as ZIP files do.
    static func isZip(_ start: Data) -> Bool { start.starts(with: [0x50, 0x4B, 0x03, 0x04]) }

    /// - Throws: ``ArchiveError``.
    init(_ url: URL) throws {
        path = url.path
        var entries: [SourceEntry] = []
        let archive = try OpenArchive(path)
        while let entry = try archive.next(), entries.count < Self.maxEntries {
            entries.append(entry)
        }
        self.entries = entries
        positions = SourceEntry.positions(entries)
    }

    /// Whatever lies in the wanted order is read in one pass over the archive.
    func read(_ paths: [String], _ body: (String, any ByteReader) async throws -> Void) async throws {
        for path in paths {
            guard let position = positions[path] else { throw ArchiveError.unreadable(path: path) }
            // Whoever reads may read another file meanwhile: what is in use is not among those kept.
            let archive = try archive(before: position)
            var entry: SourceEntry?
            while archive.passed <= position, let next = try archive.next() { entry = next }
            guard entry?.path == path else { throw ArchiveError.unreadable(path: path) }
            try await body(path, archive)
            cachedArchives.append(archive)
            if cachedArchives.count > Self.maxCachedArchives { cachedArchives.removeFirst() }
        }
    }

    /// The one that is nearest to a file and has not passed it.
    private func archive(before position: Int) throws -> OpenArchive {
        let fitting = cachedArchives.indices.filter { cachedArchives[$0].passed <= position }
        if let nearest = fitting.max(by: { cachedArchives[$0].passed < cachedArchives[$1].passed }) {
            return cachedArchives.remove(at: nearest)
        }
        openings += 1
        return try OpenArchive(path)
    }
}

/// An archive at one of its entries.
private final class OpenArchive: ByteReader {
    /// Files that were come to.
    private(set) var passed = 0
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

    /// The next file; nil if there is none.
    func next() throws -> SourceEntry? {
        while true {
            var entry: OpaquePointer?
            let status = archive_read_next_header(archive, &entry)
            if status == ARCHIVE_EOF { return nil }
            guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let entry else { throw damage }
            // In a locale without UTF-8 libarchive has no other name for it.
            let name = archive_entry_pathname_utf8(entry) ?? archive_entry_pathname(entry)
            guard archive_entry_filetype(entry) & 0o170000 == 0o100000, let name else { continue }
            passed += 1
            return SourceEntry(path: String(cString: name), size: Int(clamping: archive_entry_size(entry)))
        }
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
