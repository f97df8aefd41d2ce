import ChatCore
import Foundation

/// The files of an export: in a folder, in a ZIP file, or a single file.
protocol SourceFiles {
    /// Paths relative to the export and sizes in bytes, in the order that is fastest to read.
    var entries: [SourceEntry] { get }
    /// The index of each path in ``entries``.
    var positions: [String: Int] { get }
    /// Reads files sequentially, in the order of `paths`.
    ///
    /// - Parameter body: Called with a file's path and its reader, which is valid during the call only.
    func read(_ paths: [String], _ body: (String, any ByteReader) async throws -> Void) async throws
}

struct SourceEntry: Equatable, Sendable {
    var path: String
    var size: Int

    /// Returns the index of each path; of duplicates the first.
    static func positions(_ entries: [SourceEntry]) -> [String: Int] {
        Dictionary(entries.enumerated().map { ($1.path, $0) }) { first, _ in first }
    }

    /// The last path component.
    var name: String { path.split(separator: "/").last.map { String($0) } ?? path }
    /// The number of path components.
    var depth: Int { path.split(separator: "/").count }
}

/// Reads bytes sequentially.
protocol ByteReader {
    /// Returns at most `count` bytes; empty at the end.
    /// - Throws: ``ArchiveError/unreadable(path:)``.
    mutating func read(_ count: Int) throws -> Data
}

extension SourceFiles {
    /// Returns the content of a small file, or `nil` if it does not exist or is larger than `limit` bytes.
    func content(of path: String, limit: Int) async throws -> Data? {
        guard let position = positions[path], entries[position].size <= limit else { return nil }
        var content = Data()
        try await read([path]) { _, reader in
            var reader = reader
            while case let chunk = try reader.read(1 << 16), !chunk.isEmpty, content.count <= limit { content += chunk }
        }
        return content.count <= limit ? content : nil
    }
}

/// Reads a file on disk.
struct FileReader: ByteReader {
    private let handle: FileHandle
    private let path: String

    init(_ url: URL) throws {
        path = url.path
        do { handle = try FileHandle(forReadingFrom: url) } catch { throw ArchiveError.unreadable(path: url.path) }
    }

    mutating func read(_ count: Int) throws -> Data {
        do { return try handle.read(upToCount: count) ?? Data() } catch { throw ArchiveError.unreadable(path: path) }
    }
}

/// The files of a folder, or a single file.
struct FolderFiles: SourceFiles {
    let entries: [SourceEntry]
    let positions: [String: Int]
    private let base: URL

    /// - Throws: ``ArchiveError/unreadable(path:)``.
    init(_ url: URL) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw ArchiveError.unreadable(path: url.path)
        }
        guard isFolder.boolValue else {
            base = url.deletingLastPathComponent()
            entries = [SourceEntry(path: url.lastPathComponent, size: Self.size(url))]
            positions = SourceEntry.positions(entries)
            return
        }
        base = url
        // Regular files only: a symbolic link could import a file from outside the export.
        guard let found = FileManager.default.enumerator(atPath: url.path) else {
            throw ArchiveError.unreadable(path: url.path)
        }
        var entries: [SourceEntry] = []
        while let path = found.nextObject() as? String, entries.count < ZipFiles.maxEntries {
            guard found.fileAttributes?[.type] as? FileAttributeType == .typeRegular else { continue }
            entries.append(SourceEntry(path: path, size: found.fileAttributes?[.size] as? Int ?? 0))
        }
        self.entries = entries.sorted { $0.path < $1.path }
        positions = SourceEntry.positions(self.entries)
    }

    func read(_ paths: [String], _ body: (String, any ByteReader) async throws -> Void) async throws {
        for path in paths { try await body(path, FileReader(base.appending(path: path))) }
    }

    /// Returns the URL of a file in the export, or `nil` for any other path.
    func url(of path: String) -> URL? {
        positions[path] != nil ? base.appending(path: path) : nil
    }

    /// Returns 0 if the size cannot be determined: it only affects the reported progress.
    private static func size(_ url: URL) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) ?? 0
    }
}
