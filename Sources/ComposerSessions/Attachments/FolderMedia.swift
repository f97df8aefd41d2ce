public import ChatCore
public import Foundation

/// Stores copies of files in a folder, for a host without media storage of its own, to set as
/// ``ComposerSession/media``.
///
/// The URI of a copy is its file URL. Nothing is deleted here: sent files belong to the host, the others are removed
/// with the folder.
public nonisolated struct FolderMedia: MediaService {
    /// The folder of the copies, each of which has a subfolder of its own.
    public let folder: URL

    /// - Parameter folder: created when the first file is stored.
    public init(folder: URL) {
        self.folder = folder
    }

    /// Uses a new folder in the system's temporary directory.
    public static func temporary() -> FolderMedia {
        FolderMedia(folder: FileManager.default.temporaryDirectory.appending(path: "composer-" + UUID().uuidString))
    }

    @concurrent
    public func storeMedia(
        _ content: MediaContent, named name: String, type: String, progress: @escaping @Sendable (Double) -> Void
    ) async throws -> MediaReference {
        // A directory for each file preserves duplicate file names.
        let directory = folder.appending(path: UUID().uuidString)
        let file = directory.appending(path: Self.safe(name))
        do {
            try FileManager.default.createDirectory(
                at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            switch content {
            case .data(let data): try data.write(to: file)
            case .file(let url): try Self.copy(url, to: file, progress)
            }
            try Task.checkCancellation()
        } catch {
            // Nothing refers to what may be left of the copy, and the first error is the one to report.
            try? FileManager.default.removeItem(at: directory)
            throw error
        }
        progress(1)
        let bytes = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
        return MediaReference(uri: file.absoluteString, name: name, type: type, bytes: bytes)
    }

    public func content(of media: MediaReference) async throws -> URL {
        guard let url = URL(string: media.uri), url.isFileURL, FileManager.default.isReadableFile(atPath: url.path)
        else {
            throw ChatError.notFound
        }
        return url
    }

    public func namedFile(of media: MediaReference) async throws -> URL { try await content(of: media) }

    /// Sanitizes a file name, so that it cannot leave its directory.
    private static func safe(_ name: String) -> String {
        let name = String(name.map { $0 == "/" || $0 == "\0" ? "_" : $0 })
        return name.isEmpty || name == "." || name == ".." ? "file" : name
    }

    private static func copy(_ url: URL, to file: URL, _ progress: (Double) -> Void) throws {
        // Whatever the reason, the user can only choose another file.
        guard let source = try? FileHandle(forReadingFrom: url) else { throw ChatError.unreadableFile }
        // Closing what was only read loses nothing.
        defer { try? source.close() }
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else { throw ChatError.unreadableFile }
        let target = try FileHandle(forWritingTo: file)
        // Every write has reported its own error.
        defer { try? target.close() }
        let whole = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
        var copied = 0
        while let chunk = try source.read(upToCount: 1 << 20), !chunk.isEmpty {
            try Task.checkCancellation()
            try target.write(contentsOf: chunk)
            copied += chunk.count
            if whole > 0 { progress(min(1, Double(copied) / Double(whole))) }
        }
    }
}
