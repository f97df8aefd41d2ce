import ChatCore
import Foundation

/// The files of an export: of a folder, of a ZIP file, or one file alone.
protocol SourceFiles {
    /// Paths relative to the export, in the order in which they are read fastest, and their sizes in bytes.
    var entries: [SourceEntry] { get }
    /// Where each path stands among the entries.
    var positions: [String: Int] { get }
    /// Reads files one after the other, in the order of `paths`.
    ///
    /// - Parameter body: is given a file's path and reader, which ends with the call.
    func read(_ paths: [String], _ body: (String, any ByteReader) async throws -> Void) async throws
}

struct SourceEntry: Equatable, Sendable {
    var path: String
    var size: Int

    /// The first of each path counts.
    static func positions(_ entries: [SourceEntry]) -> [String: Int] {
        Dictionary(entries.enumerated().map { ($1.path, $0) }) { first, _ in first }
    }

    /// The last part of the path.
    var name: String { path.split(separator: "/").last.map { String($0) } ?? path }
}

/// Bytes in order.
protocol ByteReader {
    /// At most `count` bytes; empty at the end.
    /// - Throws: ``ArchiveError/unreadable(path:)``.
    mutating func read(_ count: Int) throws -> Data
}

extension SourceFiles {
    /// The whole of a small file; nil if there is none, or it is larger than `limit`.
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

/// A file on the disk.
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

/// A folder, or one file.
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
        // A link could lead anywhere, and a file behind one be sent on as part of the conversation.
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

    /// A file of the export; nil if there is none by that path, whatever else the path leads to.
    func url(of path: String) -> URL? {
        positions[path] != nil ? base.appending(path: path) : nil
    }

    private static func size(_ url: URL) -> Int {
        (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int) ?? 0
    }
}
