public import Foundation
import Glibc

/// The replies of ``UnsentReplies`` on the disk, each in a file of its own: a process that is ending writes beside the
/// one that follows it, and replies come before a store is open, or while it cannot be opened.
public nonisolated struct UnsentReplyFolder: Sendable {
    private let url: URL

    /// - Parameter url: a folder that holds nothing else. Created when needed.
    public init(_ url: URL) {
        self.url = url
    }

    /// Returns the stored replies, oldest first. What cannot be read, as from a newer version, stays where it is.
    @concurrent
    func replies() async -> [UnsentReplies.Reply] {
        // Without the folder, there is none.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
        for name in names where name.hasSuffix(Self.draftSuffix) { removeDraft(name) }
        let decoder = JSONDecoder()
        let replies = names.compactMap { name -> UnsentReplies.Reply? in
            guard name.hasSuffix(Self.suffix), let data = try? Data(contentsOf: url.appending(path: name)),
                let reply = try? decoder.decode(UnsentReplies.Reply.self, from: data), reply.id + Self.suffix == name
            else { return nil }
            return reply
        }
        return replies.sorted { ($0.writtenAt, $0.id) < ($1.writtenAt, $1.id) }
    }

    /// Stores a reply in place of its earlier state. It is on the disk once this returns.
    @concurrent
    func put(_ reply: UnsentReplies.Reply) async throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let draft = draft(of: reply.id)
        do {
            try await PrivateFile.write(String(decoding: try JSONEncoder().encode(reply), as: UTF8.self), to: draft)
            guard rename(draft.path, file(of: reply.id).path) == 0 else { throw PrivateFile.Failure() }
        } catch {
            // It may hold a part of the text.
            unlink(draft.path)
            throw error
        }
        Self.sync(url)
        // It may have been created just now.
        Self.sync(url.deletingLastPathComponent())
    }

    @concurrent
    func remove(_ id: UnsentReplies.Reply.ID) async {
        unlink(file(of: id).path)
        unlink(draft(of: id).path)
        // A reply that comes back after a crash is recognized: as a transaction, or in its draft.
        Self.sync(url)
    }

    /// Removes a file that a process has not finished, because it was killed. Another one may be writing a newer one.
    private func removeDraft(_ name: String) {
        let path = url.appending(path: name).path
        // What cannot be examined is examined again by the next start.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let date = attributes[.modificationDate] as? Date, date.timeIntervalSinceNow < -Self.longestWrite
        else { return }
        unlink(path)
    }

    private static let suffix = ".json"
    private static let draftSuffix = ".new"
    /// In seconds.
    private static let longestWrite = 60.0

    private func file(of id: UnsentReplies.Reply.ID) -> URL { url.appending(path: id + Self.suffix) }
    private func draft(of id: UnsentReplies.Reply.ID) -> URL { url.appending(path: id + Self.draftSuffix) }

    /// Makes a renamed or removed file durable.
    private static func sync(_ folder: URL) {
        let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}
