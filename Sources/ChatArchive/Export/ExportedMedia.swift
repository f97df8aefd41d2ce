import ChatCore
import Foundation
import Glibc

/// Copies the files of an export.
struct ExportedMedia {
    private enum Content {
        case file(URL)
        /// It is not there any more, or the server does not give it.
        case missing
        /// The server could not be asked for it.
        case unloaded
    }

    /// The number of files of one server for which it may be unreachable. After that, only its cached files are copied:
    /// each further request would time out as well.
    static let maxFailures = 3
    /// The number of servers in a row for which that may be so: the user's own one answers in the same way if it cannot
    /// reach the server that has a file.
    static let maxUnreachable = 3
    static let folderName = "media"

    let folder: URL
    let service: any MediaService
    let retry: RequestRetry
    private(set) var copied = 0
    private(set) var missing = 0
    /// The number of files that may exist, and could not be loaded now.
    private(set) var unloaded = 0
    /// Paths by URI and name, so a file that was sent twice is copied once.
    private var paths: [String: String] = [:]
    private let maxFailures: Int
    /// By the server that has the files.
    private var failures: [Substring: Int] = [:]
    /// The servers that could not be reached since the last file that was loaded.
    private var unreachable: Set<Substring> = []
    /// Whether the user's own server is not to be asked for anything any more.
    private var isOver = false

    /// - Parameter isDoubtful: Whether the server could not be reached before, so that one failure of each is enough.
    init(folder: URL, service: any MediaService, retry: RequestRetry, isDoubtful: Bool = false) {
        self.folder = folder
        self.service = service
        self.retry = retry
        maxFailures = isDoubtful ? 1 : Self.maxFailures
    }

    /// - Throws: ``ArchiveError`` if a file cannot be written, or `CancellationError`.
    mutating func copy(_ media: [MediaReference]) async throws -> [ExportedMessage.File] {
        var files: [ExportedMessage.File] = []
        for reference in media {
            files.append(ExportedMessage.File(media: reference, path: try await path(of: reference)))
        }
        return files
    }

    private mutating func content(of media: MediaReference) async throws -> Content {
        if let cached = await service.cachedContent(of: media) { return .file(cached) }
        let server = Self.server(of: media.uri)
        guard !isOver, failures[server, default: 0] < maxFailures, unreachable.count < Self.maxUnreachable else {
            return .unloaded
        }
        do {
            let source = service
            let content = try await retry.run { try await source.content(of: media) }
            failures[server] = nil
            unreachable = []
            return .file(content)
        } catch is CancellationError {
            throw CancellationError()
        } catch ChatError.unreachable {
            failures[server, default: 0] += 1
            unreachable.insert(server)
            return .unloaded
        } catch ChatError.signedOut, ChatError.busy {
            isOver = true
            return .unloaded
        } catch ChatError.diskFull {
            throw ArchiveError.diskFull
        } catch {
            return .missing
        }
    }

    /// The server that a Matrix content URI names, which may be among other text; empty for other URIs.
    private static func server(of uri: String) -> Substring {
        guard let scheme = uri.range(of: "mxc://") else { return "" }
        return uri[scheme.upperBound...].prefix { $0 != "/" }
    }

    private mutating func path(of media: MediaReference) async throws -> String? {
        let key = media.uri + "\n" + media.name
        if let existing = paths[key] { return existing }
        try Task.checkCancellation()
        switch try await content(of: media) {
        case .missing: missing += 1
        case .unloaded: unloaded += 1
        case .file(let content):
            let path = "\(Self.folderName)/\(copied + 1)-\(RoomExporter.fileName(media.name))"
            guard try copy(content, to: folder.appending(path: path)) else {
                missing += 1
                return nil
            }
            copied += 1
            paths[key] = path
            return path
        }
        return nil
    }

    /// - Returns: Whether there was something to copy: a cache may have removed the file since it was found.
    private func copy(_ content: URL, to target: URL) throws -> Bool {
        do {
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: content, to: target)
            // An archive's files can only be read, and their copies belong to the user.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target.path)
        } catch {
            guard access(content.path, R_OK) == 0 else {
                // There may be the beginning of a copy. If it stays, nothing refers to it.
                try? FileManager.default.removeItem(at: target)
                return false
            }
            throw (error as? CocoaError)?.code == .fileWriteOutOfSpace
                ? ArchiveError.diskFull : ArchiveError.unwritable(path: target.path)
        }
        try ExportFile.sync(target.path)
        return true
    }
}
