import ChatCore
import ChatStore
import Composer
import Foundation
import JSONReading

/// Uploads the files of messages, encrypted if necessary.
struct MediaUploads: Sendable {
    let client: MatrixClient
    let media: MatrixMedia

    /// - Returns: The URI of the uploaded file.
    func upload(
        _ file: URL, named name: String, _ type: String, into way: RoomEncryption.Way,
        progress: (@Sendable (Double) -> Void)? = nil
    ) async throws -> String {
        let uri: String
        switch way {
        case .clear: uri = try await client.upload(file, named: name, type: type, progress: progress)
        case .sealed: uri = try await uploadSealed(file, progress: progress)
        }
        // Also if the outbox closes now: if the room becomes encrypted before the message is sent, the file is needed again.
        // If it cannot be cached, it is downloaded.
        _ = try? await Task { [media] in try await media.cache.store(file, as: uri, isMoved: false) }.value
        return uri
    }

    /// Encrypts and uploads a file. Each attempt uses a new key; the server learns neither name nor type.
    private func uploadSealed(_ file: URL, progress: (@Sendable (Double) -> Void)?) async throws -> String {
        let sealed = try media.incompleteFile()
        // If this fails, the next start deletes the file.
        defer { try? FileManager.default.removeItem(at: sealed) }
        let parameters = try await EncryptedFile.encrypt(file, to: sealed)
        let type = "application/octet-stream"
        let address = try await client.upload(sealed, named: nil, type: type, progress: progress)
        return EncryptedFile(at: address, parameters).uri
    }

    /// Uploads posters of videos. If the server rejects a poster, the video is sent without it.
    func uploadingThumbnails(of message: WrittenMessage, into way: RoomEncryption.Way) async throws -> WrittenMessage {
        var message = message
        for index in message.files.indices {
            guard let digest = message.files[index].thumbnailURI.flatMap(MediaReference.digest) else { continue }
            message.files[index].thumbnailURI = nil
            guard let file = media.archive.url(of: digest) else { continue }
            do {
                let uri = try await upload(file, named: "poster.jpg", "image/jpeg", into: way)
                message.files[index].thumbnailURI = uri
            } catch MatrixError.rejected {
            }
        }
        return message
    }

    /// Encrypts and uploads files again that are unencrypted on the server, as from before the room was encrypted.
    func sealingFiles(of message: WrittenMessage) async throws -> WrittenMessage {
        var message = message
        for index in message.files.indices {
            let file = message.files[index]
            if let thumbnail = file.thumbnailURI, thumbnail.hasPrefix("mxc://") {
                message.files[index].thumbnailURI = nil
            }
            guard !file.isEncrypted else { continue }
            let content = try await content(of: file)
            message.files[index].uri = try await upload(content, named: file.name, file.type, into: .sealed)
        }
        return message
    }

    /// - Throws: ``ChatError/unreadableFile`` if neither the cache nor the server has it any more.
    private func content(of file: MediaReference) async throws -> URL {
        do {
            return try await media.content(of: file)
        } catch ChatError.notFound {
            throw ChatError.unreadableFile
        }
    }

    /// Copies the message's files locally, so that each is uploaded again with a new key.
    func copyingFiles(of message: WrittenMessage) async throws -> WrittenMessage {
        var message = message
        for index in message.files.indices where !message.files[index].isOnlyHere {
            message.files[index] = try await copying(message.files[index])
        }
        return message
    }

    /// Decrypts what is encrypted of a file, which may be its poster alone, into local copies, to be uploaded
    /// unencrypted.
    func copyingEncrypted(_ file: MediaReference) async throws -> MediaReference {
        if file.isEncrypted { return try await copying(file) }
        guard file.hasKeys else { return file }
        var copied = file
        copied.thumbnailURI = try await copiedPoster(of: file)
        return copied
    }

    private func copying(_ file: MediaReference) async throws -> MediaReference {
        var copied = file
        copied.uri = try await copy(try await media.content(of: file))
        copied.thumbnailURI = try await copiedPoster(of: file)
        return copied
    }

    /// Copies a video's poster. If that fails, the video is sent without it.
    private func copiedPoster(of file: MediaReference) async throws -> String? {
        guard let thumbnail = file.thumbnailURI, MediaReference.digest(of: thumbnail) == nil else {
            return file.thumbnailURI
        }
        let poster = MediaReference(uri: thumbnail, name: "poster.jpg", type: "image/jpeg")
        guard file.type.hasPrefix("video/"), let found = try? await media.content(of: poster) else { return nil }
        return try await copy(found)
    }

    private func copy(_ file: URL) async throws -> String {
        let entry = try await media.archive.store(.file(file), progress: { _ in })
        return MediaReference.localScheme + entry.digest
    }
}
