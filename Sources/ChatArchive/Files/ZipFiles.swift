import CArchive
import ChatCore
import Foundation

/// The files of a ZIP archive, read by libarchive.
///
/// Opening one reads its whole directory, and reading goes forward only, so open archives are reused.
final class ZipFiles: SourceFiles {
    /// The maximum number of entries; further ones are ignored.
    static let maxEntries = 500_000

    /// One archive for the conversations and one for their media.
    private static let maxCachedArchives = 2

    let entries: [SourceEntry]
    let positions: [String: Int]
    /// The number of times the archive was opened for reading.
    private(set) var openings = 0
    private let path: String
    private var cachedArchives: [OpenArchive] = []

    /// Whether data begin with the signature of a ZIP file.
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

    /// Reads entries, in a single pass if they are in the order of the archive.
    func read(_ paths: [String], _ body: (String, any ByteReader) async throws -> Void) async throws {
        for path in paths {
            guard let position = positions[path] else { throw ArchiveError.unreadable(path: path) }
            // Take the archive out of the cache, because `body` may read another file.
            let archive = try archive(before: position)
            var entry: SourceEntry?
            while archive.passed <= position, let next = try archive.next() { entry = next }
            guard entry?.path == path else { throw ArchiveError.unreadable(path: path) }
            try await body(path, archive)
            cachedArchives.append(archive)
            if cachedArchives.count > Self.maxCachedArchives { cachedArchives.removeFirst() }
        }
    }

    /// Returns the cached archive positioned closest before an entry, or opens a new one.
    private func archive(before position: Int) throws -> OpenArchive {
        let fitting = cachedArchives.indices.filter { cachedArchives[$0].passed <= position }
        if let nearest = fitting.max(by: { cachedArchives[$0].passed < cachedArchives[$1].passed }) {
            return cachedArchives.remove(at: nearest)
        }
        openings += 1
        return try OpenArchive(path)
    }
}

/// An open archive, positioned at an entry.
private final class OpenArchive: ByteReader {
    /// The number of regular files passed so far.
    private(set) var passed = 0
    private let archive = parlance_archive_read_new()
    private let path: String

    init(_ path: String) throws {
        self.path = path
        // Use the central directory at the end: a truncated archive is rejected instead of being read partially.
        guard let archive else { throw ArchiveError.unreadable(path: path) }
        _ = parlance_archive_read_support_format_zip_seekable(archive)
        guard parlance_archive_read_open_filename(archive, path, 1 << 16) == ARCHIVE_OK else {
            throw ArchiveError.unreadable(path: path)
        }
    }

    deinit { if let archive { _ = parlance_archive_read_free(archive) } }

    /// Returns the next regular file, or `nil` at the end.
    func next() throws -> SourceEntry? {
        while true {
            var entry: OpaquePointer?
            let status = parlance_archive_read_next_header(archive, &entry)
            if status == ARCHIVE_EOF { return nil }
            guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let entry else { throw damage }
            // In a locale without UTF-8, libarchive returns only the raw name.
            let name = parlance_archive_entry_pathname_utf8(entry) ?? parlance_archive_entry_pathname(entry)
            guard parlance_archive_entry_filetype(entry) & 0o170000 == 0o100000, let name else { continue }
            passed += 1
            return SourceEntry(path: String(cString: name), size: Int(clamping: parlance_archive_entry_size(entry)))
        }
    }

    func read(_ count: Int) throws -> Data {
        var data = Data(count: count)
        let read = data.withUnsafeMutableBytes { parlance_archive_read_data(archive, $0.baseAddress, $0.count) }
        guard read >= 0 else { throw damage }
        return data.prefix(read)
    }

    private var damage: ArchiveError {
        let text = parlance_archive_error_string(archive).map { String(cString: $0) } ?? ""
        return text.lowercased().contains("trunc") ? .truncated : .malformed(line: 0, reason: text)
    }
}
