import ChatCore
public import Foundation

/// Files of messages, kept for a while: by their content, so that the same picture is there once, and verified, so that
/// a file that was cut or changed on the disk is fetched anew.
///
/// All of it may be deleted at any time. Files are for this user alone (folder 0700, files 0600).
public actor MediaCache {
    public struct Limits: Equatable, Sendable {
        /// Bytes of all files together; what was not used for longest goes first.
        public var total: Int
        /// Bytes of one file; larger ones are not kept.
        public var file: Int
        /// Seconds after which a file that was not used goes.
        public var age: TimeInterval

        public init(total: Int = 400 << 20, file: Int = 20 << 20, age: TimeInterval = 60 * 86400) {
            self.total = total
            self.file = file
            self.age = age
        }
    }

    private let folder: URL
    private let index: ChatStore
    private let limits: Limits
    private let now: @Sendable () -> Date
    /// The bytes of the files, once they were counted.
    private var total: Int?

    /// - Parameters:
    ///   - folder: of its own; made when something is kept.
    ///   - index: the store in which it notes what it has.
    public init(
        folder: URL, index: ChatStore, limits: Limits = Limits(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.folder = folder
        self.index = index
        self.limits = limits
        self.now = now
    }

    /// The content kept under a URI; nil if there is none, or none that is as it was stored.
    /// - Throws: ``ChatError`` of the store.
    public func content(of uri: String) async throws -> Data? {
        guard let entry = try await index.mediaEntry(of: uri) else { return nil }
        let path = path(of: entry.digest)
        // Larger than noted can't be right, and is not to be read into memory.
        guard FileSystem.size(of: path.path) == Int64(entry.bytes), let data = try? Data(contentsOf: path),
            MediaDigest(of: data) == entry.digest
        else {
            try await remove([entry])
            return nil
        }
        let now = now()
        // Once an hour is enough to tell what was used lately.
        if now.timeIntervalSince(entry.usedAt) > 3600 { try await index.noteMediaUse(of: uri, at: now) }
        return data
    }

    /// Keeps a content under a URI, and makes room for it.
    ///
    /// - Returns: whether it is kept: a larger one than ``Limits/file`` is not.
    /// - Throws: ``ChatError``; nothing is kept then.
    @discardableResult
    public func keep(_ data: Data, as uri: String) async throws -> Bool {
        guard data.count <= min(limits.file, limits.total) else { return false }
        let entry = MediaEntry(uri: uri, digest: MediaDigest(of: data), bytes: data.count, usedAt: now())
        let path = path(of: entry.digest)
        if FileSystem.size(of: path.path) != Int64(data.count) { try write(data, to: path) }
        let replaced = try await index.keep(entry)
        if let replaced, replaced.digest != entry.digest { try await removeFiles([replaced.digest]) }
        total = nil
        try await purge()
        return true
    }

    /// Removes what is too old or too much, and files that nobody knows of. Done at each start and with each new file.
    /// - Throws: ``ChatError`` of the store.
    public func purge() async throws {
        let isFirst = total == nil
        try await remove(index.media(unusedSince: now().addingTimeInterval(-limits.age)))
        var sum = try await index.mediaTotal()
        while sum > limits.total {
            let oldest = try await index.oldestMedia(limit: 20)
            guard !oldest.isEmpty else { break }
            for entry in oldest where sum > limits.total {
                try await remove([entry])
                sum = try await index.mediaTotal()
            }
        }
        total = sum
        if isFirst { try await removeStrangers() }
    }

    private func remove(_ entries: [MediaEntry]) async throws {
        guard !entries.isEmpty else { return }
        try await index.removeMedia(entries.map(\.uri))
        try await removeFiles(Set(entries.map(\.digest)))
    }

    /// Removes files, unless another URI has the same content.
    private func removeFiles(_ digests: Set<MediaDigest>) async throws {
        for digest in try await index.unknownMedia(among: digests) {
            try? FileManager.default.removeItem(at: path(of: digest))
        }
    }

    /// What a crash left between writing a file and noting it, or what a lost index knew.
    private func removeStrangers() async throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let digests = Set(names.compactMap { MediaDigest(hex: $0) })
        try await removeFiles(digests)
        for name in names where MediaDigest(hex: name) == nil {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    private func write(_ data: Data, to path: URL) throws {
        let temporary = folder.appendingPathComponent("\(UUID().uuidString).new")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try data.write(to: temporary)
            FileSystem.narrow(temporary.path, to: 0o600)
            guard rename(temporary.path, path.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw isFull ? ChatError.diskFull : ChatError.storage(reason: "a file cannot be kept")
        }
    }

    private func path(of digest: MediaDigest) -> URL {
        folder.appendingPathComponent(digest.hex)
    }
}
