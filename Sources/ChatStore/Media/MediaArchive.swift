public import ChatCore
import Dispatch
public import Foundation
import Glibc
import Synchronization

/// The media files of conversations on this computer, each named by the SHA-256 of its content.
///
/// Writes are atomic: a file is written elsewhere, synced, and renamed into place. Only the user can read the
/// files, and nobody can write them. Unlike a cache, the archive never drops a file that something refers to.
public final class MediaArchive: Sendable {
    /// A stored file.
    public struct Entry: Equatable, Sendable {
        /// The SHA-256 of the content, as 64 hexadecimal digits.
        public var digest: String
        public var bytes: Int
    }

    public let folder: URL
    /// The size limit of one file, in bytes.
    public let limit: Int
    private let inUse: MediaInUse
    private static let chunkSize = 1 << 20

    /// - Parameter inUse: what the program can bring back: no sweep deletes it.
    public init(folder: URL, limit: Int = ChatLimits.attachmentBytes, inUse: MediaInUse = .shared) {
        self.folder = folder
        self.limit = limit
        self.inUse = inUse
    }

    /// Copies content into the archive, on a background thread. Duplicates share one file.
    ///
    /// - Parameter progress: Receives ascending values from 0 to 1 on that thread, one for each chunk of 1 MiB.
    /// - Throws: The errors of ``MediaService/storeMedia(_:named:type:progress:)``.
    public func store(
        _ content: MediaContent, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> Entry {
        let isCancelled = Mutex(false)
        return try await withTaskCancellationHandler {
            try await Self.onThread {
                try self.copy(content, progress) { isCancelled.withLock { $0 } }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    /// Returns the file with this digest, or `nil` if there is none or the digest is malformed.
    public func url(of digest: String) -> URL? {
        guard MediaDigest(hex: digest) != nil else { return nil }
        let url = fileURL(of: digest)
        return access(url.path, R_OK) == 0 ? url : nil
    }

    /// Returns the file under the given name, for programs that show or interpret file names: a hard link, or a copy
    /// where links are not supported.
    ///
    /// - Throws: ``ChatError/notFound``, or a storage error.
    public func named(_ name: String, _ digest: String) async throws -> URL {
        try await Self.onThread {
            guard let content = self.url(of: digest) else { throw ChatError.notFound }
            let folder = self.folder.appending(path: "named/\(digest.prefix(16))", directoryHint: .isDirectory)
            let named = folder.appending(path: FileName.safe(name), directoryHint: .notDirectory)
            do {
                try Self.makeFolder(folder)
                if access(named.path, R_OK) != 0, link(content.path, named.path) != 0 {
                    try FileManager.default.copyItem(at: content, to: named)
                }
            } catch {
                throw ChatError.storage(reason: "a file could not be given its name")
            }
            return named
        }
    }

    /// The age in seconds up to which unreferenced files are retained: a draft may be about to refer to them.
    static let grace: TimeInterval = 3 * 24 * 60 * 60

    /// Deletes files that only deleted messages, discarded drafts or uploaded messages used, once they are older than
    /// ``grace`` and no composer can bring them back. Does nothing with a repaired store, which may have lost references.
    ///
    /// - Parameter scheme: The prefix of the store's references to archived files.
    public func sweep(_ scheme: String, knownBy store: ChatStore, at now: Date) async {
        do {
            guard try await !store.wasRepaired() else { return }
            // Before the store is read: what is undone and stored in between is then found there.
            let inUse = await inUse.uris()
            let references = try await store.mediaReferences(scheme: scheme).union(inUse)
            try await sweep(before: now.addingTimeInterval(-Self.grace)) { references.contains(scheme + $0) }
        } catch {
            // Files that remain only take up space, and the next sweep tries again.
        }
    }

    /// Deletes unreferenced files older than `date`, and temporary files of interrupted copies.
    ///
    /// - Parameter isUsed: Whether something refers to the file with this digest.
    /// - Returns: The number of deleted files, without temporary ones.
    @discardableResult
    public func sweep(before date: Date, isUsed: @Sendable (String) async throws -> Bool) async throws -> Int {
        var count = 0
        for (url, digest) in await candidates(before: date) {
            if let digest, try await isUsed(digest) { continue }
            // The file may have been stored again during the check, which renews its timestamp.
            guard let changed = Self.changed(url), changed < date else { continue }
            unlink(url.path)
            count += digest == nil ? 0 : 1
        }
        return count
    }

    // MARK: Copying

    private func fileURL(of digest: String) -> URL {
        folder.appending(path: "\(digest.prefix(2))/\(digest)", directoryHint: .notDirectory)
    }

    private var incoming: URL { folder.appending(path: "incoming", directoryHint: .isDirectory) }

    private func copy(
        _ content: MediaContent, _ progress: (Double) -> Void, _ isCancelled: () -> Bool
    ) throws -> Entry {
        var reader = try ContentReader(content, limit: limit)
        try Self.makeFolder(incoming)
        let draft = incoming.appending(path: UUID().uuidString)
        let descriptor = open(draft.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o400)
        guard descriptor >= 0 else { throw Self.failure() }
        defer {
            close(descriptor)
            unlink(draft.path)
        }
        let digest = ContentDigest()
        var count = 0
        while let chunk = try reader.next(Self.chunkSize) {
            if isCancelled() { throw CancellationError() }
            try chunk.withUnsafeBytes { bytes in
                digest.update(bytes)
                try Self.write(bytes, to: descriptor)
            }
            count += chunk.count
            progress(reader.expected > 0 ? min(1, Double(count) / Double(reader.expected)) : 1)
        }
        guard fsync(descriptor) == 0 else { throw Self.failure() }
        let name = digest.finish()
        try install(draft, as: fileURL(of: name))
        return Entry(digest: name, bytes: count)
    }

    private func install(_ draft: URL, as destination: URL) throws {
        try Self.makeFolder(destination.deletingLastPathComponent())
        // Replaces an existing file with the same content, to renew the timestamp that a sweep checks.
        guard rename(draft.path, destination.path) == 0 else { throw Self.failure() }
        FileSystem.syncFolder(destination.deletingLastPathComponent().path)
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw failure() }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
    }

    private static func makeFolder(_ folder: URL) throws {
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw failure()
        }
    }

    private static func failure() -> ChatError {
        errno == ENOSPC || errno == EDQUOT ? .diskFull : .storage(reason: "a file could not be stored (\(errno))")
    }

    // MARK: Sweeping

    private func candidates(before date: Date) async -> [(url: URL, digest: String?)] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).async {
                var found: [(url: URL, digest: String?)] = []
                let files = FileManager.default.enumerator(at: self.folder, includingPropertiesForKeys: nil)
                while let url = files?.nextObject() as? URL {
                    guard let changed = Self.changed(url), changed < date else { continue }
                    let name = url.lastPathComponent
                    found.append((url, url == self.fileURL(of: name) ? MediaDigest(hex: name)?.hex : nil))
                }
                continuation.resume(returning: found)
            }
        }
    }

    /// Returns the inode change time (set by creation and rename), or `nil` if it is not a regular file.
    private static func changed(_ url: URL) -> Date? {
        var status = stat()
        guard lstat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Date(timeIntervalSince1970: Double(status.st_ctim.tv_sec))
    }

    /// Runs blocking file I/O outside Swift's cooperative thread pool.
    private static func onThread<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { continuation.resume(with: Result(catching: work)) }
        }
    }
}
