public import ChatCore
public import Foundation
import Glibc

/// Stores credentials in files that only the user can read, by explicit choice of users without a keyring. They are not
/// encrypted.
public struct FileCredentialStore: CredentialStore {
    private let folder: URL

    /// Uses a folder for the credentials.
    /// - Parameter folder: Created when needed.
    public init(folder: URL) {
        self.folder = folder
    }

    public func credential(of account: String) async throws -> AccountCredential? {
        do {
            return AccountCredential(String(decoding: try Data(contentsOf: file(account)), as: UTF8.self))
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw CredentialStoreError.unavailable(reason: "the file cannot be read")
        }
    }

    /// Writes to a temporary file first, so that the previous credential survives a full disk.
    public func store(_ credential: AccountCredential, of account: String) async throws {
        let temporary = folder.appending(path: UUID().uuidString)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            guard
                FileManager.default.createFile(
                    atPath: temporary.path, contents: Data(), attributes: [.posixPermissions: 0o600])
            else { throw CocoaError(.fileWriteUnknown) }
            let handle = try FileHandle(forWritingTo: temporary)
            // Everything is on the disk once `synchronize` returns.
            defer { try? handle.close() }
            try handle.write(contentsOf: Data(credential.value.utf8))
            try handle.synchronize()
            guard rename(temporary.path, file(account).path) == 0 else { throw CocoaError(.fileWriteUnknown) }
            FileSystem.syncFolder(folder.path)
        } catch {
            // The file may not exist. If it remains, nothing reads it, because no account has its name.
            try? FileManager.default.removeItem(at: temporary)
            throw CredentialStoreError.unavailable(reason: "the file cannot be written")
        }
    }

    public func removeCredential(of account: String) async throws {
        do {
            try FileManager.default.removeItem(at: file(account))
        } catch CocoaError.fileNoSuchFile {
            return
        } catch {
            throw CredentialStoreError.unavailable(reason: "the file cannot be removed")
        }
    }

    private func file(_ account: String) -> URL { folder.appending(path: AccountFolders.name(account)) }
}
