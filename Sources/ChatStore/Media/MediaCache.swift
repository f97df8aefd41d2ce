import ChatCore
public import Foundation
import Glibc

/// A cache of media files fetched from a server. Files are stored by content, so that duplicates share one file, and
/// verified, so that a truncated or damaged file is fetched again.
///
/// The whole folder may be deleted at any time: files that are still to be sent are in a ``MediaArchive``. Only the
/// user can read it (folder 0700, files 0600).
public actor MediaCache {
    public struct Limits: Equatable, Sendable {
        /// The total size in bytes; the least recently used files are removed first.
        public var total: Int
        /// The age in seconds after which an unused file is removed.
        public var age: TimeInterval

        public init(total: Int = 400 << 20, age: TimeInterval = 60 * 86400) {
            self.total = total
            self.age = age
        }
    }

    private let folder: URL
    private let index: ChatStore
    private let limits: Limits
    private let now: @Sendable () -> Date
    /// The total size of the files in bytes, once counted. Each write changes it: another count would take longer with
    /// each file in the cache.
    private var total: Int?
    /// How many writes of the index have begun, and how many of them have not ended.
    private var (writes, writesUnderWay) = (0, 0)
    /// Whether what an earlier run left behind is removed.
    private var isCleared = false
    /// Times of use that are not in the index yet, by URI.
    private var uses: [String: Date] = [:]
    /// Files that were verified since the start.
    private var verified: Set<MediaDigest> = []
    /// Files in the folder that are about to be added to the index.
    private var arriving: [MediaDigest: Int] = [:]
    /// How often ``arriving`` has changed.
    private var arrivals = 0
    /// When files were last given their names, by their folders in ``namedFolder``.
    private var datesOfNames: [String: Date] = [:]
    /// The age in seconds after which a named file is removed: programs that were given it have read it by then.
    private static let maxNameAge: TimeInterval = 86400
    /// The maximum number of uses buffered in memory. Losing them in a crash only affects the eviction order.
    private static let maxUses = 100

    /// Creates a cache.
    /// - Parameters:
    ///   - folder: The cache's own folder; created with the first file.
    ///   - index: The store that holds the cache's index.
    public init(
        folder: URL, index: ChatStore, limits: Limits = Limits(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.folder = folder
        self.index = index
        self.limits = limits
        self.now = now
    }

    /// Returns the file cached for a URI, or `nil` if there is none or it fails verification. It may be removed by a
    /// later purge: read it soon.
    /// - Throws: ``ChatError`` of the store.
    public func file(of uri: String) async throws -> URL? {
        guard let entry = try await index.read({ db in try MediaTable(db: db).entry(of: uri) }) else { return nil }
        let path = path(of: entry.digest)
        guard FileSystem.size(of: path.path) == Int64(entry.bytes), await isWhole(entry.digest) else {
            try await remove([entry])
            return nil
        }
        uses[uri] = now()
        if uses.count >= Self.maxUses { try await noteUses() }
        return path
    }

    /// Adds a file under a URI, and evicts others as needed.
    ///
    /// - Parameters:
    ///   - file: A file on the same file system.
    ///   - isMoved: Whether the file is moved into the cache; otherwise it is hard-linked, or copied if that fails.
    /// - Returns: The cached file.
    /// - Throws: ``ChatError``; the cache is then unchanged.
    @discardableResult
    public func store(_ file: URL, as uri: String, isMoved: Bool = true) async throws -> URL {
        guard let (digest, bytes) = await Self.read(file) else { throw ChatError.unreadableFile }
        let entry = MediaEntry(uri: uri, digest: digest, bytes: bytes, usedAt: now())
        let path = path(of: digest)
        if FileSystem.size(of: path.path) != Int64(bytes) { try install(file, at: path, isMoved: isMoved) }
        verified.insert(digest)
        noteArrival(of: digest, 1)
        let replaced: MediaEntry?
        do {
            defer { noteArrival(of: digest, -1) }
            replaced = try await write { try $0.put(entry) }
        }
        if let replaced, replaced.digest != digest { try await removeFiles([replaced.digest]) }
        try await purge(sparing: uri)
        return path
    }

    /// Returns a cached file under the given name, for programs that show or interpret file names.
    /// - Throws: ``ChatError/notFound``, or a storage error.
    public func named(_ name: String, _ uri: String) async throws -> URL {
        guard let file = try await file(of: uri) else { throw ChatError.notFound }
        let folderName = String(file.lastPathComponent.prefix(16))
        let folder = namedFolder.appending(path: folderName, directoryHint: .isDirectory)
        let named = folder.appending(path: FileName.safe(name), directoryHint: .notDirectory)
        datesOfNames[folderName] = now()
        do {
            try Self.makeFolder(folder)
            if access(named.path, R_OK) != 0, link(file.path, named.path) != 0 {
                try FileManager.default.copyItem(at: file, to: named)
            }
        } catch {
            throw ChatError.storage(reason: "a file could not be given its name")
        }
        return named
    }

    /// Removes files that are too old or exceed the total size, and files missing from the index. Call it at each
    /// start and once a day; ``store(_:as:isMoved:)`` calls it, too.
    /// - Throws: ``ChatError`` of the store.
    public func purge() async throws { try await purge(sparing: nil) }

    /// Removes what ``purge()`` does, except for one file.
    /// - Parameter spared: The URI of the newest file, which stays however large it is.
    private func purge(sparing spared: String?) async throws {
        try await noteUses()
        removeOldNames()
        let expiry = now().addingTimeInterval(-limits.age)
        try await remove(index.read { db in try MediaTable(db: db).entries(unusedSince: expiry) })
        if !isCleared {
            // First purge after the start: programs that were given named files have read them by now. If the files
            // cannot be removed, the next start tries again.
            try? FileManager.default.removeItem(at: namedFolder)
            try await removeUnknownFiles()
            isCleared = true
        }
        var sum = try await totalBytes()
        while sum > limits.total {
            let oldest = try await index.read { db in try MediaTable(db: db).oldest(limit: 20) }
                .filter { $0.uri != spared }
            guard !oldest.isEmpty else { break }
            for entry in oldest where sum > limits.total {
                try await remove([entry])
                sum = try await totalBytes()
            }
        }
    }

    /// Removes files that were given their names some time ago. As hard links they keep evicted files on the disk,
    /// which ``total`` does not count.
    private func removeOldNames() {
        let now = now()
        for (name, date) in datesOfNames where now.timeIntervalSince(date) > Self.maxNameAge {
            // If it cannot be removed, the next start tries again.
            try? FileManager.default.removeItem(at: namedFolder.appending(path: name, directoryHint: .isDirectory))
            datesOfNames[name] = nil
        }
    }

    private func totalBytes() async throws -> Int {
        if let total { return total }
        let (before, isQuiet) = (writes, writesUnderWay == 0)
        let counted = try await index.read { db in try MediaTable(db: db).totalBytes }
        // It is not known whether a write that was under way meanwhile is part of it.
        if isQuiet, writes == before { total = counted }
        return counted
    }

    private func write<Result: Sendable>(
        _ body: @escaping @Sendable (inout MediaTable) throws -> Result
    ) async throws -> Result {
        writes += 1
        writesUnderWay += 1
        defer { writesUnderWay -= 1 }
        let (result, growth): (Result, Int) = try await index.writeCache { db in
            var table = MediaTable(db: db)
            let result = try body(&table)
            return (result, table.growth)
        }
        if let known = total { total = known + growth }
        return result
    }

    private func noteUses() async throws {
        let noted = uses
        uses = [:]
        if !noted.isEmpty { try await index.writeCache { db in try MediaTable(db: db).noteUses(noted) } }
    }

    private func remove(_ entries: [MediaEntry]) async throws {
        guard !entries.isEmpty else { return }
        try await write { try $0.remove(entries.map(\.uri)) }
        try await removeFiles(Set(entries.map(\.digest)))
    }

    private func noteArrival(of digest: MediaDigest, _ change: Int) {
        arrivals += 1
        let count = arriving[digest, default: 0] + change
        arriving[digest] = count > 0 ? count : nil
    }

    /// Removes files unless another URI refers to the same content.
    private func removeFiles(_ digests: Set<MediaDigest>) async throws {
        var unknown: Set<MediaDigest>
        var readAt: Int
        repeat {
            readAt = arrivals
            unknown = Set(try await index.read { db in try MediaTable(db: db).unknown(among: digests) })
        } while readAt != arrivals  // A file that arrived meanwhile may have looked unknown.
        for digest in unknown where arriving[digest] == nil {
            verified.remove(digest)
            // If this fails, the file is unknown to the index, and ``removeUnknownFiles()`` tries again.
            try? FileManager.default.removeItem(at: path(of: digest))
        }
    }

    /// Removes files that are not in the index, left behind by a crash or the loss of the index.
    private func removeUnknownFiles() async throws {
        // Without a folder, nothing has been cached yet.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        try await removeFiles(Set(names.compactMap { MediaDigest(hex: $0) }))
        for name in names where MediaDigest(hex: name) == nil {
            // A leftover only takes up space, and the next start tries again.
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    // MARK: Files

    /// Verifies the content once after each start; callers compare the size each time.
    private func isWhole(_ digest: MediaDigest) async -> Bool {
        if verified.contains(digest) { return true }
        guard await Self.read(path(of: digest))?.digest == digest else { return false }
        verified.insert(digest)
        return true
    }

    @concurrent
    private static func read(_ file: URL) async -> (digest: MediaDigest, bytes: Int)? {
        let digest = ContentDigest()
        var count = 0
        do {
            var reader = try ContentReader(.file(file), limit: .max)
            while let chunk = try reader.next(1 << 20) {
                chunk.withUnsafeBytes { digest.update($0) }
                count += chunk.count
            }
        } catch {
            // To callers, an unreadable file is a missing one: it is fetched again.
            return nil
        }
        return MediaDigest(hex: digest.finish()).map { ($0, count) }
    }

    private func install(_ file: URL, at path: URL, isMoved: Bool) throws {
        let draft = folder.appendingPathComponent("\(UUID().uuidString).new")
        // There is none after the rename, nor of a file that is moved.
        defer { try? FileManager.default.removeItem(at: draft) }
        do {
            try Self.makeFolder(folder)
            if !isMoved, link(file.path, draft.path) != 0 { try FileManager.default.copyItem(at: file, to: draft) }
            if isMoved { FileSystem.narrow(file.path, to: 0o600) }
            guard rename(isMoved ? file.path : draft.path, path.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw isFull ? ChatError.diskFull : ChatError.storage(reason: "a file could not be cached")
        }
    }

    private static func makeFolder(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private var namedFolder: URL { folder.appending(path: "named", directoryHint: .isDirectory) }

    private func path(of digest: MediaDigest) -> URL {
        folder.appendingPathComponent(digest.hex)
    }
}
