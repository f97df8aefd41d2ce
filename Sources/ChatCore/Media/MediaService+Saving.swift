public import Foundation
import Glibc

extension MediaService {
    /// Copies the content to a file of the user's choice, downloading it if needed. An existing file is replaced
    /// only once the copy is complete.
    /// - Parameter work: counts it meanwhile.
    /// - Throws: ``ChatError/notFound``, a download error, or a storage error; an existing file is unchanged then.
    public func save(_ media: MediaReference, to target: URL, countedBy work: OngoingWork = .shared) async throws {
        try await work.run { try await copyFile(try await content(of: media), to: target) }
    }
}

@concurrent
private func copyFile(_ content: URL, to target: URL) async throws {
    // Copy to a temporary file in the same directory, then rename: an existing file survives a full disk.
    let draft = target.deletingLastPathComponent().appending(path: ".\(UUID().uuidString).part")
    // Fails after the rename, when there is nothing left to remove.
    defer { try? FileManager.default.removeItem(at: draft) }
    do {
        try FileManager.default.copyItem(at: content, to: draft)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: draft.path)
    } catch {
        throw ChatError.storage(reason: "a file could not be copied")
    }
    guard rename(draft.path, target.path) == 0 else { throw ChatError.storage(reason: "a file could not be saved") }
}
