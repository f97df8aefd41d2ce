import ChatCore
import Foundation
import Glibc

/// Exports a room page by page into a temporary folder, which is renamed when it is complete.
struct RoomExporter {
    static let pageSize = 500

    let room: RoomID
    let name: String
    let format: ExportFormat
    let service: any RoomArchive.Source
    let zone: TimeZone
    let now: Date
    let progress: @Sendable (TransferProgress) -> Void

    /// - Throws: ``ArchiveError``, ``ChatError`` or `CancellationError`, after removing the folder.
    func run(into folder: URL) async throws -> ExportReport {
        let draft = folder.appending(path: ".parlance-export-\(UUID().uuidString)", directoryHint: .isDirectory)
        guard mkdir(draft.path, 0o700) == 0 else { throw ExportFile.failure(folder.path) }
        do {
            var report = try await write(in: draft)
            try Task.checkCancellation()
            report.folder = try Self.assign(name: Self.fileName(name), to: draft, in: folder)
            return report
        } catch {
            // If the folder cannot be removed, it stays hidden, so nobody takes it for an export. Report the
            // original error.
            try? FileManager.default.removeItem(at: draft)
            throw error
        }
    }

    private func write(in folder: URL) async throws -> ExportReport {
        let whole = try await service.fetchHistory(of: room) { [progress] fetched in
            progress(TransferProgress(messages: fetched, fraction: nil))
        }
        let members = try await members()
        let names = Dictionary(members.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let file = try ExportFile(folder.appending(path: "messages.\(format.fileExtension)"))
        var writer = format.writer(zone: zone)
        // While offline, copy only cached files: every request would have to time out.
        var media = ExportedMedia(folder: folder, service: service, isCached: whole != nil)
        var report = ExportReport(folder: folder, messages: 0, files: 0, missingFiles: 0)
        // Unless it is known that the room is not encrypted, the file says that it is not.
        let isEncrypted = (try? await service.isEncrypted(room)) ?? true
        try file.write(
            writer.header(
                of: ExportedRoom(
                    id: room, name: name, members: members, exportedAt: now, zone: zone, isEncrypted: isEncrypted)))
        var position = whole.map { $0 - 1 } ?? Int64.min
        var ends: (first: Int64, last: Int64)?
        while true {
            try Task.checkCancellation()
            let page = try await service.messages(in: room, after: position, limit: Self.pageSize)
            guard let last = page.messages.last else { break }
            if ends == nil, let first = page.messages.first {
                let newest = try await service.messages(in: room, before: .max, limit: 1).messages.last
                ends = (first.position, newest?.position ?? last.position)
                if whole != nil { report.startDate = first.sentAt }
            }
            for message in page.messages {
                let files = try await media.copy(message.attachments)
                let revisions = try await revisions(of: message)
                try file.write(writer.text(of: Self.exported(message, files, revisions, names)))
            }
            position = last.position
            report.messages += page.messages.count
            progress(TransferProgress(messages: report.messages, fraction: Self.fraction(of: position, between: ends)))
            if !page.hasNewer { break }
        }
        try file.write(writer.ending())
        try file.finish()
        report.files = media.copied
        report.missingFiles = media.missing
        return report
    }

    private static func fraction(of position: Int64, between ends: (first: Int64, last: Int64)?) -> Double? {
        guard let ends, ends.last > ends.first else { return 1 }
        return min(1, Double(position - ends.first) / Double(ends.last - ends.first))
    }

    /// - Throws: ``ChatError/notFound`` if there is no such room.
    private func members() async throws -> [Member] {
        for await update in service.timeline(of: room, limit: 1) {
            if case .opened(_, let members, _) = update { return members }
            if case .closed = update { break }
        }
        // The stream of a canceled task ends without an error.
        try Task.checkCancellation()
        throw ChatError.notFound
    }

    private func revisions(of message: Message) async throws -> [MessageRevision] {
        guard message.editedAt != nil, !message.isDeleted else { return [] }
        do {
            return try await service.revisions(of: message.id, in: room)
        } catch ChatError.notPermitted, ChatError.notFound {
            // The backend stores no revisions, or the message has just been deleted.
            return []
        }
    }

    private static func exported(
        _ message: Message, _ files: [ExportedMessage.File], _ revisions: [MessageRevision],
        _ members: [MemberID: Member]
    ) -> ExportedMessage {
        func name(_ id: MemberID) -> String { members[id]?.displayName ?? id.rawValue }
        return ExportedMessage(
            message: message, senderName: name(message.sender), isOwn: members[message.sender]?.kind == .own,
            reactions: message.reactions.map { ($0.text, $0.senders.map(name)) }, files: files,
            revisions: revisions,
            happened: message.event.map { event in
                event.sentence(
                    by: name(message.sender),
                    of: event.subject.map { members[$0]?.displayName ?? event.name ?? $0.rawValue })
            })
    }

    // MARK: Names

    /// Returns a name that is valid on all file systems and not hidden.
    static func fileName(_ name: String) -> String {
        let sanitized = name.unicodeScalars.map { scalar -> Character in
            let isControl = [.control, .format, .lineSeparator, .paragraphSeparator].contains(
                scalar.properties.generalCategory)
            return isControl || "/\\:*?\"<>|".unicodeScalars.contains(scalar) ? "_" : Character(scalar)
        }
        let trimmed = String(sanitized).drop { $0 == "." || $0 == " " || $0 == "_" }
        var short = ""
        for character in trimmed where short.utf8.count + character.utf8.count <= 120 { short.append(character) }
        while short.last == " " || short.last == "." { short.removeLast() }
        return short.isEmpty ? "Room" : short
    }

    /// Renames the folder without replacing an existing one.
    private static func assign(name: String, to draft: URL, in folder: URL) throws -> URL {
        for number in 1...1000 {
            let url = folder.appending(
                path: number == 1 ? name : "\(name) (\(number))", directoryHint: .isDirectory)
            guard access(url.path, F_OK) != 0 else { continue }
            guard rename(draft.path, url.path) == 0 else {
                // Created concurrently: `rename` never replaces a folder that is not empty.
                if errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR { continue }
                throw ExportFile.failure(url.path)
            }
            return url
        }
        throw ArchiveError.unwritable(path: folder.path)
    }
}

/// Copies the files of an export.
struct ExportedMedia {
    let folder: URL
    let service: any MediaService
    private(set) var copied = 0
    private(set) var missing = 0
    /// Paths by URI and name, so a file that was sent twice is copied once.
    private var paths: [String: String] = [:]

    /// Whether only cached files are copied.
    private var isCached: Bool

    init(folder: URL, service: any MediaService, isCached: Bool = false) {
        self.folder = folder
        self.service = service
        self.isCached = isCached
    }

    mutating func copy(_ media: [MediaReference]) async throws -> [ExportedMessage.File] {
        var files: [ExportedMessage.File] = []
        for reference in media {
            files.append(ExportedMessage.File(media: reference, path: try await path(of: reference)))
        }
        return files
    }

    private mutating func content(of media: MediaReference) async throws -> URL? {
        if isCached { return await service.cachedContent(of: media) }
        do {
            return try await service.content(of: media)
        } catch is CancellationError {
            throw CancellationError()
        } catch ChatError.storage {
            // The server did not respond; further requests would time out as well.
            isCached = true
            return nil
        } catch {
            return nil
        }
    }

    private mutating func path(of media: MediaReference) async throws -> String? {
        let key = media.uri + "\n" + media.name
        if let existing = paths[key] { return existing }
        try Task.checkCancellation()
        guard let content = try await content(of: media) else {
            missing += 1
            return nil
        }
        let path = "media/\(copied + 1)-\(RoomExporter.fileName(media.name))"
        let target = folder.appending(path: path)
        do {
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: content, to: target)
        } catch {
            throw (error as? CocoaError)?.code == .fileWriteOutOfSpace
                ? ArchiveError.diskFull : ArchiveError.unwritable(path: target.path)
        }
        copied += 1
        paths[key] = path
        return path
    }
}
